"""The next hours of a live machine: the books of its controller, copied and run ahead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from wattline.advice.futures.arrivals import (
    HINDSIGHT,
    LAST_WEEK,
    NONE,
    WEEK_S,
    said_of,
    weeks_in,
)
from wattline.advice.futures.candidates import NamedChanges
from wattline.advice.futures.run_times import FEW, RunTimes, asks_nothing
from wattline.advice.futures.running import CAP, Now
from wattline.books import Books, Submitted
from wattline.books.roll import Roll, figures
from wattline.controller.jobs_seen import JobsSeen, read_jobs
from wattline.controller.looking_in import KeptBooks, look_in
from wattline.controller.speaking import site_at
from wattline.engine.ahead import moment_of_books
from wattline.engine.prepare import Rules
from wattline.model.cap_value import cap_field, is_cap_value, read_cap_value
from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.signal import FloatArray, Signal
from wattline.model.units import counted
from wattline.scenario.bundled_logs import log_path
from wattline.scenario.in_python import Source
from wattline.scenario.load import changed, validate
from wattline.scenario.model import Scenario
from wattline.traces import read, trace_of

NO_LIMIT_S = 364 * 86400.0
"""A job that asked for so much has no limit: its request says nothing of how long it runs."""


@dataclass(frozen=True, eq=False)
class LiveNow:
    """A live machine, ready to be run ahead."""

    now: Now
    kept: KeptBooks

    def row_of(self, job: int | str) -> int:
        """The row of a job that waits, by its number as Slurm writes it."""
        moment, roll = self.now.moment, self.kept.books.roll
        labels = [str(roll.key(int(row))).partition(".")[0]
                  for row in moment.log_row[: moment.came]]
        found = [row for row, label in enumerate(labels) if label == str(job)]
        waiting = [row for row in found if moment.waiting[row]]
        if waiting:
            return waiting[-1]
        runs = any(moment.running[row] for row in found)
        raise InputError(f"job {job} does not wait: it runs" if runs else
                         f"the books have no job {job} that waits; "
                         f"{counted(int(moment.waiting.sum()), 'job')} do")


def stand_live(
    config: str | Path, horizon_s: float, arrivals: str = LAST_WEEK,
    history: Source | None = None, *, allow_code: bool = False,
) -> LiveNow:
    """The books of a site's controller as they are now, and what may be supposed of the rest."""
    site = site_at(config)
    if site.twin:
        raise InputError(f"{config}: jobs share nodes there, and Slurm's rules decide: ask the "
                         "twin (`wattline simulate` with its file), not policies along the axes")
    kept = look_in(Path(site.folder), allow_code=allow_code)
    if (kept.mode or site.mode) == "guard":
        raise InputError(f"{config}: in guard mode Slurm starts the jobs, and the books do not "
                         "know which wait")
    seen = read_jobs(kept.journals)
    books = kept.books
    roll = books.roll.copy()
    later, coming = _later(seen, books.now_s, horizon_s, arrivals)
    jobs, rules = _table(books, roll, later), _rules(kept, [job for _, job in later])
    done_s, guessed = _done_s(books, seen)
    times, drawn = _run_times(seen, roll, history)
    said = (*_standing(kept), coming, *drawn, *_unsaid(jobs, guessed))
    here = moment_of_books(books, jobs, rules, done_s)
    return LiveNow(Now(kept.plan, here, rules, books.now_s + horizon_s, times, said,
                       cap_told=True), kept)


def as_told(kept: KeptBooks) -> Scenario:
    """The scenario of now: the policy that decides, under the cap that was told last."""
    scenario = kept.plan.scenario
    told_w = float(kept.books.record.meter[0].told_cap_w)
    fields = scenario.model_dump(mode="json", exclude_none=True)
    cap = cap_field(told_w) if told_w < np.inf else "none"
    return validate(changed(fields, {CAP: cap}), "site")


def in_watts(choices: Iterable[NamedChanges], books: Books) -> list[NamedChanges]:
    """The same choices with caps in watts: per cent are of rated power."""
    def watts(cap: Any) -> Any:
        if not is_cap_value(cap):
            return cap
        return cap_field(read_cap_value(cap).watts(books.machine.power_w_max))

    return [replace(choice, changes={name: watts(value) if name == CAP else value
                                     for name, value in choice.changes.items()})
            for choice in choices]


def _later(
    seen: JobsSeen, now_s: float, horizon_s: float, arrivals: str
) -> tuple[list[tuple[float, Submitted]], str]:
    """Jobs that may come, with their times, and what is assumed of it."""
    if arrivals == HINDSIGHT:
        raise InputError("nobody knows yet which jobs come to a live machine; arrivals are "
                         f"{LAST_WEEK} or {NONE}")
    if arrivals == NONE:
        return [], "no further jobs come"
    if arrivals != LAST_WEEK:
        raise InputError(f"'{arrivals}' says nothing of jobs to come; it is {LAST_WEEK} or {NONE}")
    first_s = now_s - WEEK_S
    if seen.since_s > first_s:
        return [], "no further jobs come: the journals do not reach back a week"
    weeks = weeks_in(horizon_s)
    last = [(time_s, job) for time_s, job in seen.came  # what takes a place has come before
            if first_s < time_s <= now_s and job.place is None]
    again = [(time_s + week * WEEK_S, job) for week in range(1, weeks + 1) for time_s, job in last
             if time_s + week * WEEK_S <= now_s + horizon_s]
    return [(time_s, replace(job, job=f"again {row}", after=None))
            for row, (time_s, job) in enumerate(again)], said_of(weeks)


