"""Replay on Spark: one summary per partition, merged as a tree.

    from callwright import spark

    summary = spark.replay(frame, tools, session="session_id", order="time")
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

__all__ = ["replay"]

#: How many summaries one task merges: they have some megabytes each, and fit into the memory of a small worker.
_MERGED_AT_ONCE = 8


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

    Rows are brought together by ``session`` (the name of a column, or an expression) and sorted by ``order`` within it, so
    that every conversation is in one partition and in its order. A task that is run again counts once.
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

    parts = rows.select(column).mapInArrow(count_partition, "summary binary")
    while count > 1:
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
