"""Runs ``corpus/`` through the public API: the same JSON as the program, for every case that the API can express."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cases import agrees, cases, files, known_keys

import callwright

RENDERED = ("parse", "validate", "repair", "feedback", "wire")


def gate_of(file: Any, case: Any, **options: Any) -> callwright.Gate:
    tools = case.get("tools", file.get("tools"))
    gate = callwright.Gate(json.dumps(tools), **options)
    effect = case.get("effect")
    if effect is None:
        return gate
    return callwright.Gate(json.dumps(tools), effects={tool["name"]: effect for tool in gate.tools}, **options)


@pytest.mark.parametrize(("file", "case"), cases(*RENDERED))
def test_judge(file: Any, case: Any) -> None:
    known = ("call", "line", "tools", "effect", "style", "expect", "contains", "renders", "error", "repair")
    known_keys(case, "name", *known)
    gate = gate_of(file, case, repair=case.get("repair", "none"), style=case.get("style"))
    line = case.get("line", json.dumps(case.get("call")))
    if "error" in case:
        with pytest.raises(callwright.Error, match="(?s)") as raised:
            gate.judge(line)
        assert case["error"] in str(raised.value)
        return
    verdict = gate.judge(line)
    text = verdict.to_json()
    agrees(case.get("expect"), json.loads(text))
    agrees(case.get("expect"), verdict.to_dict())
    for part in case.get("contains", []):
        assert part.replace(" ", "") in text.replace(" ", "")
    for provider, expected in case.get("renders", {}).items():
        assert verdict.render(provider) == expected
    # A Python dictionary is the same call, unless parsing the line loses something.
    if "call" in case:
        assert json.loads(gate.judge(case["call"]).to_json()) == json.loads(text)


@pytest.mark.parametrize(("file", "case"), cases("tools"))
def test_tools(file: Any, case: Any) -> None:
    text = case.get("text", json.dumps(case.get("file")))
    if "error" in case:
        with pytest.raises(callwright.Error) as raised:
            # The public class takes text that does not begin like JSON as a path.
            callwright.Gate(text) if text.lstrip().startswith(("[", "{")) else callwright._callwright.Gate(text)
        assert case["error"] in str(raised.value)
        return
    tools = callwright.Gate(text).tools
    assert len(tools) == len(case["expect"])
    for tool, expected in zip(tools, case["expect"]):
        reason = expected.get("quarantined")
        if reason is not None:
            assert reason in tool["quarantined"]
            expected = {**expected, "quarantined": tool["quarantined"]}
        agrees(expected, tool)


@pytest.mark.parametrize(("file", "case"), cases("rescue"))
def test_rescue(file: Any, case: Any) -> None:
    if "line" in case:
        pytest.skip("a message in a provider's shape; the API takes its text")
    gate = gate_of(file, case, repair=case.get("repair", "none"))
    rescued = gate.rescue(case["text"])
    if rescued.reason is not None:
        actual: Any = {"no_call": rescued.reason, "why": rescued.detail}
    else:
        actual = {"calls": [gate.judge(call).to_dict() for call in rescued.calls], "rest": rescued.rest}
    agrees(case["expect"], actual)


@pytest.mark.parametrize(("file", "case"), cases("loops"))
def test_loops(file: Any, case: Any) -> None:
    known_keys(case, "name", "policy", "tools", "effects", "ledger", "calls")
    if case.get("ledger") == "away":
        pytest.skip("a ledger that is away has a test of its own")
    tools = case.get("tools", file["tools"])
    effects = case.get("effects", file.get("effects", {}))
    effects = {tool["name"]: effects[tool["name"]] for tool in tools if tool["name"] in effects}
    gate = callwright.Gate(json.dumps(tools), effects=effects, admission=case.get("policy"))
    refused = None
    for step in case["calls"]:
        reply = step.get("reply")
        if reply is not None:
            gate.answer("s", {"allow_once": refused} if reply == "allow_once" else reply)
            continue
        for _ in range(step.get("times", 1)):
            settled = gate.check({"session": "s", **step["call"]})
            refused = settled.fingerprint or refused
            agrees(step["expect"], settled.to_dict())


@pytest.mark.parametrize(("file", "case"), cases("output"))
def test_output(file: Any, case: Any) -> None:
    known = ("tools", "call", "policy", "style", "failed", "finding", "advice", "expect", "shown", "is_error")
    known_keys(case, "name", *known)
    if case.get("policy", {}).get("max_bytes", 100) < 100:
        pytest.skip("policy files do not take a limit this small")
    gate = gate_of(file, case, policy=output_policy(case), style=case.get("style"))
    if "failed" in case or "finding" in case:
        call = dict(case["call"])
        output, is_error = call.pop("output", None), call.pop("is_error", False)
        ticket = gate.open(call, session=call.pop("session", None))
        settled = ticket.close(output, is_error=is_error, failed=case.get("failed"), finding=case.get("finding"))
    else:
        settled = gate.check(case["call"])
    agrees(case.get("expect"), json.loads(settled.to_json()))
    if "shown" in case:
        assert settled.text == case["shown"]
    if "is_error" in case:
        assert settled.is_error == case["is_error"]
    secret = case.get("failed", {}).get("for_operator")
    assert secret is None or secret not in settled.text + settled.to_json()


def output_policy(case: Any) -> str | None:
    """The settings of a case as a policy file."""
    lines = []
    settings = case.get("policy", {})
    if settings:
        lines.append("[output]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    if "advice" in case:
        lines.append("[advice]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in case["advice"].items()]
    return "\n".join(lines) + "\n" if lines else None


@pytest.mark.parametrize(("file", "case"), cases("policy"))
def test_policy(file: Any, case: Any) -> None:
    known_keys(case, "name", "policy", "error", "settings", "admission", "warnings", "calls")
    policy = case["policy"] if isinstance(case["policy"], str) else "\n".join(case["policy"])
    tools = json.dumps(file.get("tools", []))
    if "error" in case:
        with pytest.raises(callwright.Error) as raised:
            callwright.Gate(tools, policy=policy + "\n")
        wanted = case["error"]
        said = str(raised.value).removeprefix("policy: ")
        assert "\n".join(wanted) == said if isinstance(wanted, list) else wanted in said
        return
    gate = callwright.Gate(tools, policy=policy + "\n")
    for name, wanted in case.get("settings", {}).items():
        agrees(wanted, gate.settings(name))
    agrees(case.get("admission", {}), gate.admission)
    if "warnings" in case:
        assert gate.warnings == case["warnings"]
    for step in case.get("calls", []):
        settled = gate.check({**step["call"], "session": "s"})
        if "notes" in step:
            assert settled.to_dict().get("output_notes", []) == step["notes"]
        agrees(step["expect"], settled.to_dict())


@pytest.mark.parametrize(("file", "case"), cases("present"))
def test_present(file: Any, case: Any) -> None:
    tool = {**file["tool"], **case.get("tool", {})}
    policy = "\n".join(case["policy"]) + "\n" if "policy" in case else None
    gate = callwright.Gate([tool], policy=policy, receipts=case.get("receipts"))
    arguments = case.get("arguments", {"id": 7})
    settled = None
    for round in range(case.get("times", 1)):
        ticket = gate.open(tool["name"], arguments, session="s", turn=0, round=round)
        settled = ticket.close(case.get("answer"), is_error=case.get("failed", False))
    assert settled is not None
    assert settled.is_error == case["expect"]["is_error"]
    assert settled.text == case["expect"]["text"]


def test_the_corpus_has_not_shrunk() -> None:
    stages = (*RENDERED, "tools", "rescue", "loops", "output", "policy", "present")
    assert sum(len(file["cases"]) for _, file in files(*stages)) >= 1_900
