"""Speed of regulated runs: an hour on 10,000 servers, a descent there, the 14 workloads."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from wattline.benchmarks._measuring import seconds


def measure(progress: Callable[[float], None]) -> dict[str, Any]:
    """Warm figures in seconds, beside the goals and the published ones."""
    from wattline.demand_response.choosing import choose
    from wattline.demand_response.run import run_contract
    from wattline.grid.workloads import workload
    from wattline.studies.regulation import parts, workloads

    shared: dict[str, Any] = {"seed": 1, "hours_each": 11, "rounds": 240, "signal_file": ""}
    large = workloads.large_cluster(**shared)
    case = workloads.case_for(replace(large, warmup_s=0.0), 0)
    from wattline.demand_response.choosing import problem_of
    from wattline.grid.bidding.descent import start_bid

    bid = start_bid(problem_of(case))
    run_contract(case, bid)  # compiles, or loads what was compiled
    hour_s = min(seconds(lambda: run_contract(case, bid)) for _ in range(5))
    engine_s = min(run_contract(case, bid).run.engine_s for _ in range(5))
    progress(0.1)
    small = replace(large, warmup_s=0.0, workload=replace(workload("W1"), servers=10_000))
    many = workloads.case_for(small, 0)
    many_bid = start_bid(problem_of(many))
    run_contract(many, many_bid)
    many_s = run_contract(many, many_bid).run.engine_s
    progress(0.2)
    descent_s = seconds(lambda: choose(case, "descent", rounds=200))
    progress(0.4)
    orders = workloads.fourteen(**shared, names=[f"W{i}" for i in range(1, 15)])
    for order in orders[:3]:
        parts.evaluate(replace(order, hours=1, rounds=1))
    study_s = seconds(
        lambda: parts.run_orders(
            orders, min(2, os.cpu_count() or 1), lambda part: progress(0.4 + 0.6 * part)
        )
    )
    return {
        "hour_10000_servers_s": hour_s,
        "hour_10000_servers_engine_s": engine_s,
        "hour_10000_servers_goal_s": 0.1,
        "hour_10000_servers_jobs": len(case.jobs),
        "hour_10000_servers_small_jobs_engine_s": many_s,
        "hour_10000_servers_small_jobs": len(many.jobs),
        "descent_200_rounds_10000_servers_s": descent_s,
        "descent_goal_s": 20.0,
        "fourteen_workloads_s": study_s,
        "fourteen_workloads_goal_s": 60.0,
        "published_hour_36_servers_s": 5.0,
    }
