"""Speed of machines with shared nodes that decide as Slurm does."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.benchmarks._measuring import public_log
from wattline.model.progress import Advance
from wattline.model.signal import Signal
from wattline.physics.budget import EnergyBudget
from wattline.policies.admission.budget_setup import slot_tables

if TYPE_CHECKING:
    from wattline.model.run import PowerBound
    from wattline.shared_nodes.joule_budget import JouleBudget
    from wattline.shared_nodes.machine import SharedMachine
    from wattline.shared_nodes.outcome import Schedule

DAY_S = 86_400.0

SITE = "slurm_sites/medium/slurm.conf"
WEEK = "slurm_sites/medium/workload_week.events.xz"
CAPPED_PART = 0.8
"""Of what all parts of the site draw at most: the cap of the week under a cap."""
BUDGET_PART = 0.7
"""Of the joules above idle power that a day of the free week draws: the budget of each day."""
RACKS, RACKED_PART = 8, 0.8
"""Racks of the week under limits of parts: each of what its own nodes draw at most."""
LARGE_NODES = 2000
LARGE_JOBS, LARGE_LOAD = 300_000, 0.8
CROWDED_JOBS, CROWDED_LOAD = 100_000, 0.95
"""Parts of all CPU hours that jobs ask for: at the second hundreds wait, and all are planned."""


def measure(progress: Advance) -> dict[str, Any]:
    """Seconds in the engine, warm: a week of a public site (where the log is), the same week under
    a cap, under an energy budget and under limits of racks, a large machine, and the same machine
    crowded.

    Processor time (`_cpu_s`) tells what the engine takes where others use the machine too.
    """
    from wattline.benchmarks._shared_jobs import busy_jobs, large_machine
    from wattline.benchmarks.core import whole_node_jobs_per_s
    from wattline.shared_nodes.rules import Priority, Rules
    from wattline.shared_nodes.simulate import simulate_shared

    figures: dict[str, Any] = {"week_goal_s": 1.0, "large_goal_s": 15.0, "memory_goal_mb": 1000}
    week = _week()
    if week is not None:
        simulate_shared(*week)  # compiles, or loads what was compiled
        runs = [simulate_shared(*week) for _ in range(3)]
        figures |= _speed("week", len(week[1].submit_s), runs)
        found = simulate_shared(*week, budget=_budget(week[0], runs[0]))
        figures |= _speed("budget_week", len(week[1].submit_s), [found])
        figures["budget_week_part"] = BUDGET_PART
        runs = [simulate_shared(*week, cap=_cap(week[0])) for _ in range(2)]
        figures |= _speed("capped_week", len(week[1].submit_s), runs)
        figures["capped_week_cap_part"] = CAPPED_PART
        runs = [simulate_shared(*week, bounds=rack_limits(week[0])) for _ in range(2)]
        figures |= _speed("racked_week", len(week[1].submit_s), runs)
        figures |= {"racked_week_racks": RACKS, "racked_week_limit_part": RACKED_PART}
    progress(0.3)
    machine = large_machine(LARGE_NODES)
    rules = Rules(priority=Priority("multifactor", age=1000, fairshare=10_000, job_size=100),
                  bf_interval_s=60.0, bf_max_job_test=1000, max_job_count=100_000)
    simulate_shared(machine, busy_jobs(machine, 100), rules)
    found = simulate_shared(machine, busy_jobs(machine, LARGE_JOBS, load=LARGE_LOAD), rules,
                            progress=lambda part: progress(0.3 + 0.3 * part))
    figures |= _speed("large", LARGE_JOBS, [found])
    found = simulate_shared(machine, busy_jobs(machine, CROWDED_JOBS, load=CROWDED_LOAD), rules,
                            progress=lambda part: progress(0.6 + 0.4 * part))
    figures |= _speed("crowded", CROWDED_JOBS, [found])
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return figures | {"large_nodes": len(machine.nodes.names), "large_load": LARGE_LOAD,
                      "crowded_load": CROWDED_LOAD, "peak_memory_mb": peak_kb / 1024.0,
                      "whole_node_jobs_per_s": whole_node_jobs_per_s()}


def _speed(name: str, jobs: int, runs: list[Any]) -> dict[str, float]:
    """The best of some runs."""
    cpu_s = min(run.engine_cpu_s for run in runs)
    return {f"{name}_jobs": jobs, f"{name}_engine_s": min(run.engine_s for run in runs),
            f"{name}_engine_cpu_s": cpu_s, f"{name}_jobs_per_cpu_s": jobs / cpu_s}


def _cap(machine: SharedMachine) -> Signal:
    return Signal.constant(CAPPED_PART * float(_most_w(machine).sum()), "W")


def _budget(machine: SharedMachine, free: Schedule) -> JouleBudget:
    """Days that each have a part of what the machine draws above idle power on a mean day."""
    from wattline.shared_nodes.joule_budget import JouleBudget

    idle_w = float(machine.nodes.idle_w.sum())
    power_w = np.average(free.event_power_w[:-1], weights=np.diff(free.event_time_s))
    start_s = float(free.event_time_s[0])
    asked = EnergyBudget((idle_w + BUDGET_PART * float(power_w - idle_w)) * DAY_S, start_s,
                         start_s + DAY_S, Signal.constant(1.0))
    return JouleBudget(asked.energy_j, start_s, DAY_S, idle_w, float(_most_w(machine).sum()),
                       **slot_tables(asked, 1))


def rack_limits(machine: SharedMachine) -> list[PowerBound]:
    """Racks of nodes in their order, as equal in number as they go."""
    from wattline.model.run import PowerBound

    most_w, idle_w = _most_w(machine), machine.nodes.idle_w
    return [PowerBound(f"rack{number}", RACKED_PART * float(most_w[inside].sum()),
                       float(idle_w[inside].sum()), inside)
            for number, inside in enumerate(np.array_split(np.arange(len(most_w)), RACKS))]


def _most_w(machine: SharedMachine) -> Any:
    """What each node draws with all its parts in use."""
    nodes = machine.nodes
    return nodes.idle_w + nodes.cpus * nodes.cpu_w + (nodes.gres * nodes.gres_w).sum(axis=1)


def _week() -> Any:
    """Machine, requests and rules of the public site, where its files lie."""
    from wattline.scenario.twin.section import TwinSection
    from wattline.scenario.twin.site import read_site

    conf, log = public_log(SITE), public_log(WEEK)
    if conf is None or log is None:
        return None
    folder = conf.parent
    site = read_site(
        TwinSection(slurm_conf=str(conf), gres=str(folder / "gres.conf"),
                    topology=str(folder / "topology.conf"),
                    assoc=str(folder / "sacctmgr_priority100.script"), log="events"), log)
    return site.machine, site.made.requests, site.rules
