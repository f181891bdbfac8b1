"""Replay on Spark: one summary per partition, merged as a tree.

    from callwright import spark

    summary = spark.replay(frame, tools, session="session_id", order="time")
    summary = spark.replay_files(session, ["logs/a.jsonl", "logs/b.jsonl"], tools)
    print(summary.report())
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from ._callwright import Summary
from ._declare import tool_text
from ._gate import policy_text
from ._replay import batch_rows
from ._replay import replay as _replay

__all__ = ["replay", "replay_files"]

#: How many summaries are merged at once, by a task or finally by the driver: serialising a merged one costs as much as
#: merging ten, and this many fit into the memory of a small worker.
_MERGED_AT_ONCE = 32


def replay(
    frame: Any,
    tools: Any,
    *,
    session: Any,
    order: Any = None,
    column: str = "value",
    policy: str | os.PathLike[str] | None = None,
    partitions: int | None = None,
) -> Summary:
    """Replays the records in a column of a data frame.

    Rows are grouped by ``session`` (the name of a column, or an expression) and sorted by ``order`` within it, so that
    every conversation is in one partition and in order. A task that is run again counts once.
    """
    count = partitions or int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    rows = frame.repartition(count, session)
    if order is not None:
        rows = rows.sortWithinPartitions(session, order)
    text, rules, run = tool_text(tools), policy_text(policy), uuid.uuid4().hex

    def count_partition(batches: Iterable[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        part = f"{run}-{context.partitionId() if context else 0}"
        records = (row for batch in batches for row in batch_rows(batch, column))
        # One thread: Spark runs a task on every core.
        yield _batch(_replay(records, text, policy=rules, part=part, workers=1))

    return _merged(rows.select(column).mapInArrow(count_partition, "summary binary"), count)


def replay_files(
    session: Any,
    paths: Iterable[str | os.PathLike[str]],
    tools: Any,
    *,
    column: str | None = None,
    policy: str | os.PathLike[str] | None = None,
) -> Summary:
    """Replays files that every worker can open, each in its own task; ``session`` is the Spark session.

    A conversation should be in one file. Nothing is shuffled and no row passes through Spark, so this costs a fraction of
    :func:`replay`. A task that is run again counts once.
    """
    files = [os.fspath(path) for path in paths]
    text, rules = tool_text(tools), policy_text(policy)

    def count_files(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                path = files[number]
                yield _batch(_replay(path, text, column=column, policy=rules, part=path, workers=1))

    numbers = session.range(0, len(files), 1, max(len(files), 1))
    return _merged(numbers.mapInArrow(count_files, "summary binary"), len(files))


def _merged(parts: Any, count: int) -> Summary:
    while count > _MERGED_AT_ONCE:
        count = -(-count // _MERGED_AT_ONCE)
        parts = parts.repartition(count).mapInArrow(_merge, "summary binary")
    return Summary().merge(*(Summary.from_bytes(bytes(row.summary)) for row in parts.collect()))


def _merge(batches: Iterable[Any]) -> Iterator[Any]:
    summary = Summary()
    for batch in batches:
        summary = summary.merge(*(Summary.from_bytes(part) for part in batch.column("summary").to_pylist()))
    yield _batch(summary)


def _batch(summary: Summary) -> Any:
    import pyarrow

    return pyarrow.RecordBatch.from_pydict({"summary": [summary.to_bytes()]})
