"""The gate, with the options and tools of a Python program."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from . import _callwright
from ._callwright import Call
from ._declare import tool_text

if TYPE_CHECKING:
    from typing_extensions import Self

EventSink: TypeAlias = "Callable[[dict[str, Any]], object] | str | os.PathLike[str]"
Repair: TypeAlias = Literal["none", "lossless", "lossy", "guess", "by_effect"]
Style: TypeAlias = Literal["instruction", "numbered", "json", "tool_error"]
Provider: TypeAlias = Literal["openai_chat", "openai_responses", "anthropic", "gemini", "mcp"]


class Rescued(NamedTuple):
    """The calls found in a message in which a model wrote them as text."""

    calls: list[Call]
    """The calls in order; judge or open them like any other."""
    rest: str
    """The text before them, or the whole text if there are no calls."""
    reason: str | None
    """Why there are none: ``no_mark``, ``text_after``, …"""
    detail: str | None
    """The reason as a sentence."""


class Gate(_callwright.Gate):
    """Judges calls of a set of tools. It runs nothing and may be shared between threads.

    ``tools`` are declarations from any provider or MCP server: a list, a dictionary, JSON text, or the path of a file;
    in a list also functions, Pydantic models, dataclasses, TypedDicts and :func:`callwright.tool` objects. ``policy``
    is the path of a policy file, or its text. ``receipts`` says whether the model is told about every correction of its
    arguments or about none; by default, about those that are not lossless. ``ledger`` is where sessions are stored: the
    address of a Redis or Valkey server, or another gate, whose sessions continue with other tools.
    """

    __slots__ = ()

    def __new__(
        cls,
        tools: Any,
        *,
        policy: str | os.PathLike[str] | None = None,
        repair: Repair | None = None,
        style: Style | None = None,
        receipts: bool | None = None,
        effects: Mapping[str, Literal["unknown", "read", "write", "destructive"]] | None = None,
        admission: Mapping[str, Any] | None = None,
        ledger: str | _callwright.Gate | None = None,
        sessions: int | None = None,
        max_bytes: int | None = None,
        max_depth: int | None = None,
        events: EventSink | Sequence[EventSink] = (),
        event_values: Literal["all", "masked", "none"] = "masked",
        keep_output: bool = False,
    ) -> Self:
        previous = ledger if isinstance(ledger, _callwright.Gate) else None
        options = {
            "policy": policy_text(policy),
            "repair": repair,
            "style": style,
            "receipts": receipts,
            "effects": dict(effects or {}),
            "admission": None if admission is None else dict(admission),
            "ledger": None if previous else ledger,
            "sessions": sessions,
            "max_bytes": max_bytes,
            "max_depth": max_depth,
            "keep_output": keep_output,
        }
        return super().__new__(cls, tool_text(tools), json.dumps(options), _sinks(events), event_values, previous)

    def rescue(self, text: str, *, id: Any = None, finish_reason: str | None = None) -> Rescued:  # type: ignore[override]
        """Extracts calls from a message in which a model wrote them as text: all of them or none."""
        calls, rest, why = super().rescue(text, id=id, finish_reason=finish_reason)
        return Rescued(calls, rest, *(why or (None, None)))


def policy_text(policy: str | os.PathLike[str] | None) -> str | None:
    """The text of a policy. A string with a line break or a ``=`` is the text itself; any other string is a path."""
    if policy is None or (isinstance(policy, str) and ("\n" in policy or "=" in policy)):
        return policy
    with open(policy, encoding="utf-8") as file:
        return file.read()


def _sinks(events: EventSink | Iterable[EventSink]) -> list[EventSink]:
    if callable(events) or isinstance(events, (str, os.PathLike)):
        return [events]
    return list(events)
