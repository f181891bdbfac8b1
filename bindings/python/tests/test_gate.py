"""The gate from a Python programmer's view: shapes, tickets, exceptions, threads, forks."""

from __future__ import annotations

import gc
import json
import math
import os
import subprocess
import sys
import sysconfig
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import callwright

SEARCH = {
    "name": "search",
    "inputSchema": {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}, "tags": {"type": "array"}},
        "required": ["query"],
    },
}


@pytest.fixture
def gate() -> callwright.Gate:
    return callwright.Gate([SEARCH])


class TestTools:
    def test_every_way_to_give_tools(self, tmp_path: Path) -> None:
        file = tmp_path / "tools.json"
        file.write_text("\ufeff" + json.dumps([SEARCH]), encoding="utf-8")
        openai = {"type": "function", "function": {"name": "search", "parameters": SEARCH["inputSchema"]}}
        for tools in ([SEARCH], {"tools": [SEARCH]}, SEARCH, json.dumps([SEARCH]), file, str(file), (SEARCH,), [openai]):
            assert [tool["name"] for tool in callwright.Gate(tools).tools] == ["search"]

    def test_a_missing_file_is_a_missing_file(self) -> None:
        with pytest.raises(FileNotFoundError):
            callwright.Gate("no/such/tools.json")

    def test_two_tools_of_one_name(self) -> None:
        with pytest.raises(callwright.Error, match="search"):
            callwright.Gate([SEARCH, SEARCH])

    def test_an_unknown_option_lists_the_known_ones(self) -> None:
        with pytest.raises(callwright.Error, match="instruction, numbered, json, tool_error"):
            callwright.Gate([SEARCH], style="loud")  # type: ignore[arg-type]

    def test_a_schema_that_does_not_compile_is_a_warning(self) -> None:
        broken = {"name": "broken", "inputSchema": {"type": "object", "properties": {"a": {"type": "numbr"}}}}
        gate = callwright.Gate([SEARCH, broken])
        assert len(gate.warnings) == 1 and "broken" in gate.warnings[0]
        assert gate.judge("broken", "{}").verdict == "unjudged"

    def test_declarations(self, gate: callwright.Gate) -> None:
        assert gate.declarations("openai_chat")[0]["function"]["name"] == "search"
        assert gate.declarations("anthropic")[0]["input_schema"] == SEARCH["inputSchema"]


