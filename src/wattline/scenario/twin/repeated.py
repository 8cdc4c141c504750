"""Records of one job id that stand in a log more than once.

`sacct -D` lists each run of a job that was requeued, and each size of one that was resized; dumps
that overlap list a job twice. See sacct(1), --duplicates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from wattline.scenario.twin.asked import Asked, Counter

RESIZED = "RESIZING"


def same_start(job: Asked) -> tuple[float, ...]:
    """A later dump of accounting may know more of a run than an earlier one."""
    return job.submit_s, job.start_s


def each_once(jobs: Sequence[Asked], left_out: Counter, filled: Counter,
              same: Callable[[Asked], Any] = same_start) -> list[Asked]:
    """Every run of every job once; runs before the last of a job get a number behind its id.

    Two records of an id are of one run where `same` is the same of both.
    """
    runs: dict[str, list[Asked]] = {}
    for job in jobs:
        runs.setdefault(job.job_id, []).append(job)
    found: list[Asked] = []
    for several in runs.values():
        found += several if len(several) == 1 else _runs(several, left_out, filled, same)
    return found


def _runs(records: list[Asked], left_out: Counter, filled: Counter,
          same: Callable[[Asked], Any]) -> list[Asked]:
    kept: list[Asked] = []
    for record in sorted(records, key=same):
        last = kept[-1] if kept else None
        if last is None or same(record) != same(last):
            if last is not None and last.state == RESIZED:
                kept[-1] = _resized(last, record)
                filled.note("was resized while it ran: it keeps its first size", record.job_id)
            else:
                kept.append(record)
            continue
        left_out.note("the same run stands in the log again: the last record counts",
                      record.job_id)
        kept[-1] = record
    for number, job in enumerate(kept[:-1], start=1):
        filled.note("ran more than once (requeued, or its id was used again): each run counts as a "
                    "job, submitted when the log says", job.job_id)
        kept[number - 1] = replace(job, job_id=f"{job.job_id}/{number}")
    return kept


def _resized(first: Asked, then: Asked) -> Asked:
    """One job from the first start to the last end."""
    lasts_s = then.start_s - first.start_s + then.run_s
    return replace(first, end_s=then.end_s, run_s=lasts_s, state=then.state, exit_ok=then.exit_ok)
