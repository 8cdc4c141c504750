"""A bare scheduling kernel, queue and completions only: the yardstick for the engine's cost.

It serves jobs strictly in order, knows no power, no log and no backfilling, and is as short as a
simulator can be. It is not a benchmark of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.jobs import JobTable
from wattline.model.kernel import kernel


def run_bare(jobs: JobTable, units: int) -> Any:
    """Start times of all jobs, first come, first served."""
    start_s = np.zeros(len(jobs))
    heap_s = np.zeros(len(jobs) + 1)
    heap_units = np.zeros(len(jobs) + 1, dtype=np.int64)
    serve(jobs.submit_s, jobs.run_s, jobs.procs, units, start_s, heap_s, heap_units)
    return start_s


@kernel
def serve(
    submit_s: Any, run_s: Any, procs: Any, units: int, start_s: Any, heap_s: Any, heap_units: Any
) -> None:
    """Fill `start_s`; the heap holds when running jobs give back how many units."""
    free = units
    size = 0
    now_s = 0.0
    for job in range(submit_s.size):
        now_s = max(now_s, submit_s[job])
        while size > 0 and (heap_s[0] <= now_s or free < procs[job]):
            now_s = max(now_s, heap_s[0])
            free += heap_units[0]
            size -= 1
            _pop(heap_s, heap_units, size)
        start_s[job] = now_s
        free -= procs[job]
        _push(heap_s, heap_units, size, now_s + run_s[job], procs[job])
        size += 1


@kernel
def _push(heap_s: Any, heap_units: Any, size: int, time_s: float, units: int) -> None:
    index = size
    while index > 0 and heap_s[(index - 1) // 2] > time_s:
        heap_s[index] = heap_s[(index - 1) // 2]
        heap_units[index] = heap_units[(index - 1) // 2]
        index = (index - 1) // 2
    heap_s[index] = time_s
    heap_units[index] = units


@kernel
def _pop(heap_s: Any, heap_units: Any, size: int) -> None:
    """Fill the hole at the top with the entry at `size`."""
    time_s = heap_s[size]
    units = heap_units[size]
    index = 0
    while True:
        child = 2 * index + 1
        if child >= size:
            break
        if child + 1 < size and heap_s[child + 1] < heap_s[child]:
            child += 1
        if heap_s[child] >= time_s:
            break
        heap_s[index] = heap_s[child]
        heap_units[index] = heap_units[child]
        index = child
    heap_s[index] = time_s
    heap_units[index] = units