class TestJudge:
    def test_a_valid_dictionary_is_the_same_object(self, gate: callwright.Gate) -> None:
        arguments = {"query": "lamp"}
        assert gate.judge("search", arguments).arguments is arguments
        assert gate.judge({"tool": "search", "arguments": arguments}).arguments is arguments
        block = {"type": "tool_use", "id": "a", "name": "search", "input": arguments}
        assert gate.judge(block).arguments is arguments
        assert gate.open(block).arguments is arguments

    def test_a_repaired_dictionary_is_another(self, gate: callwright.Gate) -> None:
        arguments = {"query": "lamp", "limit": "5"}
        verdict = gate.judge("search", arguments)
        assert verdict.verdict == "repaired" and verdict.arguments == {"query": "lamp", "limit": 5}
        assert arguments == {"query": "lamp", "limit": "5"}
        assert verdict.edits[0]["rule"] == "number_from_string"

    def test_refused(self, gate: callwright.Gate) -> None:
        verdict = gate.judge("search", '{"limit": "ten"}', id="call_1")
        assert not verdict and verdict.verdict == "refused"
        assert verdict.failure is not None and verdict.failure["code"] == "invalid_arguments"
        assert verdict.render("openai_chat") == {
            "role": "tool",
            "tool_call_id": "call_1",
            "content": verdict.feedback,
        }
        assert "query: Required" in repr(verdict)

    def test_keys_of_arguments_are_interned(self, gate: callwright.Gate) -> None:
        (key,) = gate.judge("search", '{"query": "lamp"}').arguments
        assert key is sys.intern("que" + "ry")

    def test_integers_keep_their_digits(self) -> None:
        gate = callwright.Gate([{"name": "get", "inputSchema": {"properties": {"id": {"type": "integer"}}}}])
        digits = "123456789012345678901234567890"
        assert gate.judge("get", f'{{"id": {digits}}}').arguments == {"id": int(digits)}
        verdict = gate.judge("get", {"id": int(digits)})
        assert verdict.verdict == "valid" and digits in verdict.to_json()
        assert gate.judge("get", {"id": -(2**63)}).arguments == {"id": -(2**63)}

    def test_an_integer_beyond_all_bounds(self) -> None:
        gate = callwright.Gate([{"name": "get", "inputSchema": {}}])
        widest = 10**308
        assert gate.judge("get", f'{{"id": {widest}}}').arguments == {"id": widest}
        assert not gate.judge("get", '{"id": ' + "9" * 5000 + "}")
        with pytest.raises(ValueError, match="at /id: the number is out of range"):
            gate.judge("get", {"id": 10**400})
        with pytest.raises(ValueError, match="at /id: .*4300"):
            gate.judge("get", {"id": 10**5000})

    def test_a_cut_answer_is_refused(self, gate: callwright.Gate) -> None:
        verdict = gate.judge("search", '{"query": "lamp"}', finish_reason="length")
        assert verdict.failure is not None and verdict.failure["code"] == "truncated_call"
        assert gate.judge("search", '{"query": "lamp"}', finish_reason="stop", id=7).to_dict()["id"] == 7

    def test_objects_of_an_sdk(self, gate: callwright.Gate) -> None:
        class Function:
            def model_dump(self) -> dict[str, Any]:
                return {"id": "c", "type": "function", "function": {"name": "search", "arguments": '{"query": "x"}'}}

        assert gate.judge(Function()).to_dict()["id"] == "c"

    def test_styles(self) -> None:
        numbered = callwright.Gate([SEARCH], style="numbered").judge("search", "{}")
        assert numbered.feedback is not None and numbered.feedback.startswith("Parameter validation failed:")

    def test_accepts(self, gate: callwright.Gate) -> None:
        assert gate.accepts("search", '{"query": "x"}') and gate.accepts("search", {"query": "x"})
        assert not gate.accepts("search", '{"query": "x", "limit": "5"}')
        assert not gate.accepts("serch", '{"query": "x"}')


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "error", "words"),
        [
            ({"a": math.nan}, ValueError, "at /a: nan"),
            ({"a": [1, math.inf]}, ValueError, "at /a/1: inf"),
            ({"a": "\ud800"}, ValueError, "at /a: .*surrogate"),
            ({"\ud800": 1}, ValueError, "surrogate"),
            ({"a": {1, 2}}, TypeError, "at /a: `set`"),
            ({"a": {1: 2}}, TypeError, "at /a: keys must be texts, found `int`"),
            ({"a/b": {"c~d": object()}}, TypeError, "at /a~1b/c~0d: `object`"),
            (object(), TypeError, "`object`"),
            (b"{}", TypeError, "`bytes`"),
        ],
    )
    def test_what_json_cannot_hold(self, gate: callwright.Gate, arguments: Any, error: type, words: str) -> None:
        with pytest.raises(error, match=words):
            gate.judge("search", arguments)

    def test_a_value_that_contains_itself(self, gate: callwright.Gate) -> None:
        loop: dict[str, Any] = {}
        loop["again"] = [loop]
        with pytest.raises(ValueError, match="contains itself"):
            gate.judge("search", loop)

    def test_text_with_half_a_pair(self, gate: callwright.Gate) -> None:
        # The model's mistake, escaped or not, so it gets a verdict.
        assert not gate.judge("search", '{"query": "\ud800"}')
        assert not gate.judge("search", '{"query": "\\ud800"}')

    @pytest.mark.parametrize("call", [None, 3, [1], ("search", "{}"), object()])
    def test_what_is_not_a_call(self, gate: callwright.Gate, call: Any) -> None:
        with pytest.raises((TypeError, callwright.Error)):
            gate.judge(call)

    def test_a_name_that_is_not_a_text(self, gate: callwright.Gate) -> None:
        with pytest.raises(TypeError, match="the name of a tool"):
            gate.judge(3, "{}")

    def test_a_line_that_is_not_a_call(self, gate: callwright.Gate) -> None:
        with pytest.raises(callwright.Error):
            gate.judge("{")

    def test_an_unknown_provider(self, gate: callwright.Gate) -> None:
        with pytest.raises(callwright.Error, match="anthropic"):
            gate.judge("search", "{}").render("claude")

    def test_wrong_types_of_options(self) -> None:
        with pytest.raises((TypeError, callwright.Error)):
            callwright.Gate([SEARCH], sessions="many")  # type: ignore[arg-type]
        with pytest.raises((TypeError, callwright.Error)):
            callwright.Gate([SEARCH], admission={"budgett": 3})


