"""Records of one job id that stand in a log more than once.

`sacct -D` lists each run of a job that was requeued, and each size of one that was resized; dumps
that overlap list a job twice. See sacct(1), --duplicates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from wattline.scenario.twin.asked import AskedJob, Counter

RESIZED = "RESIZING"
SAME_RUN = "the same run stands in the log again: the last record counts"


def last_of_each(ids: Sequence[str], figures: Sequence[Sequence[float]], left_out: Counter,
                 ) -> list[int]:
    """Places of the records that count: two of one id and the same figures are of one run.

    They are told apart before they are read, as rules count the jobs that they fill in.
    """
    keys = [(job_id, *(None if math.isnan(each) else each for each in row))
            for job_id, row in zip(ids, zip(*figures, strict=True), strict=True)]
    last = {key: place for place, key in enumerate(keys)}
    for place, key in enumerate(keys):
        if last[key] != place:
            left_out.note(SAME_RUN, ids[place])
    return sorted(last.values())


def each_once(jobs: Sequence[AskedJob], filled: Counter) -> list[AskedJob]:
    """Every run of every job; runs before the last of a job get a number behind its id."""
    runs: dict[str, list[AskedJob]] = {}
    for job in jobs:
        runs.setdefault(job.job_id, []).append(job)
    found: list[AskedJob] = []
    for several in runs.values():
        found += several if len(several) == 1 else _runs(several, filled)
    return found


def _runs(records: list[AskedJob], filled: Counter) -> list[AskedJob]:
    kept: list[AskedJob] = []
    for record in sorted(records, key=_times):
        if kept and kept[-1].state == RESIZED:
            kept[-1] = _resized(kept[-1], record)
            filled.note("was resized while it ran: it keeps its first size", record.job_id)
        else:
            kept.append(record)
    for number, job in enumerate(kept[:-1], start=1):
        filled.note("ran more than once (requeued, or its id was used again): each run counts as a "
                    "job, submitted when the log says", job.job_id)
        kept[number - 1] = replace(job, job_id=f"{job.job_id}/{number}")
    return kept


def _times(job: AskedJob) -> tuple[float, float, float]:
    """One that still runs ends after all others."""
    return job.submit_s, job.start_s, math.inf if math.isnan(job.end_s) else job.end_s


def _resized(first: AskedJob, then: AskedJob) -> AskedJob:
    """One job from the first start to the last end."""
    lasts_s = then.start_s - first.start_s + then.run_s
    return replace(first, end_s=then.end_s, run_s=lasts_s, state=then.state, exit_ok=then.exit_ok)
