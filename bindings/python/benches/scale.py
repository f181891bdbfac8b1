"""What a terabyte of log costs: the program, this package on one thread, Ray and Spark, on the same JSON Lines.

    python benches/scale.py TOOLS.jsonl CALLS.jsonl… [--engines ray spark spark_files] [--megabytes 60]

A line of tools has `ref` and `input_schema`, a line of calls `schema_ref` and `raw_arguments` as text; six percent of
the calls are taken from those that fail. The cost is the CPU time of all processes involved, so other work on the
machine matters little. Needs a release build, psutil, and the named engines (Spark with pandas, pyarrow and Java).
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

import callwright

#: How many parts a log is cut into, by session.
PARTS = 8


def cpu_seconds() -> dict[int, float]:
    """CPU time of this process and all its children, by process; a child that has exited counts towards its parent."""
    found = {}
    me = psutil.Process()
    for process in [me, *me.children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        found[process.pid] = times.user + times.system + times.children_user + times.children_system
    return found


def cost(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """CPU seconds, wall-clock seconds, and the result."""
    while True:
        before, begin = cpu_seconds(), time.perf_counter()
        result = work()
        clock, after = time.perf_counter() - begin, cpu_seconds()
        # Ray ends idle workers without waiting for them, and their CPU time is lost.
        if before.keys() <= after.keys():
            return sum(after.values()) - sum(before.values()), clock, result


def write_log(folder: Path, tools: str, calls: list[dict[str, Any]], megabytes: int, events: bool) -> list[Path]:
    """A log of calls in parts, as call lines or as a gate's events."""
    chance = random.Random(1)
    good = [call for call in calls if call["valid"]]
    bad = [call for call in calls if not call["valid"]]
    paths = [folder / f"{'events' if events else 'calls'}-{part}.jsonl" for part in range(PARTS)]
    for part, path in enumerate(paths):
        gate = callwright.Gate(tools, events=str(path), event_values="all", keep_output=True) if events else None
        with path.open("a", encoding="utf-8") as file:
            for number in itertools.count():
                if number % 256 == 0 and (path.stat().st_size if events else file.tell()) > megabytes * 1e6 / PARTS:
                    break
                call = chance.choice(bad if chance.random() < 0.06 else good)
                place = {"session": f"{part}-{number // 20}", "turn": 0, "round": number % 20}
                if gate is None:
                    record = {"tool": call["schema_ref"], "arguments": call["raw_arguments"], **place}
                    file.write(json.dumps(record) + "\n")
                else:
                    gate.open(call["schema_ref"], call["raw_arguments"], **place).close("The result of the tool. " * 3)
                    if number % 256 == 255:
                        gate.flush_events(60)
    return paths


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("tools")
    parser.add_argument("calls", nargs="+")
    parser.add_argument("--engines", nargs="*", default=[], choices=list(ENGINES))
    parser.add_argument("--megabytes", type=int, default=60)
    options = parser.parse_args()
    read = [json.loads(line) for path in options.calls for line in Path(path).read_text(encoding="utf-8").splitlines()]
    wanted = {call.get("schema_ref") for call in read}
    named = {}
    for line in Path(options.tools).read_text(encoding="utf-8").splitlines():
        tool = json.loads(line)
        if tool["ref"] in wanted:
            named[tool["ref"]] = tool["input_schema"]
    calls = [call for call in read if call.get("schema_ref") in named and isinstance(call.get("raw_arguments"), str)]
    tools = json.dumps([{"name": ref, "inputSchema": schema} for ref, schema in named.items()])
    engines = [(name, ENGINES[name]()) for name in options.engines]
    for events in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            paths = write_log(Path(folder), tools, calls, options.megabytes, events)
            size = sum(path.stat().st_size for path in paths)
            count = sum(path.read_bytes().count(b"\n") for path in paths)
            kind = "events" if events else "call lines"
            print(f"{size / 1e6:.0f} MB of {kind} of {size // count} bytes, {len(named)} tools")
            tool_file = Path(folder) / "tools.json"
            tool_file.write_text(tools, encoding="utf-8")
            program = [sys.executable, "-m", "callwright", "replay", "--format", "json", "--tools", str(tool_file)]
            ways: dict[str, Callable[[], Any]] = {
                "the program": lambda: subprocess.run([*program, *map(str, paths)], stdout=subprocess.DEVNULL),
                "callwright.replay, one thread": lambda: callwright.replay(paths, tools, workers=1),
            }
            for name, engine in engines:
                ways[name] = lambda engine=engine: engine(paths, tools)
            base = None
            for name, way in ways.items():
                cpu, clock, summary = min((cost(way) for _ in range(3)), key=lambda one: one[0])
                base = base or cpu
                hours = cpu / size * 1e12 / 3600
                packed = f", summary {len(summary.to_bytes()) / 1e6:.2f} MB" if isinstance(summary, callwright.Summary) else ""
                print(f"  {size / cpu / 1e6:5.1f} MB/s of a core, {hours:5.1f} vCPU-hours per TB, {base / cpu:4.0%} of the program ({clock:.1f} s){packed}  {name}")
    for _, engine in engines:
        engine(None, None)


def ray() -> Callable[[Any, Any], Any]:
    import ray as engine

    from callwright import ray as scale

    engine.init(num_cpus=2, include_dashboard=False, log_to_driver=False)

    def run(paths: Any, tools: Any) -> Any:
        return scale.replay(paths, tools) if paths else engine.shutdown()

    return run


def spark(files: bool) -> Callable[[Any, Any], Any]:
    from pyspark.sql import SparkSession, functions

    from callwright import spark as scale

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    session = builder.config("spark.sql.shuffle.partitions", str(PARTS)).getOrCreate()

    def run(paths: Any, tools: Any) -> Any:
        if not paths:
            return session.stop()
        if files:
            return scale.replay_files(session, paths, tools)
        frame = session.read.text([str(path) for path in paths])
        return scale.replay(frame, tools, session=functions.get_json_object("value", "$.session"))

    return run


ENGINES: dict[str, Callable[[], Callable[[Any, Any], Any]]] = {
    "ray": ray,
    "spark": lambda: spark(files=False),
    "spark_files": lambda: spark(files=True),
}

if __name__ == "__main__":
    main()
