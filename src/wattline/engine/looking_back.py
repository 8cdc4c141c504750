"""What a run ahead is judged by, job by job, in one pass over what became of its jobs."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from wattline.model.jobs import IntArray
from wattline.model.kernel import kernel
from wattline.model.signal import FloatArray


class Span(NamedTuple):
    """From when to when, and the least time that a job counts as held."""

    now_s: float
    until_s: float
    bound_s: float


class Fared(NamedTuple):
    """Columns that are filled: of jobs that had not started, waits and slowdowns one after the
    other, refused ones left out; of all jobs, unit-seconds in use."""

    wait_s: FloatArray
    slowdown: FloatArray
    unit_s: FloatArray


@kernel
def look_back(
    start_s: FloatArray, end_s: FloatArray, refused: Any, waits: IntArray, submit_s: FloatArray,
    run_s: FloatArray, units: FloatArray, span: Span, fared: Fared,
) -> tuple[int, int]:
    """Fill the columns; how many were neither started nor refused before, and how many still wait.

    Of jobs that have not started, what they waited by the end. One that is not over counts with the
    run time that it has in this future: it is the same whatever the policy has made of the job.
    """
    for job in range(start_s.size):
        fared.unit_s[job] = units[job] * _used_s(start_s[job], end_s[job], span)
    taken = 0
    waiting = 0
    for place in range(waits.size):
        job = waits[place]
        if refused[job]:
            continue
        idle = math.isnan(start_s[job])
        waiting += int(idle)
        wait_s = (span.until_s if idle else start_s[job]) - submit_s[place]
        is_open = math.isnan(end_s[job])
        held_s = run_s[job] if is_open else end_s[job] - start_s[job]
        held_s = _at_least(held_s, span.bound_s)
        fared.wait_s[taken] = wait_s
        fared.slowdown[taken] = _at_least((wait_s + held_s) / held_s, 1.0)
        taken += 1
    return taken, waiting


@kernel
def _at_least(value: float, least: float) -> float:
    """The larger of the two; what is no number stays none."""
    return least if value < least else value


@kernel
def _used_s(start_s: float, end_s: float, span: Span) -> float:
    if math.isnan(start_s):
        return 0.0
    used_s = (span.until_s if math.isnan(end_s) else end_s) - max(start_s, span.now_s)
    return _at_least(used_s, 0.0)
