"""A policy that takes over: what the one before it slowed down or paused is not left so."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.support import regulated as contract
from tests.support.regulated import MACHINE, NAMES, regulated, typed_jobs
from tests.support.told_books import machine, opened, read, writing
from tests.support.workloads import compose

from wattline.books import Books, Cancelled, CapChanged, Decision, Ended, Started, Submitted
from wattline.books.event_codes import decision_from, decision_values
from wattline.books.replay import replay
from wattline.engine.prepare import Rules
from wattline.engine.telling import Switch, Teller
from wattline.model.jobs import JobTable
from wattline.model.signal import Signal
from wattline.policies.admission.adaptive_setup import adaptive
from wattline.policies.admission.block import Block
from wattline.policies.admission.dvfs import Dvfs
from wattline.policies.contract import Composition
from wattline.policies.state import PAUSED


def decisions_of(teller: Teller) -> list[tuple[float, Decision]]:
    """All until the end of its run, and when."""
    seen: list[tuple[float, Decision]] = []
    teller.run(lambda now_s, events, decisions, answers: seen.extend(
        (now_s, each) for each in decisions))
    return seen


def dvfs() -> Dvfs:
    return Dvfs(np.array([0.5, 1.0]), np.array([0.6, 1.0]))


def shown(decisions):
    return [[each.kind, each.job, each.rate, round(each.power_w, 6)] for each in decisions]


def sums(books):
    clock, live = books.state.clock[0], books.state.live
    running = books.state.running[: clock.running]
    idle_w = clock.free * clock.idle_w
    return [abs(float(clock.power_w - idle_w - live.power_w[running].sum())) < 1e-6,
            abs(float(clock.running_watts - live.watts[running].sum())) < 1e-6]


def test_the_machine_is_brought_to_full_speed_by_a_policy_without_levels() -> None:
    """The job that ran at half speed has its expected end moved, and the next one runs in full."""
    books, lines = writing(compose(admission=dvfs()), cap_w_max=3000.0)
    books.step(0, [CapChanged(1500.0), Submitted("a", 6, 100.0)])
    slow = [float(books.state.clock[0].speed), books.power_w]
    books.step(10, [])
    books = books.with_policy(compose(admission=Block()), {"name": "block"})
    row = books.roll.row("a")
    said = shown(books.step(10, [CapChanged(3000.0)]))
    after = [float(books.state.live[row].rate), float(books.state.live[row].expected_s),
             books.power_w]
    later = shown(books.step(20, [Submitted("b", 2, 10.0)]))
    again = replay(opened(compose(admission=dvfs()), cap_w_max=3000.0), read(lines),
                   lambda given: compose(admission=Block()))
    found = [slow, said, after, later, sums(books), again.equal]
    slow, said, after, later, summed, equal = found
    assert slow == [0.5, 2 * 90.0 + 6 * 300.0 * 0.6]
    assert said == [["level", None, 1.0, 1.0]]
    assert after == [1.0, 10.0 + 95.0, 2 * 90.0 + 6 * 300.0]
    assert later == [["start", "b", 1.0, 600.0]]
    assert summed == [True, True]
    assert equal


def test_the_next_policy_with_levels_of_the_machine_chooses_its_own() -> None:
    books = opened(compose(admission=dvfs()), cap_w=1500.0, cap_w_max=1500.0)
    books.step(0, [Submitted("a", 6, 100.0)])
    slower = Dvfs(np.array([0.4, 0.8]), np.array([0.5, 0.9]))
    found = shown(books.with_policy(compose(admission=slower)).step(1, []))
    assert found == [["level", None, 0.4, 0.5]]


@pytest.mark.parametrize("kept", [False, True])
def test_jobs_that_followed_the_cap_run_in_full_unless_the_next_policy_has_their_levels(
    kept: bool,
) -> None:
    def following() -> Composition:
        return compose(admission=adaptive(machine, follow=True))

    def after() -> Composition:
        return following() if kept else compose()

    books, lines = writing(following(), cap_w_max=2400.0)
    books.step(0, [CapChanged(2400.0), Submitted("a", 8, 100.0)])
    books.step(10, [CapChanged(1800.0)])
    row = books.roll.row("a")
    slow = float(books.state.live[row].rate)
    books = books.with_policy(after(), {"name": "next"})
    said = shown(books.step(20, []))
    live = books.state.live[row]
    again = replay(opened(following(), cap_w_max=2400.0), read(lines), lambda given: after())
    found = [slow, said, float(live.rate), books.power_w, sums(books), again.equal]
    slow, said, rate, power_w, summed, equal = found
    assert slow < 1.0
    if kept:
        assert said == []
        assert rate == slow
        assert power_w <= 1800.0
    else:
        assert said == [["speed", "a", 1.0, 2400.0]]
        assert rate == 1.0
        assert power_w == pytest.approx(2400.0)
    assert summed == [True, True]
    assert equal


def test_a_policy_that_follows_the_cap_slows_down_jobs_that_it_found_running() -> None:
    books = opened(cap_w=2400.0, cap_w_max=2400.0)
    books.step(0, [Submitted("a", 8, 100.0)])
    books = books.with_policy(compose(admission=adaptive(machine, follow=True)))
    decided = books.step(10, [CapChanged(1800.0)])
    found = [[each.kind for each in decided], books.power_w, sums(books)]
    assert found[0] == ["speed"]
    assert found[1] <= 1800.0
    assert found[2] == [True, True]


def test_what_the_cap_of_the_next_policy_has_room_for_is_not_refused_by_it() -> None:
    """`wide` waits under a cap of 1500 W; the world that goes on has one of 2400 W."""
    jobs = JobTable.build(submit_s=[0.0, 0.0], run_s=[50.0, 20.0], procs=[2, 8])
    books = opened(cap_w=1500.0, cap_w_max=1500.0)
    books.keeps_log = True
    books.step(0, [Submitted("a", 2, 50.0), Submitted("wide", 8, 20.0)])
    rules = Rules(cap_w=Signal.from_steps([(0.0, 2000.0), (40.0, 2400.0)]))
    teller = Teller.carrying_on(books, jobs, rules, {"a": 50.0, "wide": 20.0})
    teller.switch([Switch(0.0, compose(admission=Block()))])
    seen = [[now_s, each.kind, each.job] for now_s, each in decisions_of(teller)]
    assert seen == [[50.0, "start", "wide"]]


def paused(books):
    return [int(row) for row in np.flatnonzero(books.state.live.state == PAUSED)]


def pausing():
    for name in NAMES:
        teller = Teller(typed_jobs(1), MACHINE, regulated(name, preempt=True))
        while not teller.finished() and not paused(teller.books):
            teller.instant()
        if paused(teller.books):
            yield teller


def test_paused_jobs_go_on_under_a_policy_that_pauses_none() -> None:
    """They wait in its queue, are resumed, and do what was left of their work alone."""
    result = []
    for teller in pausing():
        rows = paused(teller.books)
        left_s = [float(teller.books.state.live[row].work_s) for row in rows]
        teller.books = teller.books.with_policy(compose())
        resumed = {each.job: now_s for now_s, each in decisions_of(teller)
                   if each.kind == "resume"}
        live = teller.books.state.live
        ran_s = [float(live[row].end_s) - resumed[row] for row in rows]
        result.append([int(teller.books.record.meter[0].done) == len(teller.jobs),
                       bool(np.allclose(ran_s, left_s)), sums(teller.books)])
    assert result
    assert all(each == [True, True, [True, True]] for each in result)


@pytest.mark.parametrize("event", [Ended, Cancelled])
def test_a_paused_job_may_end_or_be_withdrawn_and_is_not_resumed(event: type) -> None:
    result = []
    for teller in pausing():
        books = teller.books
        row = paused(books)[0]
        before = [int(books.state.clock[0].free), books.power_w]
        books.apply(books.now_s, [event(books.roll.key(row))])
        said = [each.reason for each in books.refused]
        after = [int(books.state.clock[0].free), books.power_w]
        kinds = [each.kind for _, each in decisions_of(teller) if each.job == row]
        done = int(books.record.meter[0].done)
        result.append([said, before == after, kinds, done == len(teller.jobs)])
    assert result
    assert all(each == [[], True, [], True] for each in result)


def undone(decisions):
    texts = [json.dumps(decision_values(each), allow_nan=False) for each in decisions]
    assert [decision_from(json.loads(text)) for text in texts] == list(decisions)
    return [[each.kind, each.job, each.control.frequency_share, str(each.control.cap_w)]
            for each in decisions if each.kind in ("level", "speed")]


def test_what_is_undone_is_said_so_that_it_can_be_carried_out() -> None:
    """A control that names nothing leaves a machine as slow as it is."""
    seen = []
    for admission in (dvfs(), adaptive(machine)):
        books = opened(compose(admission=admission), cap_w=1500.0, cap_w_max=3000.0)
        books.step(0, [Submitted("a", 6, 100.0)])
        loaded = Books.load(books.with_policy(compose(admission=Block())).save(), machine,
                            compose(admission=Block()), books.terms)
        seen.append(undone(loaded.step(10, [])))
    assert seen == [[["level", None, 1.0, "None"]], [["speed", "a", 1.0, "None"]]]


def test_a_cap_of_a_contract_is_taken_away_by_a_policy_without_one() -> None:
    books = Books.open(contract.MACHINE, contract.regulated("qoscap"))
    for now_s in range(0, 40, 5):
        jobs = [Submitted(f"{now_s}-{kind}", (1, 3)[kind], 200.0, work_s=100.0,
                          application=("small", "large")[kind], codes={"application": kind})
                for kind in (0, 1)] if now_s < 20 else []
        asked = books.step(float(now_s), jobs)
        books.apply(float(now_s), [Started(each.job) for each in asked if each.kind == "start"])
    capped = sum(books.state.live.cap_w[: len(books.roll)] < np.inf)
    found = [int(capped), undone(books.with_policy(compose()).step(40.0, []))]
    capped, said = found
    assert capped == len(said) > 0
    assert all(each[0] == "speed" and each[2:] == [None, "inf"] for each in said)


def test_a_start_and_the_level_of_the_same_step_belong_together() -> None:
    """Six nodes at full speed would be 1,800 W of a cap of 1,500 W: the job begins slower."""
    admission = dvfs()._replace(share=np.array([0.7, 1.0]))
    books = opened(compose(admission=admission), cap_w=1500.0, cap_w_max=3000.0)
    decided = books.step(0, [Submitted("a", 6, 100.0)])
    live = books.state.live[0]
    found = [shown(decided), [each.control.frequency_share for each in decided],
             float(live.rate), float(live.power_w)]
    decided, shares, rate, power_w = found
    assert decided == [["start", "a", 0.5, 1080.0], ["level", None, 0.5, 0.6]]
    assert shares == [0.7, 0.7]
    assert (rate, power_w) == (0.5, 1080.0)
