"""What benchmarks share: a stopwatch, and where public logs lie."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def seconds(work: Callable[[], object]) -> float:
    """Wall seconds of one call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def best_seconds(work: Callable[[], object], repeats: int) -> float:
    """The best of some calls: what else the machine does can only add to it."""
    return min(seconds(work) for _ in range(repeats))


def public_log(name: str) -> Path | None:
    """A file of the folder that WATTLINE_DATA names (or ../shared/data), where it is there."""
    path = Path(os.environ.get("WATTLINE_DATA", "../shared/data")) / name
    return path if path.is_file() else None
