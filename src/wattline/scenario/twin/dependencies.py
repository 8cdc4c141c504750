"""The jobs that jobs of a log wait for, by their rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from wattline.scenario.twin.asked import ELIGIBLE, AskedJob, Counter
from wattline.shared_nodes.machine import IntArray
from wattline.shared_nodes.requests import AFTER, AFTERANY, AFTERNOTOK, AFTEROK, Dependencies
from wattline.shared_nodes.requests import SINGLETON as ALONE
from wattline.site.dependency import SINGLETON, Condition

KINDS = {"afterany": AFTERANY, "afterok": AFTEROK, "afternotok": AFTERNOTOK, "after": AFTER,
         "aftercorr": AFTEROK, "afterburstbuffer": AFTERANY, SINGLETON: ALONE}
NOT_IN_LOG = "waits for a job that is not in the log: not held up by it"
AGAINST_LOG = "ran in the log though what it waits for ended otherwise: not held up by it"
SUBMITTED_AFTER = "waits for a job that was submitted after it: not held up by it"
_Row = tuple[int, int, float, list[int]]
"""The job that waits, the kind, the delay, and the jobs that it waits for."""


def dependencies_of(
    jobs: Sequence[AskedJob], kill_invalid: bool, filled: Counter, unused: Counter
) -> Dependencies | None:
    """None where no job waits for another."""
    if not any(job.dependency is not None and job.dependency.conditions for job in jobs):
        return None
    finder = _Finder(jobs, filled, unused)
    rows = [row for number, job in enumerate(jobs) if job.dependency is not None
            for row in finder.rows(number, job)]
    listed = [other for *_, others in rows for other in others]
    return Dependencies(
        job=np.array([row[0] for row in rows], dtype=np.int64),
        kind=np.array([row[1] for row in rows], dtype=np.int64),
        delay_s=np.array([row[2] for row in rows], dtype=np.float64),
        first=np.array([0, *accumulate(len(row[3]) for row in rows)], dtype=np.int64),
        awaited=np.array(listed, dtype=np.int64),
        any_of=np.array([job.dependency is not None and job.dependency.any_of for job in jobs]),
        namesakes=_namesakes(jobs, [row[0] for row in rows if row[1] == ALONE]),
        kill=np.array([kill_invalid if job.kill_invalid is None else job.kill_invalid
                       for job in jobs], dtype=np.bool_))


class _Finder:
    """Jobs of a log by the names that conditions give them."""

    def __init__(self, jobs: Sequence[AskedJob], filled: Counter, unused: Counter) -> None:
        self.jobs, self.filled, self.unused = jobs, filled, unused
        self.runs_of: dict[str, list[int]] = {}
        """In order of submission: the first is when a job came, before it was requeued."""
        self.tasks_of: dict[str, dict[str, None]] = {}
        for row, job in enumerate(jobs):
            self.runs_of.setdefault(_whole_id(job), []).append(row)
            if "+" in job.job_id:  # who waits for a heterogeneous job waits for all of its parts
                self.tasks_of.setdefault(job.job_id.partition("+")[0], {})[_whole_id(job)] = None
            if job.array:
                self.tasks_of.setdefault(job.array, {})[_whole_id(job)] = None

    def rows(self, number: int, job: AskedJob) -> list[_Row]:
        """The conditions that can be followed; where one is not and is enough, none."""
        assert job.dependency is not None
        found = []
        lifted = False
        for condition in job.dependency.conditions:
            row = self._row(number, job, condition)
            if row is None:
                lifted = True
            else:
                found.append(row)
        if lifted and job.eligible_s > 0:
            job.begin_s = job.eligible_s
            job.let_go = True
            self.filled.note(ELIGIBLE, job.job_id)
        return [] if lifted and job.dependency.any_of else found

    def _row(self, number: int, job: AskedJob, condition: Condition) -> _Row | None:
        if condition.kind == "expand":
            self.unused.note("its dependency 'expand' (to enlarge a running job): it runs for "
                             "itself", job.job_id)
            return None
        if condition.kind == "afterburstbuffer":
            self.unused.note("its dependency 'afterburstbuffer': burst buffers are not modelled, "
                             "so it waits for the end of the job alone", job.job_id)
        if condition.kind == SINGLETON:
            if not job.name:
                self.filled.note("is to run alone among jobs of its name, and the log has no "
                                 "JobName: not held up", job.job_id)
                return None
            return number, ALONE, 0.0, []
        names = self._named(job, condition)
        came = self.runs_of[_whole_id(job)][0]
        before = [name for name in names if self.runs_of[name][0] < came]
        if len(before) < max(1, len(names)):
            self.filled.note(SUBMITTED_AFTER if names else NOT_IN_LOG, job.job_id)
        if not before:
            return None
        others = [self._run(name, job) for name in before]
        kind = KINDS[condition.kind]
        well = all(self.jobs[row].exit_ok for row in others)
        if job.start_s == job.start_s and ((kind == AFTEROK and not well)
                                           or (kind == AFTERNOTOK and well)):
            self.filled.note(AGAINST_LOG, job.job_id)
            return None
        return number, kind, condition.delay_s, others

    def _named(self, job: AskedJob, condition: Condition) -> list[str]:
        """One job, the task that has its own number (aftercorr), or all tasks of an array."""
        name = condition.job_id.removesuffix("_*")
        if condition.kind == "aftercorr" and job.array:
            same = f"{name}_{_whole_id(job).partition('_')[2]}"
            name = same if same in self.runs_of else name
        return [name] if name in self.runs_of else list(self.tasks_of.get(name, ()))

    def _run(self, name: str, job: AskedJob) -> int:
        """Of a job that ran several times, the last run that began before this job did."""
        runs = self.runs_of[name]
        return next((row for row in reversed(runs) if self.jobs[row].start_s <= job.start_s),
                    runs[-1])


def _whole_id(job: AskedJob) -> str:
    """The id without the number of a run."""
    return job.job_id.partition("/")[0]


def _namesakes(jobs: Sequence[AskedJob], alone: Sequence[int]) -> IntArray:
    """Jobs of one user and name have one number, where one of them is to run alone."""
    number: dict[tuple[str, str], int] = {}
    for row in alone:
        number.setdefault((jobs[row].user, jobs[row].name), len(number))
    return np.array([number.get((job.user, job.name), -1) for job in jobs], dtype=np.int64)
