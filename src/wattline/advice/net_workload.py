"""The workload of the net `puppet`: a log or the small example, the method, the cap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wattline.model.cap_value import CapInWatts, is_cap_value, read_cap_value
from wattline.model.errors import InputError
from wattline.model.jobs import NO_JOB
from wattline.model.reading import is_file
from wattline.model.run_clock import RunClock, Time, parse_time, steps_outside
from wattline.model.signal import Signal
from wattline.model.units import counted
from wattline.petri.examples import DEMO_NODES, LEVELS, demo_jobs, demo_rules

if TYPE_CHECKING:
    from wattline.petri.net import Net
    from wattline.petri.puppet_rules import Job

USUAL_CAP = "70%"
"""Of rated power, where no cap is given."""
LIMIT = 100
WAIT_TIME_S, WAIT_SLOTS = 30_000.0, 10
Cap = float | str | Path | Sequence[tuple[Time | str, float]] | None


def puppet(
    *, trace: str | Path | None = None, nodes: int | None = None,
    cores_per_node: int | None = None, limit: int = LIMIT,
    order: str = "fcfs", power: str = "wait", cap: Cap = None,
    node_active_w: float = 100.0, idle_fraction: float = 0.3, wait_time_s: float = WAIT_TIME_S,
    wait_slots: int = WAIT_SLOTS, latency_s: float = 0.0, levels: Sequence[float] = LEVELS,
    alpha: float = 2.0, beta: float = 0.5, core_share: float = 0.65, cap_counts: str = "machine",
) -> Net:
    """The net with its jobs; times count from the first submission."""
    from wattline.petri.puppet import puppet_net

    if not 0 < node_active_w < float("inf"):
        raise InputError(f"the power of a busy node (node_active_w) is {node_active_w}, must be "
                         "> 0")
    if not 0 <= idle_fraction <= 1:
        raise InputError(f"the idle fraction (idle_fraction) is {idle_fraction}, must be in "
                         "[0, 1]")
    if cap_counts not in ("machine", "jobs"):
        raise InputError(f"cap_counts is '{cap_counts}', must be 'machine' or 'jobs'")
    if list(levels) != sorted(set(levels)):
        raise InputError(f"the levels are {', '.join(f'{level:g}' for level in levels)}; relative "
                         "frequencies have to rise")
    of_log: tuple[str, ...]
    if trace is None:
        jobs, nodes, clock = demo_jobs(), nodes or DEMO_NODES, RunClock()
        of_log = tuple(f"{name} has no effect: {why}" for name, why, given in (
            ("cores_per_node", "the jobs of the example ask for nodes", cores_per_node is not None),
            ("limit", "it is of a log, and the jobs are those of the example", limit != LIMIT),
        ) if given)
    else:
        jobs, nodes, clock, of_log = _logged(trace, nodes, cores_per_node, limit, node_active_w)
    idle_w = node_active_w * idle_fraction
    rules = demo_rules(power, nodes, idle_w, wait_time_s, wait_slots, latency_s,
                       levels=tuple(levels), alpha=alpha, beta=beta, core_share=core_share,
                       jobs_only=cap_counts == "jobs")
    of_dvfs = {
        "levels": tuple(levels) != tuple(LEVELS), "alpha": alpha != 2.0, "beta": beta != 0.5,
        "core_share": core_share != 0.65, "latency_s": latency_s != 0.0}
    of_wait = {"wait_time_s": wait_time_s != WAIT_TIME_S, "wait_slots": wait_slots != WAIT_SLOTS}
    remarks = (*of_log, *(
        f"{name} has no effect: only the power policy {policy} {does}, this is '{power}'"
        for policy, does, options in (("dvfs", "changes frequencies", of_dvfs),
                                      ("wait", "has a wait queue", of_wait))
        for name, given in options.items() if given and power != policy))
    of_cap = {"cap": cap is not None, "cap_counts": cap_counts != "machine"}
    remarks += tuple(f"{name} has no effect: the power policy none keeps no cap"
                     for name, given in of_cap.items() if given and power == "none")
    limits: Signal | float = float("inf")
    if power != "none":
        floor_w = 0.0 if cap_counts == "jobs" else idle_w
        limits = cap_signal(cap, nodes, node_active_w, floor_w, clock)
        remarks += tuple(steps_outside("cap", limits.time_s, clock, 0.0, math.inf))
        limits = from_start(limits)
    made = puppet_net(jobs, rules, order, limits)
    given = USUAL_CAP if cap is None else cap
    said = None if not isinstance(limits, Signal) else CapInWatts.of_fields(
        {"cap": given}, limits, nodes * node_active_w)
    about = made.about if said is None else f"{made.about}, {said.line}"
    return replace(made, about=about, remarks=(*made.remarks, *remarks))


def _logged(trace: str | Path, nodes: int | None, cores_per_node: int | None, limit: int,
            node_active_w: float) -> tuple[list[Job], int, RunClock, tuple[str, ...]]:
    """Jobs of a log, the nodes of its machine as `simulate` reads them, their clock from the first
    submission on, and what is to be known."""
    from wattline.petri.puppet import jobs_from_table
    from wattline.scenario.model import MachineSection
    from wattline.scenario.sizes import machine_size
    from wattline.traces.reader import read

    log = read(trace)
    size = machine_size(MachineSection(nodes=nodes, cores_per_node=cores_per_node), log)
    asked = -(-log.jobs.procs // size.cores_per_node)
    large = asked[asked > size.nodes]
    kept = np.flatnonzero(asked <= size.nodes)[:limit]
    if not len(kept):
        raise InputError(f"every job of the log asks for more than the {size.nodes:,} nodes; "
                         "say how many processors make a node (cores_per_node)")
    table = log.jobs.take(kept)
    # A log counts from 1970 or from anywhere; people want to read how long it took.
    clock = RunClock.of(float(table.submit_s[0]), float(table.submit_s[-1]), log.unix_start_s)
    table = table.with_columns(submit_s=table.submit_s - table.submit_s[0], procs=asked[kept])
    remarks = [size.remark] if size.remark else []
    if len(large):
        remarks.append(f"{len(large):,} jobs of the log ask for more than the {size.nodes:,} nodes "
                       f"(up to {large.max():,}) and are left out; where it counts cores, say how "
                       "many make a node (cores_per_node)")
    after = int(np.count_nonzero(table.after_job != NO_JOB))
    if after:
        remarks.append(f"{counted(after, 'job')} of the log should begin after another one; the "
                       "net does not know dependencies: unlike in `simulate`, each comes at its "
                       "submission")
    return jobs_from_table(table, node_active_w), size.nodes, clock.from_first, tuple(remarks)


def from_start(cap_w: Signal) -> Signal:
    """The steps from the first submission on, at 0 s the one that holds then."""
    later = cap_w.time_s > 0
    return Signal(np.append(0.0, cap_w.time_s[later]),
                  np.append(cap_w.at(0.0), cap_w.value[later]), cap_w.unit)


def cap_signal(cap: Cap, nodes: int, node_w: float, idle_w: float, clock: RunClock) -> Signal:
    """A cap in watts: a power, per cent of rated power, a CSV file or pairs of a time and watts."""
    if isinstance(cap, (str, Path)) and not is_cap_value(cap) and is_file(cap):
        from wattline.traces.signals import read_cap

        found = read_cap(cap, clock)
    elif isinstance(cap, (str, float, int)) or cap is None:
        found = Signal.constant(_watts(USUAL_CAP if cap is None else cap, nodes * node_w), "W")
    elif isinstance(cap, Path):
        raise InputError(f"{cap}: there is no such file")
    else:
        found = Signal.from_steps(
            ((clock.at(parse_time(time), "cap"), watts) for time, watts in cap), "W")
    for watts in found.value[~((found.value > 0) & (found.value < np.inf))].tolist():
        raise InputError(f"the cap is {watts:g}, must be above 0 and finite; the power policy none "
                         "has no cap")
    watts = found.value
    if watts.min() < nodes * idle_w:
        raise InputError(f"the cap is {watts.min():g} W, below the idle power of {nodes} nodes "
                         f"({nodes * idle_w:g} W)")
    return Signal(found.time_s, watts, "W")


def _watts(cap: float | str, rated_w: float) -> float:
    try:
        return read_cap_value(cap).watts(rated_w)
    except InputError as error:
        raise InputError(f"the cap: {error}") from None
