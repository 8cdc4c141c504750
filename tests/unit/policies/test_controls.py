"""Requests of a decision to the machine, in terms that somebody can set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from tests.support.choices import planned
from tests.support.workloads import compose

from wattline.books import Books, CapChanged, Decision, Submitted
from wattline.engine.telling import Teller
from wattline.model.machine import Machine, NodeClass
from wattline.policies.admission.dvfs import Dvfs
from wattline.scenario.build import Plan


def starts(plan: Plan) -> list[tuple[float, Decision]]:
    """Each start of a run that books are told of, and when."""
    seen: list[tuple[float, Decision]] = []

    def watch(now_s: float, events: Any, decisions: Iterable[Decision], answers: Any) -> None:
        seen.extend((now_s, each) for each in decisions if each.kind == "start")

    Teller(plan.jobs, plan.machine, plan.policy, plan.rules).run(watch)
    return seen


def test_levels_of_the_machine_are_frequencies() -> None:
    """From 2,400 W of eight nodes down to a cap of 2 kW: the level, and then a job at it."""
    node = NodeClass(power_w_idle=90.0, power_w_active=300.0)
    share = np.array([0.5, 0.8, 1.0])
    dvfs = Dvfs(share, np.array([0.4, 0.8, 1.0]), share=share)
    books = Books.open(Machine.uniform(8, node), compose(admission=dvfs))
    first = books.step(0, [Submitted("a", 6, 100.0)])
    lower = books.step(10, [CapChanged(1700.0)])
    then = books.step(20, [Submitted("b", 2, 10.0)])
    assert [(each.kind, each.rate) for each in lower] == [("level", 0.8)]
    assert [each.control.frequency_share for each in (*first, *lower)] == [1.0, 0.8]
    assert [(each.kind, each.control.frequency_share) for each in then] == [
        ("start", 0.5), ("level", 0.5)]


def test_fitted_caps_are_said_node_by_node_and_add_up() -> None:
    equal, fitted = ([(len(each.control.nodes), each.control.cap_w, each.control.node_caps_w)
                      for _, each in starts(planned("placement.varied", **{
                          "policy.placement": {"name": "varied", "sd": 0.1, "caps": caps}}))]
                     for caps in ("equal", "fitted"))
    assert all(not caps for _, _, caps in equal)
    fitted = [start for start in fitted if start[2]]
    assert fitted
    assert any(len(set(caps)) > 1 for _, _, caps in fitted)
    for nodes, cap_w, caps in fitted:
        assert len(caps) == nodes
        assert sum(caps) == pytest.approx(nodes * cap_w)


def test_hardware_caps_decide_as_frequencies_do_and_add_up_to_what_was_promised() -> None:
    """Nodes are asked for a cap instead of a frequency: the same starts, the same watts."""
    by_frequency, by_cap = (
        planned("power.adaptive", **{"policy.power": {"name": "adaptive", "strategy": strategy}})
        for strategy in ("dvfs", "cap"))
    top_hz = float(by_cap.policy.admission.frequency_hz[-1])
    slowed, capped = starts(by_frequency), starts(by_cap)
    assert [(now_s, each.job, each.power_w) for now_s, each in capped] == [
        (now_s, each.job, each.power_w) for now_s, each in slowed]
    assert any(each.control.frequency_hz < top_hz for _, each in slowed)
    for _, each in capped:
        assert each.control.frequency_hz is None
        assert each.control.cap_w * each.control.units == pytest.approx(each.power_w)
