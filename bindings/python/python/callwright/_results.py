"""What a function returns, as JSON."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import os
import uuid
from collections.abc import Mapping
from typing import Any

#: Types that ``json.dumps`` refuses, and that are usually sent as text.
_AS_TEXT = (decimal.Decimal, uuid.UUID)
_AS_ISO = (datetime.date, datetime.time)


def plain(value: Any) -> Any:
    """A function's return value in the types of JSON: models and dataclasses as objects; dates, decimals, UUIDs and paths
    as text; enums as their value; sets as lists. Anything else stays as it is."""
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if isinstance(value, (str, bytes, int, float, bool, type(None))):
        return value
    if isinstance(value, _AS_ISO):
        return value.isoformat()
    if isinstance(value, _AS_TEXT):
        return str(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return value.model_dump(mode="json", by_alias=True)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        # Sorted, since the order of a set differs between runs and equal results should look equal.
        return sorted((plain(item) for item in value), key=lambda item: (type(item).__name__, repr(item)))
    return value


def _key(key: Any) -> Any:
    """The key of an object. Numbers become text, as with ``json.dumps``."""
    key = plain(key)
    if isinstance(key, bool) or key is None:
        return {True: "true", False: "false", None: "null"}[key]
    return str(key) if isinstance(key, (int, float)) else key
