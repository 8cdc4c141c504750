"""Promises of orders and backfillings, judged from a finished run for the contract of policies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from wattline.model.jobs import IntArray, JobTable
from wattline.model.promises import QueueRule
from wattline.model.run import Run
from wattline.model.signal import FloatArray
from wattline.results.verify._base import Finding, Skipped
from wattline.results.verify.queue.rules import queue

Key = Callable[[JobTable, int, float], float]
"""A job's place in the queue at a time: the smaller goes first, ties by row."""


def submitted_first(jobs: JobTable, job: int, now_s: float) -> float:
    return float(jobs.submit_s[job])


def queue_findings(run: Run, keeps: str, key: Key) -> Iterator[str]:
    """Each time that the queue was not what a policy promises of it (`model.promises`).

    What a composition declares of watts holds too; one that cannot be judged is said.
    """
    declared = run.promises.queue
    rule = QueueRule("", keeps=keeps, power=declared.power if declared else "")
    keys = partial(_keys, key)
    for found in queue(run, rule, keys, greedy=False):
        if isinstance(found, Finding):
            yield found.sentence
        elif isinstance(found, Skipped):
            yield f"the queue cannot be judged: {found.why}"


def _keys(key: Key, run: Run, rows: IntArray, now_s: float) -> FloatArray:
    return np.array([key(run.jobs, row, now_s) for row in rows.tolist()], dtype=np.float64)


def delayed_jobs(run: Run, again: Callable[[JobTable], Run]) -> Iterator[str]:
    """Each job that started later than it would have by what was known when it arrived.

    What was known: the jobs up to it, and of those that had not ended, only what they asked for.
    `again` runs the same policy on such a table; until the job arrives, both runs are the same.
    """
    jobs, schedule = run.jobs, run.schedule
    for job in range(len(jobs)):
        kept = np.arange(job + 1)
        ended = schedule.end_s[kept] <= jobs.submit_s[job]
        known = jobs.take(kept)
        run_s = np.where(ended, known.run_s, known.requested_s)
        promised_s = again(known.with_columns(run_s=run_s)).schedule.start_s[job]
        if not schedule.start_s[job] <= promised_s:
            yield (f"job {jobs.job_id[job]} could count on {promised_s:g} s when it arrived and "
                   f"started at {schedule.start_s[job]:g} s")
