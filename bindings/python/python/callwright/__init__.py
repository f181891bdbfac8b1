"""A guard between language models and their tools.

>>> import callwright
>>> gate = callwright.Gate([{"name": "add", "inputSchema": {
...     "type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}])
>>> gate.judge("add", '{"a": "three"}').feedback
'Please rewrite the input with valid arguments. Errors: a: expected integer, received string "three"'
"""

from __future__ import annotations

import atexit as _atexit
import os as _os
from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import _callwright
from ._callwright import Call, Error, Settled, Summary, Ticket, Verdict, __version__
from ._gate import Gate, Rescued
from ._replay import replay

if _TYPE_CHECKING:
    from ._toolbox import Tool, Toolbox, ToolFailure, TransientFailure, tool

# Event sinks have threads that may call Python: they stop before the interpreter does, and start again in a fork.
_atexit.register(_callwright.close_all)
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_callwright.after_fork)

# Running tools needs asyncio, which takes longer to import than everything else here.
_OF_TOOLBOX = ("Tool", "ToolFailure", "Toolbox", "TransientFailure", "tool")


def __getattr__(name: str) -> object:
    if name not in _OF_TOOLBOX:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _toolbox

    for known in _OF_TOOLBOX:
        globals()[known] = getattr(_toolbox, known)
    return globals()[name]


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "Call",
    "Error",
    "Gate",
    "Rescued",
    "Settled",
    "Summary",
    "Ticket",
    "Tool",
    "ToolFailure",
    "Toolbox",
    "TransientFailure",
    "Verdict",
    "__version__",
    "replay",
    "tool",
]
