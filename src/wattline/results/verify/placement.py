"""Rules of placement: no unit twice, as many units as given, none that are reserved."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from wattline.model.jobs import IntArray
from wattline.model.run import Run
from wattline.model.signal import FloatArray
from wattline.results.verify._base import (
    TAKING,
    Finding,
    Skipped,
    Verdicts,
    at_event,
    jobs_that,
    placed_wrongly,
    stay_of_span,
    stays,
    stays_end,
    where,
)
from wattline.results.verify.pace import due_s


def placement(run: Run) -> Verdicts:
    """No unit twice at one time; each job on as many units as it was given."""
    if run.placement is None:
        yield Skipped("units were counted, not named")
        return
    place = run.placement
    if (place.count < 1).any() or (place.first < 0).any() or (
        place.first + place.count > run.units).any():
        yield Finding(f"the placement has runs of units outside 0 to {run.units - 1}")
        return
    wrong = placed_wrongly(run, place)
    if wrong.any():
        yield from jobs_that(run, wrong,
                             "are placed on another number of units than they were given")
        return
    if not stays_end(run):  # a start or an end is missing, which is reported as such
        return
    stay = stay_of_span(run, place)
    start_s, end_s = (run.events.time_s[rows[stay]] for rows in stays(run))
    held = np.flatnonzero(end_s > start_s)  # a job of no length holds nothing
    free_from_s = np.full(run.units, -np.inf)
    clashes = []
    for row in held[np.argsort(start_s[held], kind="stable")].tolist():
        units = slice(place.first[row], place.first[row] + place.count[row])
        if free_from_s[units].max() > start_s[row]:
            clashes.append(row)
        free_from_s[units] = np.maximum(free_from_s[units], end_s[row])
    if clashes:
        yield from jobs_that(run, np.unique(place.job[clashes]),
                             "start on units that another job still holds")


def reserved_units(run: Run) -> Verdicts:
    """Beside reserved units no job starts, and none stays by the time that it asked for.

    A policy in Python chooses when jobs end, so only their starts are held against it.
    """
    log = run.events
    reserved = _reserved(run, log.time_s)
    beside = np.flatnonzero(np.isin(log.kind, TAKING) & (reserved > 0)
                            & (log.busy + reserved > run.units))
    if beside.size:
        yield Finding(f"a job starts on units that are reserved {at_event(run, beside)}",
                      *where(run, beside))
    if not reserved.any():
        return
    if run.policy_powers:
        yield Skipped("ends are not judged: a policy in Python chooses when jobs end")
        return
    due = due_s(run)
    gone_s = np.fmin(due, run.schedule.end_s)
    time_s = np.unique(np.concatenate((
        log.time_s[reserved > 0], [each.start_s for each in run.reservations if each.nodes])))
    held = _at(run.schedule.start_s, run.schedule.nodes, ~np.isnan(due), time_s) - _at(
        gone_s, run.schedule.nodes, ~np.isnan(due), time_s)
    over = np.flatnonzero(held + _reserved(run, time_s) > run.units)
    if over.size:
        first_s = time_s[over[0]]
        inside = (run.schedule.start_s <= first_s) & (gone_s > first_s)
        yield from jobs_that(run, inside, "run, by the time that they asked for, into reserved "
                             f"units at {first_s:g} s")


def _reserved(run: Run, time_s: FloatArray) -> IntArray:
    units = np.zeros(len(time_s), dtype=np.int64)
    for each in run.reservations:
        units += np.where((time_s >= each.start_s) & (time_s < each.end_s), each.nodes, 0)
    return np.minimum(units, run.units)


def _at(
    change_s: FloatArray, units: IntArray, which: npt.NDArray[np.bool_], time_s: FloatArray
) -> IntArray:
    """Units of those jobs whose change lies at or before each time."""
    order = np.argsort(change_s[which], kind="stable")
    upto = np.append(0, np.cumsum(units[which][order]))
    found: IntArray = upto[np.searchsorted(change_s[which][order], time_s, "right")]
    return found
