"""Where a framework should be tested, a missing one fails the test instead of skipping it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

NEEDED = {
    "test_openai_agents": ["agents"],
    "test_langchain": ["langchain", "langchain_openai"],
    "test_pydantic_ai": ["pydantic_ai"],
    "test_replay": ["pyarrow", "polars", "duckdb"],
    "test_scale": ["pyspark", "ray", "pyarrow"],
}

for name in NEEDED.get(os.environ.get("CALLWRIGHT_FRAMEWORK", ""), []):
    __import__(name)
