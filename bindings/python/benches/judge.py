"""What a call costs, next to what a Python program uses without us. Ratios of one run; CPU time, the least of many rounds.

    python benches/judge.py TOOLS.jsonl CALLS.jsonl…

A line of tools has `ref` and `input_schema`, a line of calls `schema_ref` and `raw_arguments` as text. Needs jsonschema-rs.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import callwright


def least(work: Callable[[], object], rounds: int = 15) -> float:
    """The least CPU time of some rounds, in seconds."""
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


#: How many calls of each kind are measured: enough that one does not matter.
MOST = 4000


def main(tools_path: str, *calls_paths: str) -> None:
    import jsonschema_rs

    with open(tools_path, encoding="utf-8") as file:
        tools = [json.loads(line) for line in file]
    calls = []
    for path in calls_paths:
        with open(path, encoding="utf-8") as file:
            calls += [json.loads(line) for line in file]
    named = {tool["ref"]: tool for tool in tools}
    declared = [{"name": ref, "inputSchema": tool["input_schema"]} for ref, tool in named.items()]
    begin = time.process_time()
    gate = callwright.Gate(declared)
    opened = time.process_time() - begin
    texts: list[tuple[str, str]] = []
    for call in calls:
        if call.get("schema_ref") in named:
            texts.append((call["schema_ref"], call["raw_arguments"]))
    valid = [(ref, text) for ref, text in texts if gate.accepts(ref, text)][:MOST]
    refused = [(ref, text) for ref, text in texts if not gate.judge(ref, text)][:MOST]
    validators = {}
    for ref in {ref for ref, _ in valid + refused}:
        try:
            validators[ref] = jsonschema_rs.validator_for(named[ref]["input_schema"])
        except Exception:
            continue
    valid = [(ref, text) for ref, text in valid if ref in validators]
    dicts = [(ref, json.loads(text)) for ref, text in valid]
    figures: dict[str, float] = {
        "json.loads": least(lambda: [json.loads(text) for _, text in valid]),
        "json.loads + jsonschema_rs.is_valid": least(
            lambda: [validators[ref].is_valid(json.loads(text)) for ref, text in valid]
        ),
        "gate.accepts(text)": least(lambda: [gate.accepts(ref, text) for ref, text in valid]),
        "gate.judge(text).arguments": least(lambda: [gate.judge(ref, text).arguments for ref, text in valid]),
        "gate.judge(dict).arguments": least(lambda: [gate.judge(ref, value).arguments for ref, value in dicts]),
    }
    count = len(valid)
    base = figures["json.loads"]
    print(f"{len(declared)} tools opened in {opened * 1000:.0f} ms; {count} valid calls")
    for name, seconds in figures.items():
        print(f"{seconds / count * 1e6:8.2f} µs  {seconds / base:5.2f} x json.loads  {name}")
    judged = figures["gate.judge(text).arguments"] / figures["json.loads + jsonschema_rs.is_valid"]
    print(f"judge(text) with the arguments / json.loads + is_valid: {judged:.2f}")
    readable: list[tuple[str, str, Any]] = []
    for ref, text in refused:
        try:
            value = json.loads(text)
        except ValueError:
            continue
        if ref in validators and not validators[ref].is_valid(value):
            readable.append((ref, text, value))
    if readable:
        ours = least(lambda: [gate.judge(ref, text).feedback for ref, text, _ in readable], 7)
        theirs = least(
            lambda: [
                "; ".join(str(error) for error in validators[ref].iter_errors(json.loads(text)))
                for ref, text, _ in readable
            ],
            7,
        )
        count = len(readable)
        print(f"{count} refused calls with their words: {ours / count * 1e6:.1f} µs, {ours / theirs:.2f} x iter_errors as text")


if __name__ == "__main__":
    main(*sys.argv[1:])
