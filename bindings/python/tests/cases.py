"""Reads the cases in ``corpus/`` and compares expected and actual values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[3]
CORPUS = REPOSITORY / "corpus"


def cases(*stages: str) -> list[Any]:
    """Every case of these stages, with its file."""
    return [
        pytest.param(file, case, id=f"{path.relative_to(CORPUS)}: {case['name']}")
        for path, file in files(*stages)
        for case in file["cases"]
    ]


def files(*stages: str) -> Iterator[tuple[Path, Any]]:
    for stage in stages:
        paths = sorted((CORPUS / stage).glob("*.json"))
        assert paths, f"no cases in {stage}"
        for path in paths:
            yield path, json.loads(path.read_text(encoding="utf-8"))


def agrees(expected: Any, actual: Any, place: str = "") -> None:
    """Whether ``actual`` agrees with everything in ``expected``."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key, wanted in expected.items():
            agrees(wanted, actual.get(key), f"{place}/{key}")
    elif isinstance(expected, list) and isinstance(actual, list):
        assert len(expected) == len(actual), f"at {place}: expected {expected}, got {actual}"
        for at, (wanted, got) in enumerate(zip(expected, actual)):
            agrees(wanted, got, f"{place}/{at}")
    else:
        same = type(expected) is type(actual) or not isinstance(expected, bool) and not isinstance(actual, bool)
        assert expected == actual and same, f"at {place}: expected {expected!r}, got {actual!r}"


def known_keys(case: dict[str, Any], *known: str) -> None:
    """A misspelt key in a case would otherwise go unnoticed."""
    assert not set(case) - set(known), set(case) - set(known)
