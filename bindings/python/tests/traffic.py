"""A log of conversations: valid calls, mistakes, corrections and loops, the same every time."""

from __future__ import annotations

import json
import random
from typing import Any

TOOLS = [
    {
        "name": name,
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "limit": {"type": "integer", "maximum": 50},
                "sort": {"enum": ["newest", "oldest"]},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True},
    }
    for name in ("search_orders", "search_customers", "search_invoices")
]


def log(sessions: int = 60, seed: int = 7) -> list[dict[str, Any]]:
    """The calls of some conversations, interleaved in time order."""
    chance = random.Random(seed)
    records = []
    for session in range(sessions):
        for round in range(chance.randint(1, 12)):
            tool = chance.choice(TOOLS)["name"]
            arguments: dict[str, Any] = {"query": chance.choice(["lamp", "tea", "desk"])}
            fault = chance.random()
            if fault < 0.1:
                arguments["limit"] = chance.choice(["ten", 99, -1.5])
            elif fault < 0.2:
                arguments["limit"] = str(chance.randint(1, 40))
            elif fault < 0.25:
                arguments = {"q": "lamp", "sort": "latest"}
            time = f"2026-03-{1 + session % 27:02}T10:{round:02}:{session % 60:02}Z"
            record = {"tool": tool, "arguments": arguments, "session": f"s{session}", "turn": 0, "round": round}
            records.append({**record, "time": time, "output": chance.choice(["3 found", "nothing"])})
    chance.shuffle(records)
    return sorted(records, key=lambda record: (record["time"], record["session"]))


def lines(records: list[dict[str, Any]]) -> list[str]:
    return [json.dumps(record) for record in records]


def conclusions(report: str) -> Any:
    """A report without the places of its examples, which depend on the parts, and without the size of the log, which
    depends on how it is stored.
    """

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(inner) for key, inner in value.items() if key not in ("examples", "file", "line", "example")}
        if isinstance(value, list):
            return [without(inner) for inner in value]
        return value

    told = without(json.loads(report))
    for key in ("files", "bytes"):
        told["read"].pop(key)
    return told
