"""The workload of the net `puppet`: a log or the small example, the method, the cap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wattline.model.errors import InputError
from wattline.model.reading import is_file
from wattline.model.signal import Signal
from wattline.model.units import parse_fraction, parse_power
from wattline.petri.examples import DEMO_NODES, LEVELS, demo_jobs, demo_rules

if TYPE_CHECKING:
    from wattline.petri.net import Net
    from wattline.petri.puppet_rules import Job

USUAL_CAP = 0.7
"""Of full power, where no cap is given."""
Cap = float | str | Path | Sequence[tuple[float, float]] | None


def puppet(
    *, trace: str | Path | None = None, nodes: int | None = None, limit: int = 100,
    order: str = "fcfs", power: str = "wait", cap: Cap = None,
    node_active_w: float = 100.0, idle_fraction: float = 0.3, wait_time_s: float = 30_000.0,
    wait_slots: int = 10, latency_s: float = 0.0, levels: Sequence[float] = LEVELS,
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
    left_out: tuple[str, ...]
    if trace is None:
        jobs, nodes, left_out = demo_jobs(), nodes or DEMO_NODES, ()
    else:
        if not nodes:
            raise InputError("a log needs the size of the machine (nodes)")
        jobs, left_out = _logged(trace, nodes, limit, node_active_w)
    idle_w = node_active_w * idle_fraction
    rules = demo_rules(power, nodes, idle_w, wait_time_s, wait_slots, latency_s,
                       levels=tuple(levels), alpha=alpha, beta=beta, core_share=core_share,
                       jobs_only=cap_counts == "jobs")
    ignored = {} if power == "dvfs" else {
        "levels": tuple(levels) != tuple(LEVELS), "alpha": alpha != 2.0, "beta": beta != 0.5,
        "core_share": core_share != 0.65, "latency_s": latency_s != 0.0}
    remarks = (*left_out, *(
        f"{name} has no effect: only the power policy dvfs changes frequencies, this is '{power}'"
        for name, given in ignored.items() if given))
    limits: Signal | float = float("inf")
    if power != "none":
        floor_w = 0.0 if cap_counts == "jobs" else idle_w
        limits = cap_signal(cap, nodes, node_active_w, floor_w)
    made = puppet_net(jobs, rules, order, limits)
    return replace(made, remarks=(*made.remarks, *remarks))


def _logged(trace: str | Path, nodes: int, limit: int, node_active_w: float
            ) -> tuple[list[Job], tuple[str, ...]]:
    """Jobs of a log, and what is to be known of those that are not among them."""
    from wattline.petri.puppet import jobs_from_table
    from wattline.traces.reader import read

    table = read(trace, machine_procs=nodes).jobs
    table = table.take(np.arange(min(len(table), limit)))
    # A log counts from 1970 or from anywhere; people want to read how long it took.
    table = table.with_columns(submit_s=table.submit_s - table.submit_s[0])
    large = read(trace).jobs.procs
    large = large[large > nodes]
    remarks = () if not len(large) else (
        f"{len(large)} jobs of the log ask for more than the {nodes} nodes (up to {large.max()}) "
        "and are left out; its processors count as nodes here, so give as many nodes as it has "
        "processors",)
    return jobs_from_table(table, node_active_w), remarks


def cap_signal(cap: Cap, nodes: int, node_w: float, idle_w: float) -> Signal:
    """A cap in watts: a power, a part of full power, a CSV file or pairs of seconds and watts."""
    if isinstance(cap, (str, Path)) and is_file(cap):
        from wattline.traces.signals import read_signal

        found = read_signal(cap, unit="W")
    elif isinstance(cap, (str, float, int)) or cap is None:
        found = Signal.constant(USUAL_CAP if cap is None else _watts_or_part(str(cap)), "W")
    elif isinstance(cap, Path):
        raise InputError(f"{cap}: there is no such file")
    else:
        found = Signal.from_steps(cap, "W")
    lowest = float(found.value.min())
    if lowest <= 0:
        raise InputError(f"the cap is {lowest:g}, must be above 0")
    watts = np.where(found.value <= 1, found.value * nodes * node_w, found.value)
    if watts.min() < nodes * idle_w:
        raise InputError(f"the cap is {watts.min():g} W, below the idle power of {nodes} nodes "
                         f"({nodes * idle_w:g} W)")
    return Signal(found.time_s, watts, "W")


def _watts_or_part(text: str) -> float:
    return parse_fraction(text) if text.strip().endswith("%") else parse_power(text)
