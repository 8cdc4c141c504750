"""Runs of random cases that between them pass through the kernels of the core.

They are made twice, compiled and plain, and compared. Each entry uses several kernels at once,
because every new combination is compiled anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

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
from wattline.policies.contract import Composition
from wattline.policies.order.largest import Largest
from wattline.policies.order.multifactor import Multifactor
from wattline.policies.order.ranked import ranked
from wattline.policies.order.sjf import Sjf
from wattline.policies.order.wfp import Wfp
from wattline.policies.placement.first_fit import FirstFit

LEVELS = Dvfs(np.array([0.5, 0.75, 1.0]), np.array([0.5, 0.7, 1.0]), latency_s=0.5,
              share=np.array([0.5, 0.75, 1.0]))


@dataclass(frozen=True, eq=False)
class Case:
    """Fields that a run is given beside its policy. Powers are per unit, so that they suit any
    machine."""

    jobs: JobTable
    units: int
    caps_w: tuple[tuple[float, float], ...]
    """Steps of a cap: time, watts per unit."""
    windows: tuple[tuple[float, float, float], ...]
    """Reservations: start, duration, part of the machine."""
    overrun: Literal["extend", "kill"]

    @property
    def cap(self) -> Signal:
        return Signal.from_steps([(at_s, watts * self.units) for at_s, watts in self.caps_w], "W")

    @property
    def steady_cap(self) -> Signal:
        """Without its later steps: no job waits for ever for watts that do not come back."""
        return Signal.constant(self.caps_w[0][1] * self.units, "W")

    def reserved(self, nodes: bool) -> tuple[Reservation, ...]:
        """The windows as reservations of nodes, or of watts."""
        return tuple(
            Reservation(start_s, duration_s, nodes=max(1, int(part * self.units))) if nodes
            else Reservation(start_s, duration_s, watts=part * 30.0 * self.units)
            for start_s, duration_s, part in self.windows
        )

    def mixed(self) -> Machine:
        fast = (self.units + 1) // 2
        groups = [NodeGroup(NodeClass("fast", speed=1.5, power_w_active=400.0), fast)]
        if self.units > fast:
            groups.append(NodeGroup(NodeClass("slow"), self.units - fast))
        return Machine(tuple(groups))

    def play(self, policy: Composition, machine: Machine | None = None, **rules: Any) -> Run:
        return simulate(self.jobs, machine or Machine.uniform(self.units), policy,
                        Rules(overrun=self.overrun, **rules))


RUNS: dict[str, Callable[[Case], Run]] = {
    "fcfs-none": lambda case: case.play(
        compose(backfill=NoBackfill()), reservations=case.reserved(nodes=True)),
    "fcfs-easy": lambda case: case.play(compose(), reservations=case.reserved(nodes=True)),
    "fcfs-easy-starts-only": lambda case: case.play(compose()),
    "conservative": lambda case: case.play(
        compose(backfill=Conservative()), reservations=case.reserved(nodes=True)),
    "sjf-easy-block": lambda case: case.play(
        compose(order=Sjf(), admission=Block()), cap_w=case.cap,
        reservations=case.reserved(nodes=False)),
    "fcfs-easy-dvfs": lambda case: case.play(compose(admission=LEVELS), cap_w=case.cap),
    "first-fit": lambda case: case.play(
        compose(placement=FirstFit()), case.mixed(), choose_nodes=True),
    "largest-easy": lambda case: case.play(compose(order=Largest())),
    "wfp-easy": lambda case: case.play(compose(order=Wfp())),
    "multifactor-none-wait": lambda case: case.play(
        compose(order=Multifactor(share=0.5), backfill=NoBackfill(), admission=Wait(15.0, 3)),
        cap_w=case.cap, user_share=(0.5, 0.3, 0.2)),
    "multifactor-easy": lambda case: case.play(
        compose(order=Multifactor(age=2.0, share=0.5, age_max_s=20.0)),
        user_share=(0.5, 0.3, 0.2)),
    "fcfs-easy-block": lambda case: case.play(
        compose(admission=Block()), cap_w=case.cap,
        # Without any reservation it would be another composition, to be compiled too.
        reservations=case.reserved(nodes=True) or (Reservation(1e4, 1.0, nodes=1),)),
    "sjf-conservative-wait": lambda case: case.play(
        compose(order=Sjf(), backfill=Conservative(), admission=Wait(15.0, 3),
                placement=FirstFit()), case.mixed(), cap_w=case.steady_cap, choose_nodes=True,
        reservations=case.reserved(nodes=False)),
    "wfp-easy-dvfs": lambda case: case.play(
        compose(order=Wfp(), admission=LEVELS), cap_w=case.cap),
    "ranked-easy-watts": lambda case: case.play(
        compose(order=ranked(np.arange(float(len(case.jobs))) % 9), admission=Watts()),
        cap_w=case.cap),
}


def results(name: str, case: Case) -> dict[str, np.ndarray]:
    """Return what a run says, for the process that compares."""
    return columns(RUNS[name](case))


def columns(run: Run) -> dict[str, np.ndarray]:
    """Everything that a run says, by name."""
    found = {f"schedule.{k}": v for k, v in vars(run.schedule).items()}
    found |= {f"events.{k}": v for k, v in vars(run.events).items()}
    found["totals"] = np.array([run.energy_j, run.time_above_cap_s, run.energy_above_cap_j,
                                run.power_w_peak, run.end_s, *run.class_energy_j.values()])
    if run.placement is not None:
        found |= {f"placement.{k}": v for k, v in vars(run.placement).items()}
    return found
