"""Simulate jobs on a machine with shared nodes that decides as Slurm does."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.run import PowerBound
from wattline.model.signal import Signal
from wattline.shared_nodes.joule_budget import JouleBudget
from wattline.shared_nodes.joules_alone import turn_away_without_joules
from wattline.shared_nodes.loop import advance
from wattline.shared_nodes.machine import BoolArray, IntArray, SharedMachine
from wattline.shared_nodes.options_left import falls_of, leave_options
from wattline.shared_nodes.out_of_reach import within_reach
from wattline.shared_nodes.outages import Outages
from wattline.shared_nodes.outcome import Schedule
from wattline.shared_nodes.prepare import make_books
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.state import OVER, Books
from wattline.shared_nodes.static_fit import refuse_what_never_fits
from wattline.shared_nodes.within_bounds import refuse_over_bounds

COUNTED = {"timers": "timers", "gap": "gaps", "stay": "stays", "page": "pages"}
"""Tables that kernels fill, and where the clock says how many rows are."""
INSTANTS = 20_000
"""Simulated before the caller hears of progress and can be interrupted."""


def simulate_shared(
    machine: SharedMachine,
    requests: Requests,
    rules: Rules,
    *,
    cap: Signal | None = None,
    outages: Outages | None = None,
    bounds: Sequence[PowerBound] = (),
    budget: JouleBudget | None = None,
    phase_s: float = 0.0,
    progress: Callable[[float], None] | None = None,
) -> Schedule:
    """What becomes of each request; `phase_s` shifts the scheduler's loop against submissions.

    `cap` limits the whole machine, `bounds` parts of it, `budget` the joules of each period.
    """
    if np.any(np.diff(requests.submit_s) < 0):
        raise InputError("requests must be in order of submission")
    cap, bounds = within_reach(machine, requests, cap, bounds)
    books = make_books(machine, requests, rules, cap, outages, phase_s, bounds, budget)
    started, started_cpu = time.perf_counter(), time.thread_time()
    refuse_what_never_fits(books)
    if requests.options is not None:
        leave_options(books, requests.options.patience)
        books = books.with_arrays(fall_s=falls_of(books))
    if bounds:
        refuse_over_bounds(books)
    if budget is not None:
        turn_away_without_joules(books, bool(budget.hold))
    while not books.clock[0].over:
        advance(books, INSTANTS)
        if books.clock[0].overfull:
            raise RuntimeError(f"more happened at {books.clock[0].now_s:g} s than a list of the "
                               "simulation has room for")
        books = _with_room(books)
        if progress is not None:
            progress(float(books.clock[0].done) / max(len(books.ask), 1))
    return replace(_collect(books), option=_options(books, requests),
                   engine_s=time.perf_counter() - started,
                   engine_cpu_s=time.thread_time() - started_cpu)


def _with_room(books: Books) -> Books:
    """The same books with longer lists where they are nearly full; kernels cannot grow them."""
    grown = {}
    if books.clock[0].log + INSTANTS > len(books.log_s):
        for name in ("log_s", "log_w", "log_busy"):
            old = getattr(books, name)
            grown[name] = np.concatenate((old, np.zeros(len(old) + INSTANTS, old.dtype)))
    for name, rows in COUNTED.items():
        table = np.asarray(getattr(books, name))
        if 2 * getattr(books.clock[0], rows) > len(table):
            more = np.zeros(len(table), table.dtype)
            grown[name] = np.concatenate((table, more)).view(np.recarray)
    if "stay" in grown:
        devices = np.asarray(books.stay_gres)
        grown["stay_gres"] = np.concatenate((devices, np.zeros_like(devices)))
    return books.with_arrays(**grown) if grown else books


def _collect(books: Books) -> Schedule:
    live, ask, clock = books.live, books.ask, books.clock[0]
    over = np.asarray(live.phase) == OVER
    ran = over & ~np.isnan(np.asarray(live.end_s))
    rows = np.where(ran, live.nodes, 0)
    job = np.repeat(np.arange(len(rows)), rows)
    place = np.repeat(np.asarray(ask.first_row), rows) + _counted(rows)
    kinds = int(books.rules[0].kinds)
    log = int(clock.log)
    entry = np.asarray(live.entry)
    partition = np.asarray(books.entry["partition"])
    in_partition = np.full(len(rows), -1)
    in_partition[ran] = partition[entry[ran]]
    gap, lost = _gaps(books, ran), _lost_runs(books)
    lost_gap = _lost_gaps(books, lost)
    return Schedule(
        start_s=np.where(ran, live.start_s, np.nan), end_s=np.where(ran, live.end_s, np.nan),
        eligible_s=np.array(live.eligible_s), state=np.array(live.state),
        reason=np.array(live.reason), partition=in_partition,
        requeues=np.array(live.requeues), energy_j=np.array(live.energy_j),
        lost_energy_j=np.array(live.lost_j),
        suspended_s=np.bincount(gap.job, gap.to_s - gap.from_s, len(rows)).astype(np.float64),
        gap_job=gap.job, gap_from_s=gap.from_s, gap_to_s=gap.to_s, gap_energy_j=gap.energy_j,
        lost_run_job=lost.job, lost_run_start_s=lost.start_s, lost_run_end_s=lost.from_s,
        lost_run_energy_j=lost.energy_j,
        lost_gap_job=lost_gap.job, lost_gap_from_s=lost_gap.from_s,
        lost_gap_to_s=lost_gap.to_s, lost_gap_energy_j=lost_gap.energy_j,
        allocation_job=job, allocation_node=books.row_node[place],
        allocation_cpus=books.row_cpus[place], allocation_memory_mb=books.row_memory[place],
        allocation_gres=books.row_gres.reshape(len(books.row_node), kinds)[place],
        allocation_w=books.row_w[place], allocation_from_s=np.asarray(live.stretch_s)[job],
        allocation_given_s=np.asarray(live.given_s)[job],
        never_up=ran & (np.asarray(live.boots) != 0),
        **_stays(books),
        event_time_s=books.log_s[:log].copy(), event_power_w=books.log_w[:log].copy(),
        event_busy_cpus=books.log_busy[:log].copy(),
        passes=int(clock.passes), backfill_passes=int(clock.backfills),
        above_cap_s=float(clock.above_s), **_alone(books),
        charged_period=np.array(books.page.period[: clock.pages]),
        charged_j=np.array(books.page.charged_j[: clock.pages]),
    )


def _stays(books: Books) -> dict[str, Any]:
    stay = np.asarray(books.stay)[: books.clock[0].stays]
    kinds = int(books.rules[0].kinds)
    devices = books.stay_gres[: len(stay) * kinds].reshape(len(stay), kinds).copy()
    return {"left_gres": devices} | {f"left_{name}": stay[of].copy() for name, of in (
        ("job", "job"), ("node", "node"), ("cpus", "cpus"), ("memory_mb", "memory"), ("w", "watts"),
        ("given_s", "given_s"), ("from_s", "from_s"), ("to_s", "to_s"))}


def _alone(books: Books) -> dict[str, Any]:
    """Watts and seconds of each request in the partition where it adds least; none without a
    budget."""
    if not len(books.book):
        return {"alone_w": np.zeros(0), "alone_s": np.zeros(0)}
    job = np.asarray(books.entry["job"])
    order = np.lexsort((books.alone_s, books.alone_w, job))
    jobs, first = np.unique(job[order], return_index=True)
    found = {"alone_w": np.full(len(books.ask), np.inf), "alone_s": np.zeros(len(books.ask))}
    for name, of_job in found.items():
        of_job[jobs] = getattr(books, name)[order[first]]
    return found


def _options(books: Books, requests: Requests) -> IntArray:
    """By which option of its request each job ran."""
    if requests.options is None:
        return np.zeros(0, np.int64)
    chosen = np.asarray(books.live.option)
    rows = np.full(len(chosen), -1)
    rows[chosen >= 0] = books.option_row[chosen[chosen >= 0]]
    return rows


def _gaps(books: Books, ran: BoolArray) -> Any:
    """Suspensions within the last run of each job: those of runs before went with them."""
    gap = np.asarray(books.gap)[: books.clock[0].gaps]
    job = gap["job"]
    within = ran[job] & (gap["is_lost"] == 0) & (gap["from_s"] >= books.live.start_s[job])
    return gap[within].view(np.recarray)


def _lost_runs(books: Books) -> Any:
    """Runs that jobs were requeued from, in the order in which they ended."""
    gap = np.asarray(books.gap)[: books.clock[0].gaps]
    return gap[gap["is_lost"] != 0].view(np.recarray)


def _lost_gaps(books: Books, lost: Any) -> Any:
    """Suspensions within runs that jobs were requeued from: those before the last such one ended.

    None of them lasts any more, as a job that is suspended has no run to lose.
    """
    gap = np.asarray(books.gap)[: books.clock[0].gaps]
    lost_until_s = np.full(len(books.ask), -np.inf)
    np.maximum.at(lost_until_s, lost.job, lost.from_s)
    within = (gap["is_lost"] == 0) & (gap["from_s"] < lost_until_s[gap["job"]])
    return gap[within].view(np.recarray)


def _counted(rows: IntArray) -> IntArray:
    """0, 1, ... within the rows of each job."""
    first = np.cumsum(rows) - rows
    return np.asarray(np.arange(int(rows.sum())) - np.repeat(first, rows))
