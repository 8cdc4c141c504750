"""The jobs of a run as pages: chosen, sorted and cut by columns, objects made for a page only."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.analysis.summary import time_text
from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.run import Run
from wattline.model.units import fold_hosts, format_power
from wattline.web.sources import run_words
from wattline.web.sources.rates import Rates
from wattline.web.sources.run_index import LATER, QUEUED, SAID, Moment, RunIndex
from wattline.web.sources.run_joules import NOBODY
from wattline.web.sources.run_profile import profile
from wattline.web.sources.shape import (
    Alternative,
    EnergyPart,
    JobDetail,
    JobPage,
    JobQuestion,
    JobRow,
    NoSuchJob,
)

NAMED = {"user": "user", "account": "group", "application": "application"}
"""What is asked for, and the column of codes that has it."""
NO_LEVELS = ("no other configuration of it is known: the run's scenario names no levels of "
             "frequency ([power] levels)")
SAME = 0.001
"""Times that differ by less are the same."""
MODELLED = "by the simulation's model of power; no meter was there"
NO_SPREAD = ("the run was simulated once and without noise: how far a real machine would be off is "
             "not known")
NO_RANGES = ("how far these may be off is not known: time and watts follow the frequency by the "
             "scenario's own exponents ([power] alpha, beta, core_share), which were not fitted to "
             "this job")


def page(index: RunIndex, moment: Moment, asked: JobQuestion) -> JobPage:
    """The jobs that were submitted by now, chosen and sorted as asked."""
    upto = int(np.searchsorted(index.run.jobs.submit_s, moment.time_s, side="right"))
    chosen = np.flatnonzero(_chosen(index, moment, asked, upto))
    key = _sort_key(index, moment, asked.sort)[:upto][chosen]
    rows = chosen[_sorted(key, asked.descending)]
    return _page(index, moment, rows, asked.offset, asked.limit)


def queue(index: RunIndex, moment: Moment, offset: int, limit: int) -> JobPage:
    """Those that wait, in order of submission."""
    return _page(index, moment, moment.waiting, offset, limit)


def detail(index: RunIndex, moment: Moment, job: str, rates: Rates) -> JobDetail:
    run = index.run
    row = _row(index, moment, job)
    shown = _rows(index, moment, np.array([row]))[0]
    drawn, quality = profile(index, row, moment.time_s)
    energy_j = float(index.energy_at(moment, np.array([row]))[0])
    used = energy_j, float(index.start_s[row]), min(float(index.end_s[row]), moment.time_s)
    alternatives = _alternatives(index, row)
    if alternatives and shown.end_s is not None and shown.elapsed_s:
        alternatives.insert(0, Alternative(
            shown.nodes, None, None, None, _speed(index, row), shown.elapsed_s, energy_j,
            chosen=True, basis="simulated"))
    missing = rates.missing() | ({"alternative_ranges": NO_RANGES} if alternatives else {
        "alternatives": NO_LEVELS}) | ({"energy_range": NO_SPREAD} if energy_j else {})
    return JobDetail(
        job=shown, profile=drawn, energy_j=energy_j, cost=rates.cost(*used),
        carbon_g=rates.grams(*used), coverage=None, quality=[quality],
        configuration=_configuration(run, row), alternatives=alternatives,
        explanation=_explanation(index, moment, row, shown), node_names=_hosts(run, row, shown),
        assumptions=["energy is that of the simulation: nothing was measured"], missing=missing,
        energy_parts=[EnergyPart("modelled", 1.0, MODELLED)] if energy_j else [])


def users(index: RunIndex, time_s: float, jobs: Collection[str]) -> dict[str, str | None]:
    """The users of jobs by their numbers, as far as they were submitted by a time."""
    wanted = [int(job) for job in jobs if job.isascii() and job.isdecimal() and len(job) < 19]
    table = index.run.jobs
    rows = np.flatnonzero(np.isin(table.job_id, wanted) & (table.submit_s <= time_s))
    return {str(table.job_id[row]): _name(index.run, "user", row) for row in rows.tolist()}


def _codes_of(run: Run, column: str, name: str) -> list[int]:
    """The codes that stand for a name."""
    codes = np.unique(getattr(run.jobs, NAMED[column])).tolist()
    return [code for code in codes if name == (
        run.jobs.name_of(NAMED[column], code) if code >= 0 else NOBODY)]


def _ranks(run: Run, column: str) -> IntArray:
    """By job the place of its name in the alphabet; jobs without one come first."""
    known, place = np.unique(getattr(run.jobs, NAMED[column]), return_inverse=True)
    words = [run.jobs.name_of(NAMED[column], int(code)) if code >= 0 else "" for code in known]
    return np.argsort(np.argsort(np.array(words)))[place]


def _chosen(index: RunIndex, moment: Moment, asked: JobQuestion,
            upto: int) -> npt.NDArray[np.bool_]:
    found = np.ones(upto, dtype=np.bool_)
    for column in ("user", "account"):
        wanted = getattr(asked, column)
        if wanted:
            codes = _codes_of(index.run, column, wanted)
            found &= np.isin(getattr(index.run.jobs, NAMED[column])[:upto], codes)
    if asked.state:
        wanted = asked.state.upper()
        if wanted not in SAID:
            raise InputError(f"there is no state '{asked.state[:40]}'; there are: "
                             f"{', '.join(SAID[:-1])}")
        found &= index.state_codes(moment.time_s, slice(upto)) == SAID.index(wanted)
    if asked.search:
        found &= _matching(index, asked.search)[:upto]
    return found


def _matching(index: RunIndex, search: str) -> npt.NDArray[np.bool_]:
    """Jobs whose number begins with the text, or whose user, account or application has it."""
    run, text = index.run, search.strip().casefold()
    found = (np.char.startswith(index.ids, text) if text.isdecimal()
             else np.zeros(len(run.jobs), dtype=np.bool_))
    for column in NAMED.values():
        codes = getattr(run.jobs, column)
        hits = [code for code in np.unique(codes).tolist() if code >= 0
                and text in run.jobs.name_of(column, code).casefold()]
        found |= np.isin(codes, hits)
    return np.asarray(found, dtype=np.bool_)


SORTS = ("id", "user", "account", "application", "state", "nodes", "submit_s", "start_s", "end_s",
         "wait_s", "elapsed_s", "requested_s", "power_w", "energy_j")


def _sort_key(index: RunIndex, moment: Moment, sort: str) -> npt.NDArray[Any]:
    run = index.run
    every = np.arange(len(run.jobs))
    if sort not in SORTS:
        raise InputError(f"jobs cannot be sorted by '{sort}'; there are: {', '.join(SORTS)}")
    begun = index.start_s <= moment.time_s
    if sort == "wait_s":
        until_s = np.minimum(index.start_s, moment.time_s)
        return np.asarray(until_s - run.jobs.submit_s)
    if sort == "elapsed_s":
        until_s = np.minimum(index.end_s, moment.time_s)
        return np.where(begun, until_s - np.where(begun, index.start_s, 0.0), 0.0)
    if sort in NAMED:
        return _ranks(run, sort)
    columns: dict[str, Any] = {
        "id": lambda: run.jobs.job_id, "state": lambda: index.state_codes(moment.time_s),
        "nodes": lambda: index.units_of, "submit_s": lambda: run.jobs.submit_s,
        "start_s": lambda: np.where(begun, index.start_s, np.inf),
        "end_s": lambda: np.where(index.end_s <= moment.time_s, index.end_s, np.inf),
        "requested_s": lambda: run.jobs.requested_s,
        "power_w": lambda: index.mean_at(moment, every),
        "energy_j": lambda: index.energy_at(moment, every)}
    return np.asarray(columns[sort]())


def _sorted(key: npt.NDArray[Any], descending: bool) -> IntArray:
    order = np.argsort(key, kind="stable")
    return order[::-1] if descending else order


def _page(index: RunIndex, moment: Moment, rows: IntArray, offset: int, limit: int) -> JobPage:
    return JobPage(moment.time_s - index.run.start_s, len(rows), offset,
                   _rows(index, moment, rows[offset : offset + limit]))


def _rows(index: RunIndex, moment: Moment, rows: IntArray) -> list[JobRow]:
    run, jobs = index.run, index.run.jobs
    states = index.state_codes(moment.time_s, rows)
    energy_j, mean_w = index.energy_at(moment, rows), index.mean_at(moment, rows)
    found = []
    for row, joules, watts, code in zip(rows.tolist(), energy_j.tolist(), mean_w.tolist(),
                                        states.tolist(), strict=True):
        state = SAID[code]
        begun, over = index.start_s[row] <= moment.time_s, index.end_s[row] <= moment.time_s
        start_s = float(index.start_s[row]) if begun else None
        end_s = float(index.end_s[row]) if over else None
        until_s = moment.time_s if start_s is None else start_s
        found.append(JobRow(
            id=str(jobs.job_id[row]), user=_name(run, "user", row),
            account=_name(run, "group", row), application=_name(run, "application", row),
            state=state, nodes=int(index.units_of[row]),
            submit_s=float(jobs.submit_s[row]) - run.start_s,
            start_s=None if start_s is None else start_s - run.start_s,
            end_s=None if end_s is None else end_s - run.start_s,
            wait_s=until_s - float(jobs.submit_s[row]),
            elapsed_s=None if start_s is None else
            (moment.time_s if end_s is None else end_s) - start_s,
            requested_s=float(jobs.requested_s[row]),
            power_w=watts if begun else None,
            energy_j=joules if begun else None,
            why=run_words.why_waiting(index, moment, row) if state == QUEUED else None))
    return found


def _name(run: Run, column: str, row: int) -> str | None:
    code = int(getattr(run.jobs, column)[row])
    return run.jobs.name_of(column, code) if code >= 0 else None


def _row(index: RunIndex, moment: Moment, job: str) -> int:
    """The row of a job by its number; the last of its lives that was submitted by now."""
    found = np.flatnonzero(index.run.jobs.job_id == int(job)) if job.isascii() and (
        job.isdecimal() and len(job) < 19) else np.zeros(0, np.int64)
    found = found[index.run.jobs.submit_s[found] <= moment.time_s]
    if not found.size:
        raise NoSuchJob(f"there is no job {job[:40]} by now; /api/jobs lists those there are")
    return int(found[-1])


def _configuration(run: Run, row: int) -> str:
    number = int(run.schedule.configuration[row])
    if number == 0 or not run.configurations:
        return "as requested"
    return ", ".join(f"{name} {column[number - 1]}" for name, column in run.configurations.items())


def _alternatives(index: RunIndex, row: int) -> list[Alternative]:
    """What the job would take at each speed that the scenario's processors have."""
    run = index.run
    power: Any = run.scenario.get("power") or {}
    levels = power.get("levels") or ()
    units = int(index.units_of[row])
    full_w = float(index.job_full_w[row])
    alpha, beta, core = (float(power.get(name, usual)) for name, usual in (
        ("alpha", 2.0), ("beta", 0.5), ("core_share", 0.65)))
    found = []
    for level in map(float, levels):
        time_s = float(run.jobs.run_s[row]) / level**beta
        watts = full_w * (core * level**alpha + 1.0 - core)
        found.append(Alternative(units, None, None, None, level, time_s, watts * time_s))
    return found


