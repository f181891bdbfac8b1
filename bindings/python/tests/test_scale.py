"""Replay on real Spark and Ray gives the same report as on one machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from traffic import TOOLS, conclusions, lines, log

from callwright import replay

LOG = log(sessions=80, seed=11)


@pytest.fixture(scope="module")
def expected() -> Any:
    return conclusions(replay(lines(LOG), TOOLS).report("json"))


def files_by_session(folder: Path, count: int) -> list[Path]:
    """The log split into files, each conversation in one of them."""
    files = []
    for part in range(count):
        mine = lines([record for record in LOG if int(record["session"][1:]) % count == part])
        files.append(folder / f"{part}.jsonl")
        files[-1].write_text("\n".join(mine))
    return files


def test_spark(expected: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql")
    from callwright import spark

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    try:
        rows = [(record["session"], record["time"], line) for record, line in zip(LOG, lines(LOG))]
        frame = session.createDataFrame(rows, "session string, time string, value string")
        for partitions in (None, 1, 10):
            summary = spark.replay(frame, TOOLS, session="session", order="time", partitions=partitions)
            assert conclusions(summary.report("json")) == expected
            assert len(summary.parts) == (partitions or 4)
        # More files than are merged at once.
        files = files_by_session(tmp_path, 40)
        summary = spark.replay_files(session, files, TOOLS)
        assert conclusions(summary.report("json")) == expected
        assert summary.parts == sorted(map(str, files))
        assert spark.replay_files(session, [], TOOLS).calls == 0
    finally:
        session.stop()


def test_ray(expected: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from callwright import ray as scale

    monkeypatch.setenv("RAY_DISABLE_IMPORT_WARNING", "1")
    files = files_by_session(tmp_path, 5)
    tables = [pyarrow.table({"value": file.read_text().splitlines()}) for file in files]
    with parquet.ParquetWriter(tmp_path / "log.parquet", tables[0].schema) as writer:
        for table in tables:
            writer.write_table(table)
    environment = {"env_vars": {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}}
    ray.init(num_cpus=2, include_dashboard=False, runtime_env=environment, log_to_driver=False)
    try:
        assert conclusions(scale.replay(files, TOOLS).report("json")) == expected
        # More files than are merged at once.
        (tmp_path / "many").mkdir()
        many = files_by_session(tmp_path / "many", 40)
        assert conclusions(scale.replay(many, TOOLS).report("json")) == expected
        summary = scale.replay([tmp_path / "log.parquet"], TOOLS, column="value", row_groups=True)
        assert conclusions(summary.report("json")) == expected and len(summary.parts) == 5
    finally:
        ray.shutdown()