class TestTickets:
    def test_a_loop_of_an_agent(self, gate: callwright.Gate) -> None:
        messages = []
        calls = [
            {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"query": "a", "limit": "2"}'}},
            {"id": "2", "type": "function", "function": {"name": "search", "arguments": "{}"}},
        ]
        for number, call in enumerate(calls):
            with gate.open(call, session="chat", round=number) as ticket:
                output = {"found": ticket.arguments["limit"]} if ticket else None
                messages.append(ticket.close(output).message("openai_chat"))
        assert messages == [
            {"role": "tool", "tool_call_id": "1", "content": '{"found":2}'},
            {
                "role": "tool",
                "tool_call_id": "2",
                "content": "Please rewrite the input with valid arguments. Errors: query: Required",
            },
        ]

    def test_loops_are_refused(self, gate: callwright.Gate) -> None:
        for round in range(3):
            ticket = gate.open("search", {"query": "a"}, session="s", round=round)
            assert ticket
            ticket.close("nothing found", is_error=True)
        refused = gate.open("search", {"query": "a"}, session="s", round=3)
        assert not refused and refused.settled is not None
        assert refused.settled.failure is not None and refused.settled.failure["code"] == "repeated_call"
        gate.answer("s", {"allow_once": refused.fingerprint})
        assert gate.open("search", {"query": "a"}, session="s", round=4)

    def test_sessions_go_on_under_other_tools(self, gate: callwright.Gate) -> None:
        call = {"query": "a"}
        for round in range(3):
            gate.open("search", call, session="moved", round=round).close("nothing found", is_error=True)
        other = {"name": "other", "inputSchema": {"type": "object"}}
        more = callwright.Gate([SEARCH, other], ledger=gate)
        assert callwright.Gate([SEARCH, other]).open("search", call, session="moved", round=3)
        assert not more.open("search", call, session="moved", round=3)
        assert more.open("other", {}, session="moved", round=4)

    def test_an_mcp_result_says_itself_whether_it_failed(self, gate: callwright.Gate) -> None:
        failed = {"content": [{"type": "text", "text": "no such index"}], "isError": True}
        settled = gate.open("search", {"query": "a"}).close(failed)
        assert settled.is_error and "no such index" in settled.text
        assert not gate.open("search", {"query": "a"}).close({"content": [{"type": "text", "text": "x"}]}).is_error

    def test_a_ticket_is_good_for_one_call(self, gate: callwright.Gate) -> None:
        ticket = gate.open("search", {"query": "a"})
        ticket.close("x")
        with pytest.raises(RuntimeError, match="already closed"):
            ticket.close("y")

    def test_an_exception_closes_the_ticket(self, gate: callwright.Gate) -> None:
        with pytest.raises(KeyError):
            with gate.open("search", {"query": "a"}) as ticket:
                raise KeyError("secret of the operator")
        assert ticket.settled is not None and ticket.settled.is_error
        assert ticket.settled.text.startswith('The tool "search" failed with an internal error.')
        assert "secret" not in ticket.settled.text

    def test_a_ticket_that_is_left_open_is_closed(self, gate: callwright.Gate) -> None:
        with gate.open("search", {"query": "a"}) as ticket:
            pass
        assert ticket.settled is not None and ticket.settled.output_verdict is None

    def test_results_that_json_cannot_hold(self, gate: callwright.Gate) -> None:
        settled = gate.open("search", {"query": "a"}).close({"a": math.nan})
        assert settled.is_error and settled.failure is not None
        assert not gate.open("search", {"query": "a"}).close(b"bytes").is_error

    def test_objections_of_a_type(self, gate: callwright.Gate) -> None:
        ticket = gate.open("search", {"query": "a"}, objections=[("/query", "must name a product")])
        assert not ticket and ticket.settled is not None
        assert ticket.settled.text == (
            "Please rewrite the input with valid arguments. Errors: query: must name a product"
        )
        assert ticket.settled.failure is not None
        (issue,) = ticket.settled.failure["issues"]
        assert issue["path"] == "/query" and issue["message"] == "must name a product"


def test_rescue(gate: callwright.Gate) -> None:
    rescued = gate.rescue('<tool_call>{"name": "search", "arguments": {"query": "tea"}}</tool_call>')
    (call,) = rescued.calls
    assert (call.tool, call.arguments, call.notation) == ("search", {"query": "tea"}, "tool_call")
    assert gate.judge(call).verdict == "valid"
    assert gate.rescue("Hello.").reason == "no_mark"


