"""What benchmarks share: a stopwatch, and where public logs lie."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from pathlib import Path

LEAST_S = 0.05
"""Long enough beside a tick of 4 or 10 ms."""


def seconds(work: Callable[[], object]) -> float:
    """Wall seconds of one call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def cpu_seconds(work: Callable[[], object]) -> float:
    """Processor seconds of one call, its worker processes with it: other work does not count."""
    began = _used_s()
    work()
    return _used_s() - began


def each_cpu_seconds(work: Callable[[], object]) -> float:
    """Processor seconds of one of as many calls as the clock needs to tell them.

    It may count in ticks: Linux does so while a timer of processor time runs in the process.
    """
    calls, began = 0, time.process_time()
    while (used_s := time.process_time() - began) < LEAST_S or not calls:
        work()
        calls += 1
    return used_s / calls


def _used_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def best_seconds(work: Callable[[], object], repeats: int) -> float:
    """The best of some calls: what else the machine does can only add to it."""
    return min(seconds(work) for _ in range(repeats))


def public_log(name: str) -> Path | None:
    """A file of the folder that WATTLINE_DATA names (or ../shared/data), where it is there."""
    path = Path(os.environ.get("WATTLINE_DATA", "../shared/data")) / name
    return path if path.is_file() else None