def _explanation(index: RunIndex, moment: Moment, row: int, shown: JobRow) -> str:
    if shown.state == QUEUED:
        return f"It waits for {run_words.why_waiting(index, moment, row)}."
    if shown.state == LATER or shown.start_s is None:
        return "It was refused at its submission: it could never start on this machine."
    said = (f"It waited {time_text(shown.wait_s or 0.0)} and drew "
            f"{format_power(shown.power_w or 0.0)} in the mean on {shown.nodes:,} "
            f"node{'' if shown.nodes == 1 else 's'}")
    longer = _longer(index, row)
    if longer <= SAME:
        return f"{said}, at full speed."
    why = "to keep the cap it" if index.run.cap_w is not None else "it"
    return f"{said}; {why} ran {longer:.0%} longer than its log says."


def _longer(index: RunIndex, row: int) -> float:
    """By which part a job ran longer than its log says; below 0 where it was ended early."""
    full_s, took_s = float(index.run.jobs.run_s[row]), float(index.end_s[row] - index.start_s[row])
    return took_s / full_s - 1.0 if full_s > 0 else 0.0


def _speed(index: RunIndex, row: int) -> float | None:
    """At which part of its frequency a job ran: in full, or at several, which no figure says."""
    return 1.0 if abs(_longer(index, row)) <= SAME else None


def _hosts(run: Run, row: int, shown: JobRow) -> list[str]:
    if run.placement is None or shown.start_s is None:
        return []
    mine = np.flatnonzero(run.placement.job == row)
    hosts = [run.machine.hosts[node] for at in mine.tolist() for node in range(
        int(run.placement.first[at]), int(run.placement.first[at] + run.placement.count[at]))
        if node < run.machine.node_count]
    return [fold_hosts(hosts)] if hosts else []
