"""What units without a job draw after each event, and what a job can draw at most."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from wattline.model.jobs import IntArray
from wattline.model.machine import NodeClass
from wattline.model.run import EventKind, Run
from wattline.model.signal import FloatArray
from wattline.results.verify._base import (
    lost_runs,
    placed_wrongly,
    stay_of_span,
    stays,
    stays_end,
)


def free_w(run: Run) -> FloatArray | None:
    """What units without a job draw, idle, off or on the way; None where the run cannot tell."""
    idle_w = of_units(run, lambda node: node.power_w_idle)
    switched = bool(np.any(run.events.kind == EventKind.NODE))
    if switched and _sleep_untold(run):
        return None
    if np.all(idle_w == idle_w[0]):
        idle_units = run.units - run.events.busy
        if not switched:
            return np.asarray(idle_w[0] * idle_units)
        return _with_switched(run, idle_units) if len(run.machine.groups) == 1 else None
    held_w = None if switched else held_by_jobs(run, idle_w)
    return None if held_w is None else float(idle_w.sum()) - held_w


def _sleep_untold(run: Run) -> bool:
    """Whether units sleep and the log does not say how many, as where Slurm puts nodes to sleep."""
    log = run.events
    told = bool(np.any(log.value[log.kind == EventKind.NODE] != 0))
    return not told and bool(np.any(log.power_w < run.machine.power_w_idle * (1 - 1e-9)))


def free_range_w(run: Run) -> tuple[FloatArray, FloatArray]:
    """Bounds on the same, for every run."""
    known = free_w(run)
    if known is not None:
        return known, known
    powers = [of_units(run, lambda node: node.power_w_idle)]
    if np.any(run.events.kind == EventKind.NODE):
        powers += [of_units(run, lambda node: node.power_w_off),
                   of_units(run, lambda node: node.boot_power_w),
                   of_units(run, lambda node: node.shutdown_power_w)]
    each_w = np.concatenate(powers)
    idle_units = run.units - run.events.busy
    return idle_units * each_w.min(), idle_units * each_w.max()


def full_w(run: Run) -> FloatArray:
    """What each job draws at full speed; infinite where the run does not say.

    It is what the log says of the job (or its nodes' idle power, where the log says less), else
    what its nodes draw when they are active. In a configuration it is another figure, and a policy
    in Python may ask for any.
    """
    if run.policy_powers:
        return np.full(len(run.jobs), np.inf)
    nodes = run.schedule.nodes
    active_w = _on_its_units(run, of_units(run, lambda node: node.power_w_active))
    idle_w = nodes * float(of_units(run, lambda node: node.power_w_idle).max())
    own_w = run.jobs.power_w
    most_w = np.where(np.isnan(own_w), active_w, np.maximum(own_w, idle_w))
    return np.where(run.schedule.configuration == 0, most_w, np.inf)


def of_units(run: Run, power_of: Callable[[NodeClass], float]) -> FloatArray:
    """A power of every unit, by its class: of a node, or a core's part of it."""
    by_core = run.units != run.machine.node_count
    parts = []
    for group in run.machine.groups:
        cores = group.node_class.cores if by_core else 1
        parts.append(np.full(group.count * cores, power_of(group.node_class) / cores))
    return np.concatenate(parts)


def idle_w_of_jobs(run: Run) -> FloatArray:
    """What each job's units draw idle: the machine's mean where it is not known which they were."""
    mean_w = run.machine.power_w_idle / run.units * run.schedule.nodes
    place = run.placement
    if place is None or len(run.machine.groups) == 1:
        return np.asarray(mean_w)
    upto_w = np.append(0.0, np.cumsum(of_units(run, lambda node: node.power_w_idle)))
    held_w = upto_w[place.first + place.count] - upto_w[place.first]
    idle_w = np.bincount(place.job, held_w, len(run.jobs))
    units = np.bincount(place.job, place.count, len(run.jobs))
    return np.asarray(np.where(units == run.schedule.nodes, idle_w, mean_w))


def held_by_jobs(run: Run, of_unit: FloatArray) -> FloatArray | None:
    """A figure of units, summed over those that jobs hold after each event.

    None where the run does not know its units by name, as those of runs that jobs were requeued
    from, or the log contradicts itself.
    """
    by_stay = stay_sums(run, of_unit)
    if by_stay is None or not stays_end(run) or lost_runs(run).any():
        return None
    change = np.zeros(len(run.events))
    begin, end = stays(run)
    change[begin] += by_stay
    change[end] -= by_stay
    return np.cumsum(change)


def stay_sums(run: Run, of_unit: FloatArray) -> FloatArray | None:
    """A figure of units, summed over those of each stay (`stays(run)` lists them)."""
    place = run.placement
    if place is None or placed_wrongly(run, place).any():
        return None
    if (place.first < 0).any() or (place.first + place.count > run.units).any():
        return None
    upto = np.append(0.0, np.cumsum(of_unit))
    span = upto[place.first + place.count] - upto[place.first]
    sums: FloatArray = np.bincount(stay_of_span(run, place), weights=span,
                                   minlength=stays(run)[0].size).astype(np.float64)
    return sums


def _on_its_units(run: Run, of_unit: FloatArray) -> FloatArray:
    """A figure of units for each job: the most of its stays, or of as many units as it had."""
    most = np.asarray(run.schedule.nodes * float(of_unit.max()))
    by_stay = stay_sums(run, of_unit) if not np.all(of_unit == of_unit[0]) else None
    if by_stay is None:
        return most
    exact = np.zeros(len(run.jobs))
    np.maximum.at(exact, run.events.job[stays(run)[0]], by_stay)
    return exact


def _with_switched(run: Run, without_job: IntArray) -> FloatArray:
    """The same where units of one class are switched off and on."""
    (group,) = run.machine.groups
    node = group.node_class
    part = 1.0 / node.cores if run.units != run.machine.node_count else 1.0
    off, halting, booting = _switched(run, node.shutdown_s, node.boot_s)
    idle = without_job - off - halting - booting
    power_w = (idle * node.power_w_idle + off * node.power_w_off
               + halting * node.shutdown_power_w + booting * node.boot_power_w)
    return np.asarray(power_w * part)


def _switched(run: Run, shutdown_s: float, boot_s: float) -> tuple[IntArray, IntArray, IntArray]:
    """Units that are off, shut down and boot after each event.

    Each change is logged as it begins and when it is done, with the same number of units.
    """
    log = run.events
    change = np.zeros((3, len(log)), dtype=np.int64)
    off, halting, booting = change
    begun: dict[bool, deque[tuple[float, int]]] = {True: deque(), False: deque()}
    for row in np.flatnonzero((log.kind == EventKind.NODE) & (log.value != 0)).tolist():
        units, down = int(abs(log.value[row])), bool(log.value[row] < 0)
        takes_s = shutdown_s if down else boot_s
        waiting = begun[down]
        # Rounding of large times; nothing else of this length began and ends here.
        done = bool(waiting) and waiting[0][1] == units and (
            waiting[0][0] + takes_s <= log.time_s[row] + 1e-6)
        if done:
            waiting.popleft()
        else:
            waiting.append((float(log.time_s[row]), units))
        way = halting if down else booting
        way[row] = -units if done else units
        if done == down:  # off is where a shutdown is done and a boot has not begun
            off[row] = units if down else -units
    off, halting, booting = np.cumsum(change, axis=1)
    return off, halting, booting
