"""Runs that between them pass through the kernels of the core, compiled and plain.

Executed as a script (with WATTLINE_PLAIN=1) it writes their results to a file; the test compares
them with the compiled ones. Each entry is made to use several kernels at once, because every new
combination is compiled anew.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from tests.support.workloads import compose

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.reservation import Reservation
from wattline.model.run import Run
from wattline.model.signal import Signal
from wattline.policies.admission.block import Block
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.admission.wait import Wait
from wattline.policies.admission.watts import Watts
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.order.largest import Largest
from wattline.policies.order.multifactor import Multifactor
from wattline.policies.order.ranked import Ranked
from wattline.policies.order.sjf import Sjf
from wattline.policies.order.wfp import Wfp
from wattline.policies.placement.first_fit import FirstFit

UNITS = 12
CAP = Signal.from_steps([(0, 2300), (40, 1500), (70, 3000)], "W")
WINDOWS = (Reservation(30, 10, nodes=8), Reservation(35, 20, nodes=3),
           Reservation(20, 15, watts=400.0))
LEVELS = Dvfs(np.array([0.5, 0.75, 1.0]), np.array([0.5, 0.7, 1.0]), latency_s=0.5)
MIXED = Machine((NodeGroup(NodeClass("fast", speed=1.5, power_w_active=400.0), UNITS // 2),
                 NodeGroup(NodeClass("slow"), UNITS // 2)))


def jobs_of(seed: int, count: int = 60) -> JobTable:
    random = np.random.default_rng(seed)
    after = np.where(random.random(count) < 0.2, np.arange(count) - 1, -1)
    asked = random.integers(1, 20, count)
    return JobTable.build(
        submit_s=np.cumsum(random.integers(0, 5, count)),
        run_s=random.integers(0, 20, count), requested_s=asked,
        procs=1 + random.integers(0, UNITS, count) * random.integers(0, 2, count),
        user=random.integers(0, 3, count), after_job=after, think_s=random.integers(0, 4, count),
    )


def _play(policy, seed: int, machine: Machine | None = None, **rules) -> Run:
    return simulate(jobs_of(seed), machine or Machine.uniform(UNITS), policy, Rules(**rules))


RUNS: dict[str, Callable[[], Run]] = {
    "fcfs-none": lambda: _play(compose(backfill=NoBackfill()), 1, reservations=WINDOWS[:2]),
    "fcfs-easy": lambda: _play(compose(), 2, reservations=WINDOWS[:2], overrun="kill"),
    "conservative": lambda: _play(
        compose(backfill=Conservative()), 3, reservations=WINDOWS[:1]),
    "sjf-easy-block": lambda: _play(
        compose(order=Sjf(), admission=Block()), 4, cap_w=CAP, reservations=WINDOWS[2:]),
    "fcfs-easy-dvfs": lambda: _play(compose(admission=LEVELS), 5, cap_w=CAP),
    "first-fit": lambda: _play(compose(placement=FirstFit()), 6, MIXED, choose_nodes=True),
    "largest-easy": lambda: _play(compose(order=Largest()), 7),
    "wfp-easy": lambda: _play(compose(order=Wfp()), 8),
    "multifactor-none-wait": lambda: _play(
        compose(order=Multifactor(share=0.5), backfill=NoBackfill(), admission=Wait(15.0, 3)), 9,
        cap_w=CAP, user_share=(0.5, 0.3, 0.2)),
    "ranked-easy-watts": lambda: _play(
        compose(order=Ranked(np.arange(60.0) % 9), admission=Watts()), 10,
        cap_w=Signal.constant(3700.0, "W")),
}


def columns(run: Run) -> dict[str, np.ndarray]:
    """Everything that a run says, by name."""
    found = {f"schedule.{k}": v for k, v in vars(run.schedule).items()}
    found |= {f"events.{k}": v for k, v in vars(run.events).items()}
    found["totals"] = np.array([run.energy_j, run.time_above_cap_s, run.energy_above_cap_j,
                                run.power_w_peak, run.end_s, *run.class_energy_j.values()])
    if run.placement is not None:
        found |= {f"placement.{k}": v for k, v in vars(run.placement).items()}
    return found


def main(path: str) -> None:
    results = {f"{name}/{column}": values for name, make in RUNS.items()
               for column, values in columns(make()).items()}
    np.savez(path, **results)


if __name__ == "__main__":
    main(sys.argv[1])
