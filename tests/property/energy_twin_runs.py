"""Runs through the kernels that manage energy, compiled and plain; see `twin_runs`.

Three compositions, each of several parts, because every new combination is compiled anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from tests.property.twin_runs import columns
from tests.support.workloads import compose

from wattline.account.fairshare import ShareTree
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.engine.truth import TrueClaims
from wattline.engine.world import Nature
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.run import Run
from wattline.model.signal import Signal
from wattline.model.views import MachineView
from wattline.model.views.build import power_view, view_from_mapping
from wattline.physics.budget import EnergyBudget
from wattline.physics.claims import npb_claims
from wattline.physics.core_power import NODE_OFF_W, SANDY_BRIDGE
from wattline.physics.powercap import CapChange, PowerCap, WattReservation
from wattline.policies.admission.adaptive_setup import Strategy, adaptive
from wattline.policies.admission.budget_setup import budgeted
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.configuration.claimed import Claimed
from wattline.policies.configuration.claimed_setup import options_of
from wattline.policies.placement.bounded_setup import bounded
from wattline.policies.placement.bounds_in_views import bounds_of
from wattline.policies.placement.claimed import ClaimedNodes
from wattline.studies.fairshare.study import energy_share

UNITS = 12
NODE = SANDY_BRIDGE.node_class(1, off_w=NODE_OFF_W / 16, boot_s=3.0, shutdown_s=2.0)
MACHINE = Machine.uniform(UNITS, NODE, nodes_per_rack=4)
FULL_W = MACHINE.power_w_max


def jobs_of(seed: int, count: int = 60) -> JobTable:
    random = np.random.default_rng(seed)
    return JobTable.build(
        submit_s=np.cumsum(random.integers(0, 5, count)),
        run_s=random.integers(0, 20, count), requested_s=random.integers(1, 20, count),
        procs=1 + random.integers(0, UNITS, count) * random.integers(0, 2, count),
        user=random.integers(0, 3, count), think_s=random.integers(0, 4, count),
        after_job=np.where(random.random(count) < 0.2, np.arange(count) - 1, -1),
    )


def adaptive_conservative(seed: int) -> Run:
    """Frequencies, switching, windows, a floor and a ramp, under conservative backfilling."""
    jobs = jobs_of(seed)
    plan = PowerCap(
        0.8 * FULL_W, changes=(CapChange(60.0, 0.6 * FULL_W), CapChange(150.0, FULL_W)),
        reservations=(WattReservation(90.0, 30.0, 0.2 * FULL_W),), floor_w=0.2 * FULL_W,
        change_rate_w_per_s=1.0,
    )
    admission = adaptive(MACHINE, plan, strategy=Strategy.MIX, jobs=jobs)
    rules = Rules(cap_w=plan.signal(FULL_W))
    return simulate(jobs, MACHINE, compose(admission=admission, backfill=Conservative()), rules)


def share_budget_bounded(seed: int) -> Run:
    """Fair-share by joules, an energy budget, and bounds of racks and site."""
    jobs = jobs_of(seed)
    users = ("ann", "bob", "eve")
    order = energy_share(ShareTree.flat(users), users, half_life_s=60.0, age=0.2)
    price = Signal.from_steps([(0, 3), (40, 1), (80, 5), (120, 2)], "EUR")
    start_s = float(jobs.submit_s[0])
    budget = EnergyBudget(0.7 * FULL_W * 200.0, start_s, start_s + 200.0, price)
    admission = budgeted(MACHINE, budget, adaptive(MACHINE, jobs=jobs), 3)
    view = power_view(MACHINE, limits_w={"rack0": 3.2 * NODE.power_w_active},
                      site_limit_w=0.9 * FULL_W)
    policy = compose(order=order, admission=admission, placement=bounded(view, MACHINE))
    return simulate(jobs, MACHINE, policy, Rules(choose_nodes=True, overrun="kill"))


def feeds(seed: int) -> Run:
    """Two feeds, each of which must carry both, and a cooling loop across them."""
    jobs = jobs_of(seed)
    idle_w, busy_w, nodes = NODE.power_w_idle, NODE.power_w_active, MACHINE.node_count
    keys = [{"name": "w", "inherit": "children_sum"}, {"name": "most"}, {"name": "part"}]

    def view(name: str, part: float, most: dict[str, float], carries: list[str]) -> MachineView:
        entities = [{"name": f"{name}{half}", "most": most_w} for half, most_w in most.items()]
        entities += [{"name": f"n{node}", "type": "node", "w": part * idle_w, "part": part,
                      "parent": f"{name}{list(most)[node % len(most)]}"} for node in range(nodes)]
        return view_from_mapping(name, {"keys": keys, "entities": entities, "bounds": [
            {"used": "w", "limit": "most", "share": "part", "carries": carries}]}, "feeds")

    full_w = nodes * busy_w
    views = [view("a", 0.75, {"": 0.9 * full_w}, ["b"]),
             view("b", 0.25, {"left": 0.2 * full_w, "right": 0.2 * full_w}, []),
             view("heat", 0.8, {"one": 0.25 * full_w, "two": 0.3 * full_w, "three": full_w}, [])]
    policy = compose(placement=bounded(views, MACHINE))
    run = simulate(jobs, MACHINE, policy, Rules(choose_nodes=True))
    return replace(run, bounds=bounds_of(views, MACHINE))


def claimed(seed: int) -> Run:
    """Claims choose classes and settings, wait for better ones, and learn."""
    book = npb_claims()
    names = sorted({claim.application for claim in book})
    classes = sorted({claim.node_class for claim in book})
    machine = Machine(tuple(NodeGroup(NodeClass(name, power_w_idle=2.0), 4) for name in classes))
    jobs = jobs_of(seed, 40)
    wanted = np.arange(len(jobs)) % len(names)
    jobs = replace(jobs, application=wanted, procs=np.ones(len(jobs), dtype=np.int64),
                   names={"application": tuple(names)})
    options = options_of(book, book, machine, [names[code] for code in wanted], [1] * len(jobs))
    noise = 1.0 + 0.1 * np.sin(np.arange(len(jobs)))
    truth = TrueClaims(options.true_s, options.true_w, noise)
    claims = Claimed(options.memory, 1.0, 1.0, 0.0, 0.5, patience=1.0)
    return simulate(jobs, machine, compose(configuration=claims, placement=ClaimedNodes(claims)),
                    Rules(choose_nodes=True, nature=Nature(work=truth, answers=truth)))


RUNS: dict[str, Callable[[int], Run]] = {
    "adaptive-conservative": adaptive_conservative,
    "share-budget-bounded": share_budget_bounded,
    "claimed": claimed,
    "feeds": feeds,
}


def results(name: str, seed: int) -> dict[str, np.ndarray]:
    """Return what a run says, for the process that compares."""
    return columns(RUNS[name](seed))
