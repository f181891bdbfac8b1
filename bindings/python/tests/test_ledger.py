"""Sessions on a real Redis server, shared by gates, processes and threads."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import callwright

PAY = {"name": "pay", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": True}}
LOOK = {"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        assert os.environ.get("CI") != "true", "redis-server is missing"
        pytest.skip("no redis-server here")
    port = free_port()
    folder: Path = tmp_path_factory.mktemp("redis")
    with subprocess.Popen(
        [program, "--port", str(port), "--dir", str(folder), "--save", ""], stdout=subprocess.DEVNULL
    ) as running:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield f"redis://127.0.0.1:{port}"
        running.terminate()


def test_gates_share_a_session(server: str) -> None:
    one, other = (callwright.Gate([PAY], ledger=server, effects={"pay": "destructive"}) for _ in range(2))
    assert one.open("pay", {"to": "Ann"}, session="shared", round=0).close("paid").text == "paid"
    again = other.open("pay", {"to": "Ann"}, session="shared", round=1)
    assert not again and again.settled is not None and again.settled.failure is not None
    assert again.settled.failure["code"] == "retry_budget_exceeded"


def test_processes_share_a_session(server: str) -> None:
    program = f"""
import callwright
gate = callwright.Gate([{PAY!r}], ledger={server!r}, effects={{"pay": "destructive"}})
print(bool(gate.open("pay", {{"to": "Bob"}}, session="processes", round=0)))
"""
    ran = [subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60) for _ in range(2)]
    assert [run.stdout.strip() for run in ran] == ["True", "False"], ran


def test_a_server_that_is_away() -> None:
    gate = callwright.Gate([PAY, LOOK], ledger=f"redis://127.0.0.1:{free_port()}", effects={"look": "read"})
    assert gate.open("look", {}, session="s")
    refused = gate.open("pay", {}, session="s")
    assert not refused and refused.settled is not None and refused.settled.failure is not None
    assert refused.settled.failure["code"] == "ledger_unavailable"


def test_an_address_that_is_none() -> None:
    with pytest.raises(callwright.Error, match="ledger"):
        callwright.Gate([PAY], ledger="nonsense://")
