"""Tools of any kind → the text of a tool file, which the gate reads."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any


def tool_text(tools: Any) -> str:
    """The text of a tool file, out of whatever declares tools."""
    if isinstance(tools, str) and tools.lstrip("\ufeff \t\r\n")[:1] in ("[", "{"):
        return tools.lstrip("\ufeff")
    if isinstance(tools, (str, os.PathLike)):
        with open(tools, encoding="utf-8-sig") as file:
            return file.read()
    if isinstance(tools, Mapping) or not isinstance(tools, Iterable):
        return json.dumps(declaration(tools), allow_nan=False)
    return json.dumps([declaration(entry) for entry in tools], allow_nan=False)


def declaration(entry: Any) -> Any:
    """One entry of a list of tools as plain JSON."""
    if isinstance(entry, (dict, list, str)):
        return entry
    # Brings asyncio, which plain declarations do without.
    from ._toolbox import Tool, tool

    if isinstance(entry, Tool):
        return entry.declaration()
    if isinstance(entry, Mapping):
        return dict(entry)
    # A tool of an SDK, such as `mcp.types.Tool`, is a model of Pydantic with a name; a model that is a class is a tool
    # by itself.
    if not isinstance(entry, type) and hasattr(entry, "model_dump"):
        return entry.model_dump(mode="json", by_alias=True, exclude_none=True)
    if callable(entry):
        return tool(entry).declaration()
    raise TypeError(f"not a tool: {entry!r}")