class TestEvents:
    def test_a_function_and_a_file(self, tmp_path: Path) -> None:
        seen: list[Any] = []
        file = tmp_path / "events.jsonl"
        gate = callwright.Gate([SEARCH], events=[seen.append, file])
        gate.open("search", {"query": "a"}, session="s", turn=1, round=2).close("found")
        gate.open("search", {}, session="s")
        assert gate.flush_events()
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        assert [event["verdict"] for event in seen] == ["valid", "refused"]
        assert lines == seen
        assert (seen[0]["session"], seen[0]["turn"], seen[0]["round"], seen[0]["tool"]) == ("s", 1, 2, "search")

    def test_a_function_that_throws_does_not_fail_the_call(self, capsys: pytest.CaptureFixture[str]) -> None:
        unraised: list[Any] = []
        hook, sys.unraisablehook = sys.unraisablehook, lambda args: unraised.append(args.exc_type)
        try:
            gate = callwright.Gate([SEARCH], events=lambda event: 1 / 0)
            assert gate.open("search", {"query": "a"}).close("x").text == "x"
            gate.flush_events()
            (stats,) = gate.event_stats().values()
        finally:
            sys.unraisablehook = hook
        assert unraised == [ZeroDivisionError] and stats["failed"] == 1 and "ZeroDivisionError" in stats["last_error"]

    def test_a_file_that_cannot_be_opened(self, tmp_path: Path) -> None:
        with pytest.raises(OSError):
            callwright.Gate([SEARCH], events=tmp_path / "no" / "events.jsonl")

    def test_a_function_that_never_returns_holds_nothing_up(self) -> None:
        stuck = threading.Event()
        gate = callwright.Gate([SEARCH], events=lambda event: stuck.wait(60))
        for _ in range(3):
            assert gate.open("search", {"query": "a"}).close("x").text == "x"
        assert not gate.flush_events(0.05)
        stuck.set()
        assert gate.flush_events()

    def test_a_gate_that_goes_away_hands_its_events_over(self) -> None:
        seen: list[Any] = []
        gate = callwright.Gate([SEARCH], events=seen.append)
        gate.open("search", {"query": "a"}).close("x")
        del gate
        gc.collect()
        assert len(seen) == 1


def run(program: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, **more)


PRELUDE = f"""
import callwright, os, sys, threading, time
gate = callwright.Gate([{SEARCH!r}], events=[EVENTS])
"""


class TestProcess:
    def test_events_are_written_before_the_interpreter_ends(self, tmp_path: Path) -> None:
        file = tmp_path / "events.jsonl"
        program = PRELUDE.replace("EVENTS", repr(str(file))) + "gate.open('search', {'query': 'a'}).close('x')"
        assert run(program).returncode == 0
        assert len(file.read_text().splitlines()) == 1

    def test_a_callback_that_never_returns_does_not_keep_the_process(self) -> None:
        program = PRELUDE.replace("EVENTS", "lambda event: time.sleep(3600)")
        program += "gate.open('search', {'query': 'a'}).close('x'); time.sleep(0.2); print('done')"
        ended = run(program)
        assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr

    def test_a_callback_at_the_end_of_the_interpreter(self) -> None:
        program = PRELUDE.replace("EVENTS", "lambda event: print(event['tool'])")
        program += "gate.open('search', {'query': 'a'}).close('x')"
        ended = run(program)
        assert (ended.returncode, ended.stdout) == (0, "search\n"), ended.stderr

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
    def test_a_fork_after_import(self, tmp_path: Path) -> None:
        file = tmp_path / "events.jsonl"
        program = PRELUDE.replace("EVENTS", repr(str(file)))
        program += """
child = os.fork()
for _ in range(100):
    gate.open('search', {'query': 'a'}).close('x')
if child == 0:
    gate.flush_events()
    os._exit(0 if gate.judge('search', '{}').verdict == 'refused' else 1)
assert os.waitpid(child, 0)[1] == 0
"""
        ended = run(program)
        assert ended.returncode == 0, ended.stderr
        assert len(file.read_text().splitlines()) == 200

    def test_daemon_threads_at_the_end_of_the_interpreter(self) -> None:
        program = PRELUDE.replace("EVENTS", "lambda event: None")
        program += """
def work():
    while True:
        gate.judge('search', '{"query": "' + 'x' * 20_000 + '"}')
        gate.open('search', {'query': 'a'}).close('x')
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
"""
        ended = run(program)
        assert ended.returncode == 0, ended.stderr


