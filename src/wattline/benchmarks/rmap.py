"""Speed of power-aware scheduling: decisions per second, and a whole published evaluation."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from wattline.model.jobs import JobTable
from wattline.model.kernel import kernel
from wattline.model.progress import Advance
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.regression import shipped_models
from wattline.policies.admission.lending import Lending, LendingMemory
from wattline.policies.backfill.easy import Easy
from wattline.policies.configuration.moldable import adaptive
from wattline.policies.configuration.offers import make_offers
from wattline.policies.contract import Composition, configure
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.counted import Counted
from wattline.policies.queue import enqueue
from wattline.policies.regulation.none import NoRegulation
from wattline.policies.state import State, make_state
from wattline.studies.rmap.study import PUBLISHED_POLICIES, RmapSetting, study

CONFIGURATIONS = 10_000
DECISIONS = 200_000
FEW_JOBS, MANY_JOBS = 100, 100_000
NODES = 64
SEEDS = (1,)
TURNS = 3
"""Studies of which the first, which compiles, is told by itself."""
APPLICATIONS = ("BT-MZ", "SPhot", "SC", "NSC", "SM", "NSM")


def measure(progress: Advance) -> dict[str, Any]:
    """Adaptive decisions on a table of 10,000 configurations, and 144 simulations of 30 jobs."""
    table = large_table(CONFIGURATIONS)
    few = decisions_per_second(table, jobs=FEW_JOBS)
    progress(0.3)
    many = decisions_per_second(table, jobs=MANY_JOBS)
    progress(0.5)
    tables = {
        name: model.table(grid=model.grid.with_nodes(range(8, NODES + 1, 4)))
        for name, model in shipped_models().items() if name in APPLICATIONS
    }
    setting = RmapSetting(nodes=NODES, seeds=SEEDS, policies=PUBLISHED_POLICIES)
    study_s = []
    for turn in range(TURNS):
        started = time.perf_counter()
        study(tables, setting)
        study_s.append(time.perf_counter() - started)
        progress(0.5 + 0.5 * (turn + 1) / TURNS)
    return {
        "configurations": CONFIGURATIONS,
        "decisions_per_s": few,
        "decisions_per_s_after_100000_jobs": many,
        "study_s": min(study_s[1:]),
        "study_s_first": study_s[0],
        "study_simulations": len(setting.traces) * len(setting.bounds) * len(setting.policies),
        "published_study_s": 3 * 86_400.0,
    }


def large_table(rows: int, seed: int = 0) -> ConfigurationTable:
    """Configurations with times and powers that scatter around plausible ones."""
    generator = np.random.default_rng(seed)
    points = np.array([(n, c, w) for n in range(1, 65) for c in range(2, 34, 2)
                       for w in range(50, 120, 7)])[:rows]
    nodes, cores, cap_w = points.T
    scatter = np.exp(0.1 * generator.standard_normal((2, len(points))))
    return ConfigurationTable.build(
        "app", nodes, cores, cap_w, 1e4 / (nodes * cores) ** 0.8 * scatter[0],
        2.0 * nodes * np.minimum(cap_w, 25.0 + 3.0 * cores) * scatter[1],
    )


def decisions_per_second(table: ConfigurationTable, jobs: int) -> float:
    """Adaptive decisions on one queued job at changing free nodes and watts."""
    count = jobs
    made = JobTable.build(
        submit_s=np.arange(count), run_s=np.full(count, 100.0), procs=np.full(count, 16),
        application=np.zeros(count), names={"application": ("app",)},
    )
    offers = make_offers(made, {"app": table})
    policy = Composition(Fcfs(), Easy(), Lending(offers, LendingMemory.start(), 0),
                         adaptive(offers, 0.1), Counted(), NoRegulation())
    state = make_state(made, made.procs, np.full(count, 3000.0), units=NODES, idle_w=0.0,
                       cap_w=10_000.0)
    enqueue(state, policy, count - 1)
    _decide_often(state, policy, 10)
    best = 0.0
    for _ in range(3):
        started = time.perf_counter()
        _decide_often(state, policy, DECISIONS)
        best = max(best, DECISIONS / (time.perf_counter() - started))
    return best


@kernel
def _decide_often(st: State, policy: Composition, times: int) -> int:
    clock = st.clock[0]
    started = 0
    for turn in range(times):
        clock.free = 1 + turn % clock.units
        clock.power_w = float((turn * 37) % 10_000)
        if configure(st, policy.configuration, policy, clock.queue_first):
            started += 1
    return started
