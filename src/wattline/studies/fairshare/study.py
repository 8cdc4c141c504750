"""The fair-share study: who computes with fewer joules waits less.

60 similar jobs come at once: 20 each of one user who runs at the frequency that needs the fewest
joules and of two ordinary users, one at full speed (as the on-demand governor would) and one at
2.3 GHz. All have equal shares. Under fair-share by joules the efficient user's jobs come earlier,
so it waits less than the others, and less than under first come, first served. Its stretch
(turnaround over run time) is mostly the lowest under both, as slower jobs have longer run times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.account.fairshare import ShareTree
from wattline.engine.composed import composed
from wattline.engine.simulate import simulate
from wattline.model.errors import InputError
from wattline.model.machine import Machine
from wattline.model.run import Run
from wattline.model.signal import FloatArray
from wattline.physics.core_power import NODE_OFF_W, SANDY_BRIDGE, CorePower
from wattline.policies.admission.none import NoLimit
from wattline.policies.order.energy_share import (
    EnergyShare,
    by_code,
    fresh_memory,
    with_strangers,
)
from wattline.policies.order.fcfs import Fcfs
from wattline.studies.fairshare.workloads import (
    CORES,
    JOB_NODES,
    NODES,
    RUN_S,
    USERS,
    burst,
)

NORMAL_HZ = 2.3e9
"""Of the third user; the table of the cores has 2.2 and 2.4 GHz, between which a line is taken."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
FIRST_COME, BY_JOULES = "first come", "energy fair-share"
SEEDS = 20
"""Random orders of submission over which the two orders of service are compared."""


@dataclass(frozen=True, eq=False)
class ShareResult:
    """The runs by order, and what the users chose."""

    runs: dict[str, Run]
    frequency_hz: dict[str, float]
    energy_j: dict[str, float]
    """Of one job of each user."""


@dataclass(frozen=True, eq=False)
class ShareSeeds:
    """Means over the jobs of each user, one figure per seed, by order and user."""

    seeds: tuple[int, ...]
    wait_s: dict[str, dict[str, FloatArray]]
    stretch: dict[str, dict[str, FloatArray]]


def energy_share(
    tree: ShareTree, users: tuple[str, ...], *, half_life_s: float = 604800.0,
    fair: float = 1.0, age: float = 0.0, size: float = 0.0,
) -> EnergyShare:
    """The order for these users (by code) over an account tree."""
    missing = [user for user in users if user not in tree.index]
    if missing:
        raise InputError(f"user '{missing[0]}' is in no account of the share tree")
    if not half_life_s > 0:
        raise InputError(f"half_life_s is {half_life_s:g}, must be above 0")
    return EnergyShare(
        **with_strangers(tree),
        memory=fresh_memory(len(tree.parent) + 1, by_code([tree.index[user] for user in users])),
        half_life_s=half_life_s, fair=fair, age=age, size=size,
    )


def with_frequency(core: CorePower, wanted_hz: float, beta: float) -> CorePower:
    """The same cores with one more level, its power on the line between its neighbours."""
    levels = sorted({*core.frequency_hz, wanted_hz})
    power_w = np.interp(levels, core.frequency_hz, core.power_w)
    return CorePower(tuple(levels), tuple(power_w.tolist()), core.idle_w, beta)


def study(seed: int = 1, *, beta: float = 0.7, half_life_s: float = 86400.0) -> ShareResult:
    """Run the burst first come first served, and by joules.

    `beta` says how run time follows from frequency; 0.7 stands for a Linpack that waits for
    memory part of the time. It is our assumption: the published calibration is a picture.
    """
    core = with_frequency(SANDY_BRIDGE, NORMAL_HZ, beta)
    machine = Machine.uniform(NODES, core.node_class(CORES, off_w=NODE_OFF_W), name="burst")
    levels = {"efficient": int(np.argmin(core.node_power(CORES) / core.speed())),
              "ondemand": core.levels - 1, "2.3 GHz": core.frequency_hz.index(NORMAL_HZ)}
    jobs = burst(core, levels, seed)
    order = energy_share(ShareTree.flat(USERS), USERS, half_life_s=half_life_s)
    runs = {
        FIRST_COME: simulate(jobs, machine, composed(NoLimit(), Fcfs())),
        BY_JOULES: simulate(jobs, machine, composed(NoLimit(), order)),
    }
    energy = JOB_NODES * core.node_power(CORES) * RUN_S / core.speed()
    return ShareResult(
        runs,
        {user: core.frequency_hz[level] for user, level in levels.items()},
        {user: float(energy[level]) for user, level in levels.items()},
    )


def stretches(run: Run) -> dict[str, FloatArray]:
    """Turnaround over run time of each job, by user, sorted."""
    turnaround = run.schedule.end_s - run.jobs.submit_s
    took = run.schedule.end_s - run.schedule.start_s
    return _by_user(run, turnaround / took)


def _by_user(run: Run, values: FloatArray) -> dict[str, FloatArray]:
    return {name: np.sort(values[run.jobs.user == code])
            for code, name in enumerate(run.jobs.names["user"])}


def over_seeds(
    seeds: Iterable[int] = range(1, SEEDS + 1), *, beta: float = 0.7, half_life_s: float = 86400.0
) -> ShareSeeds:
    """The study for each seed; the draw of the order of submission favours users by itself."""
    taken = tuple(seeds)
    runs = [study(seed, beta=beta, half_life_s=half_life_s).runs for seed in taken]
    return ShareSeeds(taken, _by_order(runs, waits), _by_order(runs, stretches))


def _by_order(
    runs: Sequence[dict[str, Run]], of: Callable[[Run], dict[str, FloatArray]]
) -> dict[str, dict[str, FloatArray]]:
    found = {order: [of(each[order]) for each in runs] for order in runs[0]}
    return {order: {user: np.array([np.mean(one[user]) for one in each]) for user in USERS}
            for order, each in found.items()}


def waits(run: Run) -> dict[str, FloatArray]:
    """Seconds from submission to start of each job, by user, sorted."""
    return _by_user(run, run.schedule.start_s - run.jobs.submit_s)


def _mean_turnaround_s(run: Run, user: str) -> float:
    rows = run.jobs.user == run.jobs.names["user"].index(user)
    return float(np.mean((run.schedule.end_s - run.jobs.submit_s)[rows]))


def figures(found: ShareResult) -> dict[str, Any]:
    """Stretch quantiles by order and user."""
    return {
        "frequency_hz": found.frequency_hz,
        "job_energy_j": found.energy_j,
        "orders": {
            order: {
                user: {
                    "mean": float(np.mean(values)),
                    "turnaround_s": _mean_turnaround_s(run, user),
                    **{f"p{100 * q:02.0f}": float(np.quantile(values, q)) for q in QUANTILES},
                }
                for user, values in stretches(run).items()
            }
            for order, run in found.runs.items()
        },
        "makespan_s": {order: run.end_s - run.start_s for order, run in found.runs.items()},
        "energy_j": {order: run.energy_j for order, run in found.runs.items()},
    }
