"""Recorded traffic from files, records, and Arrow, Parquet, DuckDB and Polars tables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from . import _callwright
from ._callwright import Summary
from ._declare import tool_text
from ._gate import policy_text

_PARQUET = (".parquet", ".parq")


def replay(
    records: Any,
    tools: Any = None,
    *,
    column: str | None = None,
    policy: str | os.PathLike[str] | None = None,
    part: str | None = None,
    workers: int | None = None,
    name: str = "records",
) -> Summary:
    """Judges recorded calls as the gate would have judged them, and counts the outcomes.

    ``records`` is a path or a list of paths (files, folders, patterns; compressed or not; Parquet through pyarrow), an
    iterable of records (JSON text, bytes or dictionaries, in any format of docs/replay-formats.md), or a table:
    anything that Arrow can read, such as a Polars frame or a DuckDB relation. A table has one record per row: in its
    only column, in ``column``, or as the row itself. All calls of a conversation should be in one replay, in order.

    Without ``tools``, a call is judged by what the log itself declares. ``part`` is an id for this part of a log:
    however often its summary is merged, it counts once.
    """
    text = None if tools is None else tool_text(tools)
    rows, paths = _rows(records, column)
    return _callwright.replay(rows, paths, text, policy_text(policy), part, workers, name)


def _rows(records: Any, column: str | None) -> tuple[Iterable[Any] | None, list[str]]:
    if records is None or isinstance(records, (dict, bytes)):
        raise TypeError(f"records: expected a path, paths, a table or an iterable of records, got {type(records).__name__}")
    paths = _paths(records)
    if paths is None:
        return (_table(records, column) if _is_table(records) else records), []
    if not any(path.endswith(_PARQUET) for path in paths):
        return None, paths
    if not all(path.endswith(_PARQUET) for path in paths):
        raise ValueError("either all paths or none must be Parquet files")
    return (row for path in paths for row in parquet_rows(path, column)), []


def _paths(records: Any) -> list[str] | None:
    if isinstance(records, (str, os.PathLike)):
        return [os.fspath(records)]
    if isinstance(records, (list, tuple)) and records:
        if all(isinstance(entry, os.PathLike) or _is_path(entry) for entry in records):
            return [os.fspath(entry) for entry in records]
    return None


def _is_path(entry: Any) -> bool:
    return isinstance(entry, str) and entry.lstrip()[:1] not in ("{", "[", "")


def _is_table(records: Any) -> bool:
    return hasattr(records, "__arrow_c_stream__") or hasattr(records, "__arrow_c_array__")


def _table(records: Any, column: str | None) -> Iterator[Any]:
    import pyarrow

    if hasattr(records, "__arrow_c_stream__"):
        batches: Iterable[Any] = pyarrow.RecordBatchReader.from_stream(records)
    else:
        batches = [pyarrow.record_batch(records)]
    for batch in batches:
        yield from batch_rows(batch, column)


def batch_rows(batch: Any, column: str | None = None) -> list[Any]:
    """The records in an Arrow batch."""
    if column is None and batch.num_columns == 1:
        column = batch.schema.names[0]
    rows: list[Any] = batch.to_pylist() if column is None else batch.column(column).to_pylist()
    return [row for row in rows if row is not None]


def parquet_rows(path: str | os.PathLike[str], column: str | None = None, groups: list[int] | None = None) -> Iterator[Any]:
    """The records in a Parquet file, or in some of its row groups."""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        for batch in file.iter_batches(row_groups=groups, columns=None if column is None else [column]):
            yield from batch_rows(batch, column)
