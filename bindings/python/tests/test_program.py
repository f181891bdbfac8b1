"""``python -m callwright``: the program, with its exit codes, its streams and its signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cases import REPOSITORY

import callwright

PROGRAM = [sys.executable, "-m", "callwright"]
EXAMPLES = REPOSITORY / "examples"


def run(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, timeout=60, **more)


def test_check_prints_what_the_library_says() -> None:
    tools, calls = EXAMPLES / "tools.json", EXAMPLES / "calls.jsonl"
    ended = run("check", "--tools", str(tools), "--format", "json", str(calls))
    assert ended.returncode == 1
    gate = callwright.Gate(tools)
    lines = calls.read_text().splitlines()
    assert ended.stdout.splitlines() == [gate.check(line).to_json() for line in lines if line.strip()]


def test_standard_input() -> None:
    line = json.dumps({"tool": "nothing", "arguments": {}})
    ended = run("check", "--tools", str(EXAMPLES / "tools.json"), "--format", "json", "-", input=line)
    assert ended.returncode == 1 and json.loads(ended.stdout)["failure"]["code"] == "unknown_tool"


def test_usage_ends_with_2_and_help_with_0() -> None:
    wrong = run("chek")
    assert (wrong.returncode, wrong.stdout) == (2, "") and "chek" in wrong.stderr
    helped = run("--help")
    assert helped.returncode == 0 and "check" in helped.stdout
    assert run("-V").stdout.strip() == f"callwright {callwright.__version__}"


def test_a_missing_file_ends_with_2() -> None:
    ended = run("check", "--tools", "no/such/file", "-", input="")
    assert ended.returncode == 2 and "no/such/file" in ended.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_ends_it() -> None:
    arguments = ["check", "--tools", str(EXAMPLES / "tools.json"), "--format", "json", "-"]
    with subprocess.Popen(
        [*PROGRAM, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        assert program.stdin is not None and program.stdout is not None
        # Calls are only answered once the input has ended, so there is no output to wait for.
        program.stdin.write("")
        try:
            program.wait(1)
        except subprocess.TimeoutExpired:
            pass
        program.send_signal(signal.SIGINT)
        assert program.wait(30) == -signal.SIGINT


def test_a_closed_pipe_ends_quietly() -> None:
    with subprocess.Popen([*PROGRAM, "explain"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None and program.stderr is not None
        program.stdout.close()
        assert (program.wait(30), program.stderr.read()) == (0, b"")


def test_it_is_a_server_of_mcp(tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    ask = json.loads(line)\n"
        "    if 'id' in ask:\n"
        "        result = {'protocolVersion': '2025-06-18', 'capabilities': {}, 'serverInfo': {'name': 's', 'version': '1'}}\n"
        "        print(json.dumps({'jsonrpc': '2.0', 'id': ask['id'], 'result': result}), flush=True)\n"
    )
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    ended = run("mcp", "--", sys.executable, str(server), input=json.dumps(hello) + "\n")
    assert json.loads(ended.stdout.splitlines()[0])["id"] == 1, ended.stderr
