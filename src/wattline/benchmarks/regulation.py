"""Speed of regulated runs: an hour on 10,000 servers, a descent there, the study with one seed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wattline.benchmarks._measuring import cpu_seconds, seconds

if TYPE_CHECKING:
    from wattline.demand_response.case import Case

HOUR_S, DESCENT_S, STUDY_S = 0.01, 2.5, 240.0
"""Goals: wall seconds on two cores that have nothing else to do."""
SHARED: dict[str, Any] = {"seed": 1, "hours_each": 11, "rounds": 240, "signal_file": ""}
ROUNDS = 200
"""Of the descent, as its figure is called."""
STUDY_PARTS = ("thresholds", "default", "workloads", "large")
"""Parts of the study that need no log and no signal."""


def measure(progress: Callable[[float], None]) -> dict[str, Any]:
    """Warm figures beside the goals and the published ones.

    `_cpu_s` is processor time, which what else the machine does leaves as it is; `_s` is wall time.
    """
    from wattline.grid.workloads import workload
    from wattline.studies.regulation import workloads

    large = replace(workloads.large_cluster(**SHARED), warmup_s=0.0)
    case = workloads.case_for(large, 0)
    many = workloads.case_for(replace(large, workload=replace(workload("W1"), servers=10_000)), 0)
    figures = {"hour_10000_servers_goal_s": HOUR_S, **_hour(case, "hour_10000_servers")}
    progress(0.1)
    figures |= _hour(many, "hour_10000_servers_small_jobs")
    progress(0.2)
    figures |= {"descent_goal_s": DESCENT_S, **_descent(case)}
    progress(0.3)
    figures |= {"study_one_seed_goal_s": STUDY_S,
                **_study(lambda part: progress(0.3 + 0.7 * part))}
    return figures | {"published_hour_36_servers_s": 5.0}


def _hour(case: Case, name: str) -> dict[str, Any]:
    from wattline.demand_response.choosing import problem_of
    from wattline.demand_response.run import run_contract
    from wattline.grid.bidding.descent import start_bid

    bid = start_bid(problem_of(case))
    run_contract(case, bid)  # compiles, or loads what was compiled
    return {
        f"{name}_cpu_s": min(cpu_seconds(lambda: run_contract(case, bid)) for _ in range(5)),
        f"{name}_s": min(seconds(lambda: run_contract(case, bid)) for _ in range(5)),
        f"{name}_engine_s": min(run_contract(case, bid).run.engine_s for _ in range(5)),
        f"{name}_jobs": len(case.jobs),
    }


def _descent(case: Case) -> dict[str, Any]:
    from wattline.demand_response.choosing import choose

    wall: list[float] = []
    cpu_s = cpu_seconds(lambda: wall.append(
        seconds(lambda: choose(case, "descent", rounds=ROUNDS))))
    return {"descent_200_rounds_10000_servers_cpu_s": cpu_s,
            "descent_200_rounds_10000_servers_s": wall[0]}


def _study(progress: Callable[[float], None]) -> dict[str, Any]:
    """Its parts, each with its processor time."""
    from wattline.studies.regulation.study import RegulationStudy

    cores = min(2, os.cpu_count() or 1)
    study = RegulationStudy(workers=cores)
    cpu_s: dict[str, float] = {}
    wall_s = 0.0
    for number, name in enumerate(STUDY_PARTS):
        wall: list[float] = []
        cpu_s[name] = cpu_seconds(lambda name=name, wall=wall: wall.append(  # type: ignore[misc]
            seconds(lambda: study.run(name))))
        wall_s += wall[0]
        progress((number + 1) / len(STUDY_PARTS))
    return {"study_one_seed_cpu_s": sum(cpu_s.values()), "study_one_seed_s": wall_s,
            "study_one_seed_cpu_s_by_part": cpu_s, "cores": cores}
