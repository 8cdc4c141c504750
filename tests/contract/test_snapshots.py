"""Every choice of every axis on snapshots: the engine's decisions, or a refusal in one line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.choices import CASES, planned
from tests.support.thinned import mostly
from tests.support.workloads import compose
from wattline.books.snapshot import decide
from wattline.engine.simulate import simulate
from wattline.model.errors import InputError, PolicyError, WattlineError
from wattline.model.signal import Signal
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.order.ranked import Ranked
from wattline.policies.regulation.setup import ContractPlan, axes, make_desk
from wattline.policies.view import QueuedJob, View
from wattline.testing.policy_contract import OnSnapshots

CARRIED = {
    "order.fcfs", "order.sjf", "order.largest", "order.wfp", "order.multifactor",
    "backfill.none", "backfill.easy", "power.none", "power.block", "power.block, low cap",
    "power.dvfs", "power.watts", "power.adaptive", "power.adaptive, idle",
    "power.adaptive, own frequencies", "power.adaptive, window", "configure.requested",
    "placement.counted",
}
"""Policies that decide from a view alone; all else says why it does not."""

REFUSE_MOST = ("power.block, low cap",)


def asked(case: str, count: int) -> str:
    """Return what is refused of a choice where policies are asked with views; nothing where the
    run is that of the engine."""
    made = planned(case, count=max(count, 18) if case in REFUSE_MOST else count)
    try:
        found = simulate(made.jobs, made.machine, OnSnapshots(made.policy), made.rules)
    except WattlineError as error:
        return str(error)
    inside = simulate(made.jobs, made.machine, made.policy, made.rules)
    assert inside.ran.sum() > 5
    for name in ("outcome", "nodes"):
        np.testing.assert_array_equal(getattr(found.schedule, name),
                                      getattr(inside.schedule, name), err_msg=case)
    for name in ("start_s", "end_s", "energy_j"):
        np.testing.assert_allclose(getattr(found.schedule, name),
                                   getattr(inside.schedule, name), rtol=1e-9, err_msg=case)
    return ""


@pytest.mark.parametrize("axis", ["order", "backfill", "power", "configure", "placement"])
@pytest.mark.parametrize("count", mostly([10, 18], [10], pytest.mark.long))
def test_a_choice_is_decided_as_in_the_engine_or_refused_in_one_line(
    axis: str, count: int
) -> None:
    cases = [case for case in CASES if case.startswith(axis)]
    found = {case: asked(case, count) for case in cases}
    assert {case for case, refused in found.items() if not refused} == {
        case for case in CARRIED if case.startswith(axis)}
    assert len(found) == len(cases)
    for refused in found.values():
        assert "\n" not in refused


VIEW = View(now_s=4.0, units=8, free=8, power_w=720.0, cap_w=np.inf, idle_w=90.0,
            queue=(QueuedJob(0, 2, 20.0, 1.0, 600.0),))


class OurOrder(Ranked):
    """A plug-in of somebody who never heard of snapshots."""


def _regulated(name: str):
    plan = ContractPlan(0.0, 100.0, signal=Signal.constant(0.0), average_w=np.array([3000.0]),
                reserve_w=np.array([500.0]))
    types = {"servers": [1], "time_s_min": [9.0], "time_s_max": [10.0], "power_w_max": [300.0],
             "power_w_min": [200.0], "threshold": [1.0]}
    desk = make_desk(plan, types, weights=[1.0], standby=-1)
    backfill, regulation = axes(name, desk)
    return compose(backfill=backfill, regulation=regulation)


REFUSED = {
    "conservative": compose(backfill=Conservative()),
    "ranked": compose(order=Ranked(np.zeros(1))),
    "plug-in": compose(order=OurOrder(np.zeros(1))),
    **{name: _regulated(name) for name in ("tracking", "aqa", "qoscap", "energyqare")},
    "regulation alone": compose(regulation=_regulated("tracking").regulation),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_say_that_a_view_suffices_is_refused(name: str) -> None:
    with pytest.raises(PolicyError, match="a snapshot cannot be decided") as found:
        decide(REFUSED[name], VIEW)
    assert "\n" not in str(found.value)
    assert "simulate it instead" in str(found.value)


@pytest.mark.parametrize(("change", "said"), [
    ({"free": 9}, "9 are free"), ({"free": -3}, "-3 units free"), ({"now_s": np.nan}, "time nan"),
    ({"cap_w": np.nan}, "a cap of nan W"), ({"power_w": -1.0}, "power -1.0 W"),
    ({"queue": (QueuedJob(0, 2, 20.0, 1.0, 600.0), QueuedJob(0, 1, 2.0, 1.0, 300.0))},
     "two jobs are called 0"),
    ({"queue": (QueuedJob(0, 0, 20.0, 1.0, 600.0),)}, "job 0 has 0 units"),
    ({"queue": (QueuedJob(0, 2, np.nan, 1.0, 600.0),)}, "and nan"),
    ({"queue": (QueuedJob(0, 2, 20.0, 1.0, np.nan),)}, "nan W"),
])
def test_a_view_of_no_machine_is_refused(change, said) -> None:
    with pytest.raises(InputError, match=said):
        decide(compose(), replace(VIEW, **change))
