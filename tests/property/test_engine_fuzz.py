"""Random workloads, compositions, reservations, dependencies and caps: the checker finds nothing.

The compositions are those of the twin runs, so that nothing more has to be compiled.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing
from tests.support.workloads import compose, workloads

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.reservation import Reservation
from wattline.model.run import EventKind
from wattline.model.signal import Signal
from wattline.policies.admission.block import Block
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.order.sjf import Sjf
from wattline.policies.placement.first_fit import FirstFit
from wattline.results.verify.judge import verify

UNITS = 8
MACHINE = Machine.uniform(UNITS)
MIXED = Machine((NodeGroup(NodeClass("fast", speed=1.5, power_w_active=400.0), UNITS // 2),
                 NodeGroup(NodeClass("slow"), UNITS // 2)))
LEVELS = Dvfs(np.array([0.5, 0.75, 1.0]), np.array([0.5, 0.7, 1.0]))
POLICIES = {
    "fcfs-none": compose(backfill=NoBackfill()),
    "fcfs-easy": compose(),
    "conservative": compose(backfill=Conservative()),
    "sjf-easy-block": compose(order=Sjf(), admission=Block()),
    "fcfs-easy-dvfs": compose(admission=LEVELS),
}
EXAMPLES = costing(15)

times = st.integers(0, 60)
reservations = st.lists(
    st.builds(lambda start_s, duration_s, nodes: Reservation(start_s, duration_s, nodes=nodes),
              times, st.integers(1, 20), st.integers(1, UNITS)),
    max_size=3,
)
caps = st.lists(st.tuples(times, st.integers(1200, 3200)), min_size=1, max_size=4).map(
    lambda steps: Signal.from_steps([(0, 3000), *steps], "W"))


@st.composite
def chains(draw):
    """A workload in which some jobs wait for earlier ones."""
    jobs = draw(workloads(UNITS))
    after = [draw(st.integers(-1, row - 1)) if draw(st.booleans()) else -1
             for row in range(len(jobs))]
    think_s = draw(st.lists(st.integers(0, 9), min_size=len(jobs), max_size=len(jobs)))
    return jobs.with_columns(after_job=after, think_s=think_s)


@pytest.mark.parametrize("name", POLICIES)
@given(jobs=chains(), held=reservations, cap_w=caps, overrun=st.sampled_from(["extend", "kill"]))
@EXAMPLES
def test_nothing_is_wrong_with_any_run(name, jobs, held, cap_w, overrun):
    rules = Rules(overrun=overrun, reservations=held, cap_w=cap_w)
    run = simulate(jobs, MACHINE, POLICIES[name], rules)
    assert verify(run).sentences == []
    if "block" not in name and "dvfs" not in name:
        assert run.ran.all()
    if overrun == "kill":
        assert_reservations_are_kept(run, held, moves=name.endswith("dvfs"))


def assert_reservations_are_kept(run, held, *, moves):
    """Jobs are killed in time: a reservation has its units from its start to its end.

    A change of speed stretches running jobs, which nobody could foresee; and a reservation that
    lies behind the first submission is not known before it.
    """
    if moves:
        return
    log = run.events
    lasts = np.append(np.diff(log.time_s), 0.0) > 0
    known = [r for r in held if r.start_s > run.start_s]
    for time_s, busy in zip(log.time_s[lasts], log.busy[lasts], strict=True):
        kept = sum(r.nodes for r in known if r.start_s <= time_s < r.end_s)
        assert busy <= max(UNITS - kept, 0)


@given(jobs=chains(), name=st.sampled_from(["fcfs-easy", "fcfs-none"]),
       overrun=st.sampled_from(["extend", "kill"]))
@EXAMPLES
def test_a_reservation_that_never_matters_changes_nothing(jobs, name, overrun):
    """Planning around windows is other code than planning without; the rule is the same."""
    far = (Reservation(1e6, 5.0, nodes=1),)
    without = simulate(jobs, MACHINE, POLICIES[name], Rules(overrun=overrun))
    around = simulate(jobs, MACHINE, POLICIES[name], Rules(overrun=overrun, reservations=far))
    np.testing.assert_array_equal(without.schedule.start_s, around.schedule.start_s)


@given(jobs=chains(), overrun=st.sampled_from(["extend", "kill"]))
@EXAMPLES
def test_two_classes_of_nodes(jobs, overrun):
    run = simulate(jobs, MIXED, compose(placement=FirstFit()),
                   Rules(choose_nodes=True, overrun=overrun))
    assert verify(run).sentences == []
    assert run.ran.all()


@given(jobs=chains(), cap_w=caps)
@EXAMPLES
def test_dvfs_does_all_the_work_there_is(jobs, cap_w):
    """The machine-wide speed, read from the log, integrates to each job's run time."""
    run = simulate(jobs, MACHINE, POLICIES["fcfs-easy-dvfs"], Rules(cap_w=cap_w))
    assert verify(run).sentences == []
    log = run.events
    changes = (log.kind == EventKind.RATE) & (log.job == -1)
    speed = Signal.from_steps(
        [(-1.0, 1.0), *zip(log.time_s[changes].tolist(), log.value[changes].tolist(),
                           strict=True)])
    for job in np.flatnonzero(run.ran):
        done_s = speed.integral(run.schedule.start_s[job], run.schedule.end_s[job])
        assert done_s == pytest.approx(jobs.run_s[job], rel=1e-9)