def test_threads_share_a_gate(gate: callwright.Gate) -> None:
    verdicts: list[str] = []
    long = "x" * 10_000

    def work(number: int) -> None:
        for _ in range(50):
            verdicts.append(gate.judge("search", json.dumps({"query": long, "limit": number})).verdict)
            gate.open("search", {"query": "a"}, session=str(number)).close(str(number))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verdicts == ["valid"] * 400


def test_the_lock_is_released_while_a_long_text_is_judged(gate: callwright.Gate) -> None:
    # The switch interval is long enough that another thread only runs when the lock is released.
    text = json.dumps({"query": "x", "tags": list(range(5_000))})
    ended = threading.Event()
    counted = 0

    def count() -> None:
        nonlocal counted
        while not ended.is_set():
            counted += 1
            time.sleep(0.0001)

    thread = threading.Thread(target=count)
    switch = sys.getswitchinterval()
    sys.setswitchinterval(60)
    try:
        thread.start()
        before = counted
        for _ in range(20):
            gate.judge("search", text)
        assert counted > before
    finally:
        sys.setswitchinterval(switch)
        ended.set()
        thread.join()


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this interpreter has the lock")
def test_importing_does_not_bring_the_lock_back() -> None:
    program = "import callwright, sys; print(sys._is_gil_enabled())"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    ended = run(program, env=environment)
    assert ended.stdout.strip() == "False", ended.stderr


def test_importing_is_cheap() -> None:
    # Counted, not timed: modules that are slow to import are only imported when needed.
    # Neither does opening a gate on plain declarations.
    program = """
import callwright, sys
callwright.Gate([{"name": "search", "inputSchema": {"type": "object"}}])
print([name for name in ("asyncio", "pydantic", "pyarrow") if name in sys.modules])
"""
    assert run(program).stdout == "[]\n"


def test_half_a_surrogate_pair_in_what_a_model_wrote() -> None:
    gate = callwright.Gate([{"name": "find", "inputSchema": {"properties": {"query": {"type": "string"}}}}])
    assert gate.judge("find", '{"query": "\ud800"}').to_json() == gate.judge("find", '{"query": "\\ud800"}').to_json()
    assert gate.judge("find", '{"query": 1\ud800}').failure["code"] == "invalid_json"
    assert gate.judge("fi\ud800nd", "{}").failure["code"] == "unknown_tool"
    assert not gate.accepts("find", '{"query": 1\ud800}')


def test_a_name_without_arguments() -> None:
    gate = callwright.Gate([{"name": "ping", "inputSchema": {"type": "object"}}])
    with pytest.raises(TypeError, match="the arguments of `ping` are missing; without any, they are {}"):
        gate.judge("ping")


def test_a_file_of_events_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "events.jsonl"
    with pytest.raises(FileNotFoundError, match=f"events: {path}: No such file"):
        callwright.Gate([{"name": "ping", "inputSchema": {"type": "object"}}], events=path)


def test_an_option_of_the_wrong_type_is_named() -> None:
    with pytest.raises(callwright.Error, match='^sessions: expected a whole number, got "ten"$'):
        callwright.Gate([], sessions="ten")  # type: ignore[arg-type]


def test_what_is_wrong_with_an_outcome_is_named() -> None:
    gate = callwright.Gate([{"name": "ping", "inputSchema": {"type": "object"}}])
    ticket = gate.open("ping", {})
    with pytest.raises(TypeError, match="^failed.detail: expected a string, got 5$"):
        ticket.close(failed={"kind": "reported", "detail": 5})
    with pytest.raises(TypeError, match="^failed.extra: unknown; known are kind, code, "):
        ticket.close(failed={"kind": "reported", "extra": 1})
    with pytest.raises(TypeError, match="^finding: `code` is missing$"):
        ticket.close("x", finding={"class": "partial_data"})
    with pytest.raises(callwright.Error, match="^unknown kind of failure `sad`; known are reported, "):
        ticket.close(failed={"kind": "sad"})
    with pytest.raises(callwright.Error, match="^unknown class of finding `odd`; known are schema_mismatch, "):
        ticket.close("x", finding={"class": "odd", "code": "c", "detail": "d"})
    assert not ticket.close("x").is_error
