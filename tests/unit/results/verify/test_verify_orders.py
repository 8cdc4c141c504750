"""Orders by shares, reserved units, node classes and common speeds: runs that broke them are found.

Runs are made by one policy and judged by the promises of another, or their starts are changed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.support.workloads import compose
from tests.unit.results.verify.test_verify_queue import found, play, started, starts, table

from wattline.account.fairshare import Account, ShareTree
from wattline.analysis import rundir
from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.machine import Machine, NodeClass, NodeGroup
from wattline.model.promises import HEAD, Promises
from wattline.model.reservation import Reservation
from wattline.model.run import Run
from wattline.model.signal import Signal
from wattline.policies.admission.block import Block
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.order.multifactor import Multifactor
from wattline.policies.placement.first_fit import FirstFit
from wattline.results.verify.judge import verify
from wattline.studies.fairshare.study import energy_share

MACHINE = Machine.uniform(10, NodeClass(power_w_idle=100.0, power_w_active=300.0))
FLAT = ShareTree.flat(("ann", "bob"))


def promising(run: Run, **queue: object) -> Run:
    """The run with another promise to jobs that wait."""
    assert run.promises.queue is not None
    rule = replace(run.promises.queue, **queue)  # type: ignore[arg-type]
    return replace(run, promises=replace(run.promises, queue=rule))


def test_the_account_that_used_less_energy_goes_first() -> None:
    """Ann's job ran for 10 s when both wait, so that her factor is 1/4 and bob's is 1."""
    jobs = table((0, 8, 10), (1, 8, 10), (2, 8, 10), user=[0, 0, 1])
    run = play(jobs, backfill=NoBackfill(), order=energy_share(FLAT, ("ann", "bob")))
    assert starts(run) == [0, 20, 10]
    assert found(run) == []
    assert found(started(run, 0, 10, 20))[0] == (
        "at 10 s job 2 starts while job 3 waits, which stands before it")


def test_energy_that_has_faded_counts_less() -> None:
    """Bob drew as much as ann after him. With a half-life of 5 s a quarter of his is left, and he
    goes first; with none to speak of both used the same, and rounding decides between them."""
    jobs = table((0, 8, 10), (1, 8, 10), (2, 8, 10), (3, 8, 10), user=[1, 0, 0, 1])
    order = energy_share(FLAT, ("ann", "bob"), half_life_s=5.0)
    run = play(jobs, backfill=NoBackfill(), order=order)
    assert starts(run) == [0, 10, 30, 20]
    assert found(run) == []
    assert found(started(run, 0, 10, 20, 30))[0] == (
        "at 20 s job 3 starts while job 4 waits, which stands before it")
    equal = energy_share(FLAT, ("ann", "bob"), half_life_s=1e15)
    either = play(jobs, backfill=NoBackfill(), order=equal)
    other = [0.0, 10.0, 30.0, 20.0] if starts(either)[2] == 20 else [0.0, 10.0, 20.0, 30.0]
    assert found(either) == []
    assert found(started(either, *other)) == []
    judged, = (each for each in verify(either).judged if each.rule == "queue.rule")
    assert judged.of is not None
    assert judged.decisions == judged.of - 1


def test_the_share_of_an_account_is_its_part_of_the_account_above() -> None:
    """Ann has 3/4 of chemistry's half, bob all of physics' half. Both used the same: half of all.
    Bob's effective usage is 1/2 for a share of 1/2, ann's 1/2 for one of 3/8: bob goes first."""
    tree = ShareTree((Account("chemistry", 1.0), Account("physics", 1.0),
                      Account("ann", 3.0, "chemistry"), Account("chi", 1.0, "chemistry"),
                      Account("bob", 1.0, "physics")))
    jobs = table((0, 8, 10), (1, 8, 10), (2, 8, 10), (3, 8, 10), user=[0, 1, 0, 1])
    order = energy_share(tree, ("ann", "bob"), half_life_s=1e12)
    run = play(jobs, backfill=NoBackfill(), order=order)
    assert starts(run) == [0, 10, 30, 20]
    assert found(run) == []
    assert found(started(run, 0, 10, 20, 30))[0] == (
        "at 20 s job 3 starts while job 4 waits, which stands before it")


def test_the_share_of_a_user_counts_in_the_multifactor_order() -> None:
    jobs = table((0, 8, 10), (1, 8, 10), (2, 8, 10), user=[0, 0, 1])
    order = Multifactor(age=0.0, size=0.0, share=1.0)
    run = simulate(jobs, MACHINE, compose(backfill=NoBackfill(), order=order),
                   Rules(user_share=(0.1, 0.9)))
    assert starts(run) == [0, 20, 10]
    assert found(run) == []
    assert found(started(run, 0, 10, 20))[0] == (
        "at 10 s job 2 starts while job 3 waits, which stands before it")


@pytest.mark.parametrize("order", [
    energy_share(FLAT, ("ann", "bob")), Multifactor(age=0.0, size=0.0, share=1.0)])
def test_a_run_folder_keeps_the_shares_of_the_order(order, tmp_path) -> None:
    jobs = table((0, 8, 10), (1, 8, 10), (2, 8, 10), user=[0, 0, 1])
    run = simulate(jobs, MACHINE, compose(backfill=NoBackfill(), order=order),
                   Rules(user_share=(0.1, 0.9)))
    back = rundir.read(rundir.write(run, tmp_path / "r"))
    wrong = rundir.read(rundir.write(started(run, 0, 10, 20), tmp_path / "w"))
    assert found(back) == []
    assert found(wrong)[0] == "at 10 s job 2 starts while job 3 waits, which stands before it"


RESERVED = (Reservation(10.0, 10.0, 8),)
"""Eight of ten nodes from 10 s to 20 s."""


def test_the_reservation_of_the_first_job_is_made_around_reserved_units() -> None:
    """Job 2 would run into the window at 5 s and starts at 20 s. Job 3 takes the two nodes beside
    both; if it waits, or takes nodes that job 2 needs, that is found."""
    jobs = table((0, 8, 5), (1, 8, 10), (2, 2, 100))
    run = simulate(jobs, MACHINE, compose(), Rules(reservations=RESERVED))
    assert starts(run) == [0, 20, 2]
    assert found(run) == []
    assert found(started(run, 0, 20, 5)) == [
        "job 3 waits at 2 s though it fits beside the reservation of job 2 at 20 s"]
    wide = simulate(table((0, 6, 5), (1, 9, 10), (2, 2, 100)), MACHINE, compose(),
                    Rules(reservations=RESERVED))
    assert starts(wide) == [0, 20, 30]
    assert found(started(wide, 0, 102, 2))[0] == (
        "at 2 s job 3 passes job 2, first in the queue, which can then start at 102 s instead of "
        "20 s")


def on_two_classes(jobs, **policy) -> Run:
    """Two nodes of full speed, 100 W idle and 300 busy; two of half the speed, 50 and 350 W."""
    machine = Machine((
        NodeGroup(NodeClass(power_w_idle=100.0, power_w_active=300.0), 2),
        NodeGroup(NodeClass(power_w_idle=50.0, power_w_active=350.0, speed=0.5), 2)))
    rules = Rules(choose_nodes=True, cap_w=Signal.constant(policy.pop("cap_w", 1300.0), "W"))
    return simulate(jobs, machine, compose(placement=FirstFit(), **policy), rules)


def test_a_job_that_ends_in_time_on_its_slow_nodes_does_not_wait() -> None:
    """Without backfilling job 3 waits, which would end at 4 + 14 s where job 2 starts at 20 s; with
    9 s it would end at 22 s."""
    for asked_s, sentences in ((7, ["job 3 waits at 4 s though it fits beside the reservation of "
                                    "job 2 at 20 s"]), (9, [])):
        jobs = table((0, 2, 20), (1, 4, 10), (4, 1, asked_s))
        run = on_two_classes(jobs, backfill=NoBackfill())
        assert found(run) == []
        assert found(promising(run, keeps=HEAD)) == sentences


def test_the_watts_of_a_job_are_those_of_the_class_of_its_nodes() -> None:
    """The idle machine draws 300 W, and job 1 on both fast nodes 400 W more. Under 900 W there are
    200 W: none for job 2, which a slow node gives 300; under 1,000 W there are."""
    jobs = table((0, 2, 20), (1, 1, 5))
    for cap_w, start_s in ((999.0, 20.0), (1000.0, 1.0)):
        run = on_two_classes(jobs, admission=Block(), cap_w=cap_w)
        assert starts(run) == [0.0, start_s]
        assert found(run) == []
    late = on_two_classes(jobs, admission=Block(), cap_w=999.0)
    assert found(replace(late, cap_w=Signal.constant(1000.0, "W"))) == [
        "job 2, first in the queue, waits at 1 s though there are units and watts for it"]


def test_a_job_starts_where_the_machine_carries_it_at_its_lowest_level() -> None:
    """1,000 W idle: under 2,000 W five nodes may be busy at full speed, and all ten at half the
    power (150 W each, 50 W above idle), where they go at 0.8."""
    levels = Dvfs(speed=np.array([0.8, 1.0]), power_factor=np.array([0.5, 1.0]))
    run = play(table((0, 5, 10), (1, 5, 10)), 2000.0, admission=levels)
    assert starts(run) == [0, 1]
    assert found(run) == []
    # Under 1,450 W eight nodes leave 50 W; two more need 100 W, and 40 W at 0.4 of the power.
    tight = play(table((0, 8, 10), (1, 2, 10)), 1450.0, admission=levels)
    assert starts(tight)[1] > 1
    assert found(tight) == []
    assert found(promising(tight, least_power=0.4)) == [
        "job 2, first in the queue, waits at 1 s though there are units and watts for it"]


def test_a_run_without_the_accounts_of_its_order_is_not_judged_by_it() -> None:
    jobs = table((0, 8, 10), (1, 8, 10), user=[0, 1])
    run = play(jobs, order=energy_share(FLAT, ("ann", "bob")))
    bare = replace(run, promises=Promises(queue=run.promises.queue))
    assert [each.why for each in verify(bare).skipped if each.rule == "queue.rule"] == [
        "the order 'energy-share' is not known here"]
