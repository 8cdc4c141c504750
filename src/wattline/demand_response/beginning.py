"""What all runs of a case begin with: books and a control desk, of which only the bid differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from wattline.demand_response.case import Case
from wattline.engine.prepare import Opening, Rules
from wattline.grid.market import Bid
from wattline.model.kernel_arrays import Mould
from wattline.model.machine import Machine, NodeClass
from wattline.model.signal import Signal
from wattline.policies.regulation.desk import Desk
from wattline.policies.regulation.setup import ContractPlan, make_desk

COLUMNS = ("servers", "time_s_min", "time_s_max", "power_w_max", "power_w_min", "threshold")
MOST_JOBS = 5_000
"""Of a case with more the books are not kept: to fill them takes little of a run's time."""


class Beginning:
    """What the runs of a case have in common. It does not hold the case, so that both can go."""

    def __init__(self, case: Case) -> None:
        self.machine = _machine(case)
        self.rules = _rules(case)
        self._desk = Mould(_desk(case).with_rows(len(case.jobs)))
        self.opening: Opening | None = None
        if len(case.jobs) <= MOST_JOBS:
            self.opening = Opening(case.jobs, self.machine, self.rules)

    def desk(self, case: Case, bids: Sequence[Bid | None]) -> Desk:
        """A desk for these bids, one per hour."""
        desk = self._desk.cast()
        desk.average[:] = [bid.average_w if bid else 0.0 for bid in bids]
        desk.reserve[:] = [bid.reserve_w if bid else 0.0 for bid in bids]
        desk.start_shares[:] = [bid.start_share if bid else case.start_share for bid in bids]
        equal = equal_weights(case)
        weights = np.array([((bid.weights if bid else ()) or equal) + (0.0,) for bid in bids])
        weights = weights[:, : len(case.types)]
        desk.weights[:] = weights.ravel()
        desk.types["weight"] = weights[0]
        return desk


_known: WeakKeyDictionary[Case, Beginning] = WeakKeyDictionary()


def beginning_of(case: Case) -> Beginning:
    """Made when the case is first run."""
    found = _known.get(case)
    if found is None:
        found = _known[case] = Beginning(case)
    return found


def equal_weights(case: Case) -> tuple[float, ...]:
    """The weights of types where no bid says them."""
    count = len(case.workload.types)
    return case.weights or (1.0 / count,) * count


def late(signal: Signal, latency_s: float) -> Signal:
    """The signal as the control sees it; till its first value arrives that is 0."""
    if latency_s == 0:
        return signal
    return Signal(np.append(signal.time_s[0], signal.time_s + latency_s),
                  np.append(0.0, signal.value), signal.unit)


def _machine(case: Case) -> Machine:
    highest_w = max(t.power_w_max for t in case.types)
    node = NodeClass("server", power_w_idle=case.workload.power_w_idle, power_w_active=highest_w)
    if case.sleep is not None:
        node = replace(case.sleep, name="server", power_w_idle=case.workload.power_w_idle,
                       power_w_active=highest_w)
    return Machine.uniform(case.workload.servers, node)


def _rules(case: Case) -> Rules:
    # A row per cycle, and one where caps change; for every job only where the map is wanted too.
    rows = int(case.duration_s / case.cycle_s * (8 if case.choose_nodes else 2)) + 4096
    return Rules(choose_nodes=case.choose_nodes, event_rows=rows,
                 speeds_together=not case.choose_nodes)


def _desk(case: Case) -> Desk:
    """The desk of the case without a bid."""
    hours, types = case.hours, case.types
    plan = ContractPlan(
        case.start_s, case.end_s, late(case.signal, case.latency_s), np.zeros(hours),
        np.zeros(hours), limit_w=case.limit_w, cycle_s=case.cycle_s, adaptive=case.adaptive,
        preempt=case.preempt, feedback=case.feedback, sleep=case.sleep is not None,
        reserve=case.reserve, own_times=case.own_times, hour_0_s=case.hour_0_s,
        directions=(case.workload.product != "down", case.workload.product != "up"),
    )
    return make_desk(
        plan, {name: np.array([getattr(t, name) for t in types]) for name in COLUMNS},
        standby=len(case.workload.types) if case.workload.standby is not None else -1,
        weights=np.zeros(len(types)), names=[t.name for t in types],
    )
