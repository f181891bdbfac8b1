"""Replay on Ray: one task per file or Parquet row group, merged as they finish.

    from callwright import ray

    summary = ray.replay(["logs/monday.jsonl", "logs/tuesday.jsonl"], tools)
    print(summary.report())
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import ray

from ._callwright import Summary
from ._declare import tool_text
from ._gate import policy_text
from ._replay import parquet_rows
from ._replay import replay as _replay

__all__ = ["replay"]

#: How many summaries are merged at once, by a task or finally by the caller: serialising a merged one costs as much as
#: merging ten, and this many fit into the memory of a small worker.
_MERGED_AT_ONCE = 32


def replay(
    paths: Iterable[str | os.PathLike[str]],
    tools: Any,
    *,
    column: str | None = None,
    policy: str | os.PathLike[str] | None = None,
    row_groups: bool = False,
    remote: dict[str, Any] | None = None,
) -> Summary:
    """Replays files, each in its own task; with ``row_groups``, each row group of a Parquet file.

    A conversation should be in one file or one row group. ``remote`` are options for the tasks, such as ``num_cpus``. A
    task that is run again counts once.
    """
    count = ray.remote(**(remote or {"num_cpus": 1}))(_count)
    merge = ray.remote(**(remote or {"num_cpus": 1}))(_merge)
    # Tools go to every worker once.
    text, rules = ray.put(tool_text(tools)), policy_text(policy)
    files = [os.fspath(path) for path in paths]
    todo = [count.remote(file, group, text, rules, column) for file in files for group in _groups(file, row_groups)]
    while len(todo) > _MERGED_AT_ONCE:
        ready, rest = ray.wait(todo, num_returns=_MERGED_AT_ONCE)
        todo = [*rest, merge.remote(*ready)]
    return Summary().merge(*(Summary.from_bytes(part) for part in ray.get(todo)))


def _groups(path: str, row_groups: bool) -> list[int | None]:
    if not row_groups:
        return [None]
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        return list(range(file.num_row_groups))


def _count(path: str, group: int | None, tools: str, policy: str | None, column: str | None) -> bytes:
    part = path if group is None else f"{path}#{group}"
    records: Any = path if group is None else parquet_rows(path, column, [group])
    # One thread: Ray runs a task on every core.
    return _replay(records, tools, column=column, policy=policy, part=part, workers=1).to_bytes()


def _merge(*parts: bytes) -> bytes:
    return Summary().merge(*(Summary.from_bytes(part) for part in parts)).to_bytes()
