"""The engine is compiled for no more than the policy needs, and says so when that was wrong."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from tests.support.workloads import compose

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.kernel import implement, kernel
from wattline.model.machine import Machine
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.contract import Composition, Everything, StartsOnly, settle, starts_only
from wattline.policies.starting import note
from wattline.policies.state import ACT_WAKE, State


@starts_only
class Liar(NamedTuple):
    """Asks to be woken although it says that it only starts jobs."""


@implement(settle, Liar)
@kernel
def _settle(st: State, admission: Liar, policy: Composition) -> None:
    note(st, ACT_WAKE, -1, st.clock[0].now_s + 1.0, 0.0)


def test_scope_is_the_smallest_that_serves_the_policy():
    assert compose().narrowed(windows=0).scope == StartsOnly()
    assert type(compose().narrowed(windows=1).scope) is Everything
    for axis in ({"backfill": Conservative()}, {"admission": Dvfs((1.0,), (1.0,))}):
        assert type(compose(**axis).narrowed(windows=0).scope) is Everything


def test_policy_that_asks_for_more_than_it_said_is_refused():
    jobs = JobTable.build(submit_s=[0.0], run_s=[5.0], requested_s=[5.0], procs=[1])
    with pytest.raises(TypeError, match="starts_only"):
        simulate(jobs, Machine.uniform(2), compose(admission=Liar()), Rules())
