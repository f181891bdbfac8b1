"""Converts tools of any kind to the text of a tool file, which the gate reads."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any


def tool_text(tools: Any) -> str:
    """The text of a tool file, from anything that declares tools."""
    if isinstance(tools, str) and tools.lstrip("\ufeff \t\r\n")[:1] in ("[", "{"):
        return tools.lstrip("\ufeff")
    if isinstance(tools, (str, os.PathLike)):
        with open(tools, encoding="utf-8-sig") as file:
            return file.read()
    if isinstance(tools, Mapping) or not isinstance(tools, Iterable):
        return json.dumps(declaration(tools), allow_nan=False)
    return json.dumps([declaration(entry) for entry in tools], allow_nan=False)


def declaration(entry: Any) -> Any:
    """One entry of a tool list as plain JSON."""
    if isinstance(entry, (dict, list, str)):
        return entry
    # Imports asyncio, which plain declarations do not need.
    from ._toolbox import Tool, tool

    if isinstance(entry, Tool):
        return entry.declaration()
    if isinstance(entry, Mapping):
        return dict(entry)
    # An SDK tool, such as ``mcp.types.Tool``, is a Pydantic instance with a name; a model class is itself a tool.
    if not isinstance(entry, type) and hasattr(entry, "model_dump"):
        return entry.model_dump(mode="json", by_alias=True, exclude_none=True)
    if callable(entry):
        return tool(entry).declaration()
    raise TypeError(f"not a tool: {entry!r}")