def _table(books: Books, roll: Roll, later: list[tuple[float, Submitted]]) -> JobTable:
    """The jobs of the books, then those to come."""
    count = len(roll)
    asked = books.state.jobs[:count]
    cores = books.machine.groups[0].node_class.cores
    jobs = [*roll.jobs, *(job for _, job in later)]
    said = roll.table(jobs, books.now_s)
    requested_s = np.concatenate([asked.requested_s, said.requested_s[count:]])
    # A submission of before is never told after one of later: rows are in its order, but for a job
    # that has taken the place of an earlier one, which here comes with the last before it.
    came_s = np.maximum.accumulate(asked.submit_s)
    return said.with_columns(
        submit_s=np.concatenate([came_s, [time_s for time_s, _ in later]]),
        requested_s=requested_s, run_s=requested_s,
        procs=[job.procs or job.units * cores for job in jobs],
        after_job=np.concatenate([asked.after, said.after_job[count:]]))


def _rules(kept: KeptBooks, later: list[Submitted]) -> Rules:
    """Those of the scenario, with the cap that was told and what jobs say of themselves."""
    books = kept.books
    told_w = float(books.record.meter[0].told_cap_w)
    return replace(
        kept.plan.rules, reservations=(), user_share=(),
        logged=figures([*books.roll.jobs, *later]),
        cap_w=Signal(np.array([books.now_s]), np.array([told_w]), "W") if told_w < np.inf else None)


def _done_s(books: Books, seen: JobsSeen) -> tuple[FloatArray, int]:
    """The work that each job has done, and of how many the journals do not say it."""
    seen.work.cut(books.now_s)
    count = len(books.roll)
    live = books.state.live[:count]
    done_s, guessed = np.zeros(count), 0
    for row in np.flatnonzero(~np.isnan(live.start_s)):
        job = books.roll.key(int(row))
        if job in seen.work.begun_s:
            done_s[row] = seen.work.done_s(job)
        else:
            done_s[row] = (books.now_s - live.start_s[row]) * live.rate[row]
            guessed += 1
    return done_s, guessed


def _run_times(
    seen: JobsSeen, roll: Roll, history: Source | None
) -> tuple[RunTimes, tuple[str, ...]]:
    """What run times are drawn from, and what is to be said of it."""
    known = roll.codes["user"]
    rows = [(roll.code(job, "user"), asked_s, run_s) for job, asked_s, run_s in seen.ended
            if asked_s < NO_LIMIT_S]
    own, unasked = len(rows), 0
    if history is not None:
        more, unasked = _logged(history, known)
        rows += more
    times = RunTimes(JobTable.build(
        submit_s=np.zeros(len(rows)), procs=np.ones(len(rows), dtype=int),
        user=[row[0] for row in rows], requested_s=[row[1] for row in rows],
        run_s=[row[2] for row in rows]))
    left_out = (f"{counted(unasked, 'job')} of the log without a requested time say nothing of how "
                "requested and true times differ: they are left out",) if unasked else ()
    if not times.count:
        return times, ("run times are as requested: no job was seen to its end", *left_out)
    said = f"run times are drawn from {counted(own, 'job')} that ended in the journals"
    if history is not None:
        said += f", and {counted(len(rows) - own, 'job')} of the log"
    few = (f"{counted(times.count, 'job')} are few to draw from: name a log of the site "
           "(--history)",) if times.count < FEW else ()
    return times, (said, *few, *left_out)


def _logged(
    history: Source, known: dict[str, int]
) -> tuple[list[tuple[int, float, float]], int]:
    """Jobs of a log that have a requested time, and how many have none; a user of the same name is
    the same one."""
    trace = read(log_path(history)) if isinstance(history, (str, Path)) else trace_of(history)
    unasked = asks_nothing(trace.jobs, trace.logged)
    jobs = trace.jobs.take(~unasked)
    codes = {int(user): known.setdefault(jobs.name_of("user", int(user)), len(known))
             if user >= 0 else -1 for user in np.unique(jobs.user)}
    return [(codes[int(user)], float(asked_s), float(run_s)) for user, asked_s, run_s
            in zip(jobs.user, jobs.requested_s, jobs.run_s, strict=True)], int(unasked.sum())


def _standing(kept: KeptBooks) -> tuple[str, ...]:
    if kept.running:
        return ()
    when = datetime.fromtimestamp(kept.books.now_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return (f"no controller runs: the books stand at {when}, and what came later is not known",)


def _unsaid(jobs: JobTable, guessed: int) -> tuple[str, ...]:
    found: list[Any] = []
    if guessed:
        found.append(f"how fast {counted(guessed, 'job')} ran so far the journals do not say: they "
                     "are taken to have run as they do now")
    endless = int((jobs.requested_s >= NO_LIMIT_S).sum())
    if endless:
        found.append(f"{counted(endless, 'job')} asked for no limit of time: how long they run is "
                     "a guess from a year's request")
    return tuple(found)
