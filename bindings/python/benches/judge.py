"""Compares the cost of a call with the alternatives a Python program has: ratios within one run, by CPU time, best of
many interleaved rounds.

    python benches/judge.py TOOLS.jsonl CALLS.jsonl…

A line of tools has `ref` and `input_schema`, a line of calls `schema_ref` and `raw_arguments` as text. Needs
jsonschema-rs and pydantic.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, Literal, Optional

import callwright

#: How many calls of each kind are measured: enough that a single one does not matter.
MOST = 4000

TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "null": None}


def least(works: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The lowest CPU time of each task in seconds, in interleaved rounds."""
    found = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            begin = time.process_time()
            work()
            found[name] = min(found[name], time.process_time() - begin)
    return found


def lines(path: str) -> Iterable[Any]:
    with open(path, encoding="utf-8") as file:
        yield from map(json.loads, file)


def model(schema: Any) -> Any:
    """A Pydantic type with the types, names and required fields of a schema."""
    from pydantic import ConfigDict, create_model

    if not isinstance(schema, dict):
        return Any
    if values := schema.get("enum"):
        plain = all(isinstance(value, (str, int, bool)) for value in values)
        return Literal[tuple(values)] if plain else Any
    match schema.get("type"):
        case "object" if schema.get("properties"):
            required = schema.get("required", [])
            fields = {}
            for at, (name, inner) in enumerate(schema["properties"].items()):
                from pydantic import Field

                kind = model(inner) if name in required else Optional[model(inner)]
                fields[f"f{at}"] = (kind, Field(alias=name) if name in required else Field(None, alias=name))
            closed = "forbid" if schema.get("additionalProperties") is False else "ignore"
            return create_model("Model", __config__=ConfigDict(extra=closed, protected_namespaces=()), **fields)
        case "object":
            return dict[str, Any]
        case "array":
            return list[model(schema.get("items"))]
        case str() as name:
            return TYPES.get(name, Any)
    return Any


def import_time() -> float:
    """The lowest wall-clock time of `import callwright` in a new process, in milliseconds."""
    program = "import time; t = time.perf_counter(); import callwright; print((time.perf_counter() - t) * 1e3)"
    return min(float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(15))


def main(tools_path: str, *calls_paths: str) -> None:
    import jsonschema_rs
    from pydantic import TypeAdapter

    named = {tool["ref"]: tool["input_schema"] for tool in lines(tools_path)}
    calls = [call for path in calls_paths for call in lines(path)]
    declared = json.dumps([{"name": ref, "inputSchema": schema} for ref, schema in named.items()])
    begin = time.process_time()
    gate = callwright.Gate(declared)
    opened = time.process_time() - begin
    texts = [(call["schema_ref"], call["raw_arguments"]) for call in calls if call.get("schema_ref") in named]
    texts = [(ref, text) for ref, text in texts if isinstance(text, str)]
    validators, adapters = {}, {}
    for ref in {ref for ref, _ in texts}:
        try:
            validators[ref] = jsonschema_rs.validator_for(named[ref])
        except Exception:
            continue
    valid = [(ref, text) for ref, text in texts if ref in validators and gate.accepts(ref, text)][:MOST]
    for ref in {ref for ref, _ in valid}:
        try:
            adapters[ref] = TypeAdapter(model(named[ref]))
        except Exception:
            continue
    valid = [(ref, text) for ref, text in valid if ref in adapters]
    dicts = [(ref, json.loads(text)) for ref, text in valid]

    def pydantic() -> None:
        for ref, text in valid:
            try:
                adapters[ref].validate_json(text)
            except ValueError:
                pass

    figures = least(
        {
            "json.loads": lambda: [json.loads(text) for _, text in valid],
            "json.loads + jsonschema_rs.is_valid": lambda: [
                validators[ref].is_valid(json.loads(text)) for ref, text in valid
            ],
            "pydantic validate_json": pydantic,
            "gate.accepts(text)": lambda: [gate.accepts(ref, text) for ref, text in valid],
            "gate.judge(text).arguments": lambda: [gate.judge(ref, text).arguments for ref, text in valid],
            "gate.judge(dict).arguments": lambda: [gate.judge(ref, value).arguments for ref, value in dicts],
        },
        25,
    )
    count = len(valid)
    print(f"import: {import_time():.1f} ms; {len(named)} tools opened in {opened * 1000:.0f} ms; {count} valid calls")
    for name, seconds in figures.items():
        print(f"{seconds / count * 1e6:8.2f} µs  {seconds / figures['json.loads']:5.2f} x json.loads  {name}")

    def ratio(ours: str, theirs: str) -> str:
        return f"{figures[ours] / figures[theirs]:.2f} x {theirs}"

    judged = "gate.judge(text).arguments"
    print(f"judge(text).arguments: {ratio(judged, 'json.loads + jsonschema_rs.is_valid')}, {ratio(judged, 'pydantic validate_json')}")
    print(f"accepts(text): {ratio('gate.accepts(text)', 'json.loads')}")

    refused = []
    for ref, text in texts:
        if ref in validators and len(refused) < MOST and not gate.judge(ref, text):
            try:
                if not validators[ref].is_valid(json.loads(text)):
                    refused.append((ref, text))
            except ValueError:
                continue
    if not refused:
        return
    strict = callwright.Gate(declared, repair="none")
    words = least(
        {
            "iter_errors as text": lambda: [
                "; ".join(str(error) for error in validators[ref].iter_errors(json.loads(text))) for ref, text in refused
            ],
            "gate.judge(text).feedback": lambda: [gate.judge(ref, text).feedback for ref, text in refused],
            "the same with repair none": lambda: [strict.judge(ref, text).feedback for ref, text in refused],
        },
        11,
    )
    print(f"{len(refused)} refused calls")
    for name, seconds in words.items():
        print(f"{seconds / len(refused) * 1e6:8.2f} µs  {seconds / words['iter_errors as text']:5.2f} x iter_errors as text  {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
