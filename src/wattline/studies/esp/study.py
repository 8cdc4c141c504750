"""The ESP study: power-adaptive scheduling on 5,040 nodes of 16 cores, in five cases.

The cases of the published validation: no cap; 70 % for 1,000 s in the middle, set on the fly; the
same reserved in advance; 60 % with mostly large jobs and nodes switched off; 40 % with mostly small
jobs and lower frequencies. The published curves are pictures without figures; what is checked is
that the cap is kept, and from when.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.analysis.metrics import metrics
from wattline.engine.composed import adaptive_run
from wattline.model.cap_slack import CAP_SLACK
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.run import Run
from wattline.physics.core_power import emulated_cluster
from wattline.physics.powercap import CapChange, PowerCap, WattReservation
from wattline.policies.admission.adaptive_setup import Strategy
from wattline.studies.esp.workloads import esp_jobs

WINDOW_S = 1000.0


@dataclass(frozen=True, eq=False)
class EspCase:
    """One case: its plan and what came of it."""

    name: str
    title: str
    run: Run
    cap_w: float
    """The lowest cap that holds at any time."""
    cap_from_s: float
    cap_until_s: float


def cases(
    seed: int = 1, *, mix: str = "light", boot_s: float = 120.0, shutdown_s: float = 60.0,
    progress: Callable[[float], None] | None = None,
) -> list[EspCase]:
    """All five, in the order of the module's text."""
    machine = emulated_cluster(boot_s=boot_s, shutdown_s=shutdown_s)
    tell = progress or (lambda _: None)
    whole = _cores(esp_jobs(machine.node_count, seed, mix=mix), machine)
    free = adaptive_run(whole, machine)
    tell(0.2)
    begin = 0.5 * (free.start_s + free.end_s) - 0.5 * WINDOW_S
    seventy = 0.7 * machine.power_w_max
    found = [
        EspCase("none", "no cap", free, math.inf, math.nan, math.nan),
        _window(machine, whole, seventy, begin, planned=False),
    ]
    tell(0.4)
    found.append(_window(machine, whole, seventy, begin, planned=True))
    tell(0.6)
    for name, part, lean, strategy in (
        ("60-shut", 0.6, "large", Strategy.SHUT), ("40-dvfs", 0.4, "small", Strategy.DVFS),
    ):
        cap_w = part * machine.power_w_max
        jobs = _cores(esp_jobs(machine.node_count, seed, lean, mix), machine)
        run = adaptive_run(jobs, machine, PowerCap(cap_w), strategy)
        title = f"{100 * part:.0f} %, mostly {lean} jobs, {strategy.upper()}"
        found.append(EspCase(name, title, run, cap_w, run.start_s, run.end_s))
        tell(0.2 * len(found))
    return found


def _window(
    machine: Machine, jobs: JobTable, cap_w: float, begin_s: float, *, planned: bool
) -> EspCase:
    end_s = begin_s + WINDOW_S
    if planned:
        plan = PowerCap(reservations=(
            WattReservation(begin_s, WINDOW_S, machine.power_w_max - cap_w),))
    else:
        plan = PowerCap(changes=(CapChange(begin_s, cap_w), CapChange(end_s, math.inf)))
    name = "70-reserved" if planned else "70-on-the-fly"
    title = "70 % for 1,000 s, " + ("reserved in advance" if planned else "set on the fly")
    return EspCase(name, title, adaptive_run(jobs, machine, plan), cap_w, begin_s, end_s)


def _cores(jobs: JobTable, machine: Machine) -> JobTable:
    """Sizes in cores, which is what a machine of 16-core nodes counts."""
    return jobs.with_columns(procs=jobs.procs * machine.class_of(0).cores)


def figures(case: EspCase) -> dict[str, Any]:
    """What the study reports of a case."""
    run = case.run
    found = metrics(run)
    inside = _peak_between(run, case.cap_from_s, case.cap_until_s)
    return {
        "title": case.title,
        "jobs": len(run.jobs),
        "jobs_run": int(np.count_nonzero(run.ran)),
        "refused": _refused(run),
        "cap_w": case.cap_w,
        "peak_w": run.power_w_peak,
        "cap_from_s": case.cap_from_s,
        "cap_until_s": case.cap_until_s,
        "peak_w_while_capped": inside,
        "time_above_cap_s": run.time_above_cap_s,
        "under_cap_from_s": _under_from(case),
        "makespan_s": found["makespan_s"],
        "energy_j": run.energy_j,
        "utilisation": found["utilisation"],
        "wait_s": found["wait_s"]["mean"],
        "engine_s": run.engine_s,
    }


def _refused(run: Run) -> dict[str, int]:
    """Jobs that could never start under the cap, by profile."""
    names = [run.jobs.name_of("application", int(code)) for code in run.jobs.application[~run.ran]]
    return {name: names.count(name) for name in sorted(set(names))}


def _settled(run: Run) -> tuple[Any, Any]:
    """Times and the power that holds from each until the next, the last row of each instant."""
    last = np.append(np.diff(run.events.time_s) > 0, True)
    return run.events.time_s[last], run.events.power_w[last]


def _peak_between(run: Run, start_s: float, end_s: float) -> float:
    if math.isnan(start_s):
        return math.nan
    time_s, power_w = _settled(run)
    until = np.append(time_s[1:], run.end_s)
    held = (until > start_s) & (time_s < end_s)
    return float(power_w[held].max()) if held.any() else math.nan


def _under_from(case: EspCase) -> float:
    """The moment from which the cap holds: its begin, or when running jobs permitted."""
    if math.isnan(case.cap_from_s):
        return math.nan
    time_s, power_w = _settled(case.run)
    until = np.append(time_s[1:], case.run.end_s)
    above = (power_w > case.cap_w * (1 + CAP_SLACK)) & (until > case.cap_from_s)
    above &= time_s < case.cap_until_s
    return float(until[above].max()) if above.any() else case.cap_from_s
