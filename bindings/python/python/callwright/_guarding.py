"""Shared by the guards of all frameworks: a gate that is built once the tools are known, and sessions for runs."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from typing import Any

from ._gate import Gate


class LateGate:
    """A gate for tools that a framework only reveals while it runs."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.gate = Gate([])
        self._shown: dict[str, str] = {}

    def show(self, declarations: Iterable[dict[str, Any]]) -> Gate:
        """The gate for these tools and all that were shown before. What conversations have used up still counts."""
        shown = {}
        for declared in declarations:
            name = declared.get("name") or declared["function"]["name"]
            shown[name] = json.dumps(declared, sort_keys=True, default=str)
        if not shown.items() <= self._shown.items():
            options = {**self.options, "ledger": self.gate} if self._shown else self.options
            self._shown = {**self._shown, **shown}
            self.gate = Gate(f"[{','.join(self._shown.values())}]", **options)
        return self.gate


def loosened(schema: Any) -> Any:
    """A schema without the additions of a conversion to strict mode.

    Strict mode lists every property as required. The function behind the tool may have defaults: a property that has one,
    or may be null, is optional for it. A gate must not be stricter than the tool.
    """
    if isinstance(schema, list):
        return [loosened(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: loosened(value) for key, value in schema.items()}
    properties, required = schema.get("properties"), schema.get("required")
    if isinstance(properties, dict) and isinstance(required, list):
        made["required"] = [name for name in required if not _may_be_left_out(properties.get(name))]
    return made


def _may_be_left_out(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    kinds = schema.get("type")
    unions = [branch for key in ("anyOf", "oneOf") for branch in schema.get(key, []) if isinstance(branch, dict)]
    return (
        "default" in schema
        or kinds == "null"
        or (isinstance(kinds, list) and "null" in kinds)
        or any(_may_be_left_out(branch) for branch in unions)
    )


def session_of(run: Any) -> str:
    """A session for a run that a framework represents as an object. It is stored on the object, so it ends with it."""
    try:
        return str(run.__dict__.setdefault("_callwright_session", uuid.uuid4().hex))
    except AttributeError:
        return str(id(run))
