"""What manufacturing variability costs under a power bound, and what knowing it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.machine import Machine, NodeClass
from wattline.model.signal import FloatArray, Signal
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.variability import NodeFactors
from wattline.policies.admission.lending import Lending, LendingMemory
from wattline.policies.backfill.easy import Easy
from wattline.policies.configuration.moldable import adaptive
from wattline.policies.configuration.offers import make_offers
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.varied import Varied
from wattline.policies.regulation.none import NoRegulation
from wattline.studies.rmap.study import (
    PEAK_W_PER_NODE,
    RmapSetting,
    peak_w_per_node,
    ready_tables,
)
from wattline.studies.rmap.workloads import make_trace

# Whether thrifty nodes are chosen, and whether caps are fitted to nodes.
REMEDIES: Mapping[str, tuple[bool, bool]] = {
    "blind": (False, False), "thrifty nodes": (True, False), "fitted caps": (False, True),
    "both": (True, True),
}


@dataclass(frozen=True, eq=False)
class Cost:
    """Mean turnaround by remedy and seed, and that of a machine of equal nodes."""

    sd: float
    bound: float
    trace: str
    equal_s: FloatArray
    turnaround_s: Mapping[str, FloatArray]
    above_bound_s: float
    """Seconds above the bound, over all runs: uncapped jobs on thirsty nodes draw more."""


def cost_of_variability(
    tables: Mapping[str, ConfigurationTable], setting: RmapSetting, sd: float, bound: float,
    trace: str = "random2", progress: Callable[[float], None] = lambda fraction: None,
) -> Cost:
    """Simulate the adaptive policy on machines whose nodes differ, one machine a seed."""
    usable = ready_tables(tables, setting).tables
    holds = int(setting.set_up.holds == "share")
    plans_watts = int(setting.set_up.backfill == "watts")
    equal: list[float] = []
    found: dict[str, list[float]] = {name: [] for name in REMEDIES}
    above_s = 0.0
    for done, seed in enumerate(setting.seeds):
        jobs = make_trace(trace, list(usable.values()), setting.nodes, seed, jobs=setting.jobs,
                          load=setting.load, request=setting.set_up.request)
        offers = make_offers(jobs, usable)
        factor = NodeFactors.drawn(setting.nodes, seed, sd).factor
        order = np.arange(setting.nodes)
        cases = {"equal": (np.ones(setting.nodes), order, 0)}
        for name, (thrifty, fitted) in REMEDIES.items():
            cases[name] = (factor, np.argsort(factor, kind="stable") if thrifty else order,
                           int(fitted))
        for name, (factors, chosen, fitted_caps) in cases.items():
            policy = Composition(
                Fcfs(), Easy(), Lending(offers, LendingMemory.start(), 0, holds, plans_watts),
                adaptive(offers, 0.0, holds), Varied(offers, factors, chosen, fitted_caps),
                NoRegulation())
            bound_w = bound * setting.nodes * peak_w_per_node(usable)
            rules = Rules(choose_nodes=True, cap_w=Signal.constant(bound_w, "W"))
            node = NodeClass("node", power_w_idle=0.0, power_w_active=PEAK_W_PER_NODE)
            run = simulate(jobs, Machine.uniform(setting.nodes, node), policy, rules)
            mean_s = float(np.mean(run.schedule.end_s - jobs.submit_s))
            (equal if name == "equal" else found[name]).append(mean_s)
            above_s += run.time_above_cap_s
        progress((done + 1) / len(setting.seeds))
    return Cost(sd, bound, trace, np.array(equal),
                {name: np.array(values) for name, values in found.items()}, above_s)
