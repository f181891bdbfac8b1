"""Replay: records of any kind give the same report; parts can be merged, and each counts once."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from traffic import TOOLS, conclusions, lines, log

import callwright
from callwright import Summary, replay

LOG = log()


@pytest.fixture(scope="module")
def whole() -> Summary:
    return replay(lines(LOG), TOOLS)


def test_the_same_as_the_program(tmp_path: Path, whole: Summary) -> None:
    tools, file = tmp_path / "tools.json", tmp_path / "log.jsonl"
    tools.write_text(json.dumps(TOOLS))
    file.write_text("\n".join(lines(LOG)))
    summary = tmp_path / "summary.json.gz"
    arguments = ["replay", "--tools", str(tools), "--format", "json", "--emit-summary", str(summary), str(file)]
    ended = subprocess.run([sys.executable, "-m", "callwright", *arguments], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1, ended.stderr
    theirs = conclusions(ended.stdout)
    assert conclusions(whole.report("json")) == theirs
    assert conclusions(replay(file, TOOLS).report("json")) == theirs
    assert conclusions(replay([str(file)], tools).report("json")) == theirs
    assert conclusions(Summary.from_bytes(summary.read_bytes()).report("json")) == theirs


def test_every_kind_of_record(whole: Summary) -> None:
    expected = conclusions(whole.report("json"))
    assert (whole.records, whole.calls) == (len(LOG), len(LOG)) and whole.refused > 0
    for records in (LOG, [line.encode() for line in lines(LOG)], iter(LOG), (record for record in lines(LOG))):
        assert conclusions(replay(records, TOOLS).report("json"))["calls"] == expected["calls"]


@pytest.mark.parametrize("count", [2, 3, 7])
def test_parts_by_session_say_what_the_whole_says(count: int, whole: Summary) -> None:
    parts = [
        replay([record for record in LOG if hash_of(record) % count == part], TOOLS, part=str(part))
        for part in range(count)
    ]
    forth = Summary().merge(*parts)
    back = parts[-1].merge(*reversed(parts[:-1]))
    assert conclusions(forth.report("json")) == conclusions(whole.report("json"))
    assert conclusions(back.report("json")) == conclusions(whole.report("json"))
    # A part counts once.
    again = forth.merge(parts[0], *parts)
    assert again.calls == whole.calls and again.parts == sorted(str(part) for part in range(count))


def hash_of(record: Any) -> int:
    return sum(record["session"].encode())


def test_bytes_and_pickles(whole: Summary) -> None:
    packed = whole.to_bytes()
    assert Summary.from_bytes(packed).report("json") == whole.report("json")
    assert pickle.loads(pickle.dumps(whole)).calls == whole.calls
    with pytest.raises(callwright.Error, match="not a replay summary"):
        Summary.from_bytes(b"{}")


def test_reports(whole: Summary) -> None:
    assert "calls" in whole.report()
    assert whole.report("html", about="Orders").lstrip().lower().startswith("<!doctype html>")
    with pytest.raises(ValueError, match="text, json, html"):
        whole.report("pdf")
    assert repr(whole) == f"<Summary of {whole.calls} calls, {whole.refused} refused>"


def test_an_iterable_that_throws() -> None:
    def rows() -> Iterator[Any]:
        yield LOG[0]
        raise OSError("the bucket is gone")

    with pytest.raises(OSError, match="bucket"):
        replay(rows(), TOOLS)


def test_what_is_not_a_record() -> None:
    with pytest.raises(TypeError, match="a record must be"):
        replay([3], TOOLS)
    with pytest.raises(TypeError):
        replay(3, TOOLS)
    # A record that cannot be read is counted, not raised.
    assert replay(["{", LOG[0]], TOOLS).calls == 1


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_ends_a_replay() -> None:
    # A shell that runs this in the background makes it ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def endless() -> Iterator[Any]:
        while True:
            yield LOG[0]

    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        replay(endless(), TOOLS)
    time.sleep(0.1)


class TestTables:
    def test_arrow_and_parquet(self, tmp_path: Path, whole: Summary) -> None:
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        expected = conclusions(whole.report("json"))["calls"]
        table = pyarrow.table({"value": lines(LOG)})
        assert conclusions(replay(table, TOOLS).report("json"))["calls"] == expected
        assert conclusions(replay(table.to_reader(), TOOLS).report("json"))["calls"] == expected
        wide = pyarrow.table({"id": list(range(len(LOG))), "record": lines(LOG)})
        assert replay(wide, TOOLS, column="record").calls == whole.calls
        rows = pyarrow.table({key: [record[key] for record in LOG] for key in ("tool", "session")} | {
            "arguments": [json.dumps(record["arguments"]) for record in LOG]
        })
        assert replay(rows, TOOLS).calls == whole.calls
        parquet.write_table(table, tmp_path / "log.parquet", row_group_size=50)
        assert conclusions(replay(tmp_path / "log.parquet", TOOLS).report("json"))["calls"] == expected

    def test_polars_and_duckdb(self, whole: Summary) -> None:
        polars = pytest.importorskip("polars")
        duckdb = pytest.importorskip("duckdb")
        frame = polars.DataFrame({"value": lines(LOG)})
        assert replay(frame, TOOLS).calls == whole.calls
        relation = duckdb.sql("select value from frame")
        assert replay(relation, TOOLS).calls == whole.calls
