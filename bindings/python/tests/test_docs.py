"""Runs the examples in the guides: a Python block, and its output in the text block after it."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import io
import re
import sys
import types
from pathlib import Path

import pytest
from cases import REPOSITORY

BLOCK = re.compile(r"^```(python|text)(?: *(\w+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GUIDES = ["README.md", "docs/python.md", "docs/integrations.md", "docs/replay-at-scale.md", "bindings/python/README.md"]


@pytest.mark.parametrize("guide", GUIDES)
def test_examples_print_what_the_guide_says(guide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (REPOSITORY / guide).read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("guide")
    monkeypatch.setitem(sys.modules, "guide", module)
    names = module.__dict__
    printed: str | None = None
    ran = 0
    for block in BLOCK.finditer(text):
        kind, mark, body = block.groups()
        line = text[: block.start()].count("\n") + 2
        if kind == "python":
            code = compile("\n" * (line - 1) + body, guide, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
        # Examples that need a framework are run by the framework's tests.
        if kind == "python" and mark == "framework":
            ran += 1
        elif kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                result = eval(code, names)
                if asyncio.iscoroutine(result):
                    asyncio.run(result)
            printed, ran = out.getvalue(), ran + 1
        elif kind == "text" and printed is not None:
            assert printed == body, f"{guide}, line {text[: block.start()].count(chr(10)) + 2}"
            printed = None
    assert ran
