"""Findings about the queue, from doctored runs: starts are changed in the records, not in code.

Ten nodes draw 100 W idle and 300 W active, so a busy node takes 200 W above the 1,000 W of the idle
machine. Jobs are written as (submission, nodes, run time) and ask for the time that they run.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.support.workloads import compose

from wattline.engine.prepare import Rules
from wattline.engine.simulate import simulate
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.promises import QueueRule
from wattline.model.reservation import Reservation
from wattline.model.run import EventKind, EventLog, Run
from wattline.model.signal import Signal
from wattline.policies.admission.block import Block
from wattline.policies.admission.watts import Watts
from wattline.policies.backfill.conservative import Conservative
from wattline.policies.backfill.none import NoBackfill
from wattline.policies.order.multifactor import Multifactor
from wattline.policies.order.sjf import Sjf
from wattline.results.verify.judge import verify

MACHINE = Machine.uniform(10, NodeClass(power_w_idle=100.0, power_w_active=300.0))


def table(*rows: tuple[float, int, float], **columns) -> JobTable:
    submit_s, procs, run_s = zip(*rows, strict=True)
    return JobTable.build(submit_s=submit_s, procs=procs, run_s=run_s, **columns)


def play(jobs: JobTable, cap_w: float | None = None, **policy) -> Run:
    rules = Rules(cap_w=None if cap_w is None else Signal.constant(cap_w, "W"))
    return simulate(jobs, MACHINE, compose(**policy), rules)


def started(run: Run, *start_s: float) -> Run:
    """The run whose jobs started at these times instead, with a log that fits to them."""
    start = np.array(start_s, dtype=np.float64)
    end = start + run.jobs.run_s
    count = len(start)
    time_s = np.concatenate((run.jobs.submit_s, start, end))
    kind = np.repeat([int(EventKind.SUBMIT), int(EventKind.START), int(EventKind.END)], count)
    job = np.tile(np.arange(count), 3)
    order = np.lexsort((job, kind, time_s))
    time_s, kind, job = time_s[order], kind[order], job[order]
    sign = (kind == EventKind.START).astype(int) - (kind == EventKind.END)
    nodes = run.schedule.nodes
    own_w = np.where(np.isnan(run.jobs.power_w), 300.0 * nodes, run.jobs.power_w)
    power_w = 1000.0 + np.cumsum(sign * (own_w - 100.0 * nodes)[job])
    queued = np.cumsum((kind == EventKind.SUBMIT).astype(int) - (kind == EventKind.START))
    energy_j = own_w * (end - start)
    value = np.select([kind == EventKind.START, kind == EventKind.END],
                      [own_w[job], energy_j[job]], 0.0)
    log = EventLog(time_s, kind, job, power_w, np.cumsum(sign * nodes[job]), queued, value)
    length_s = np.diff(time_s, append=time_s[-1])
    total_j = float(power_w @ length_s)
    return replace(
        run, events=log, start_s=float(time_s[0]), end_s=float(time_s[-1]), energy_j=total_j,
        class_energy_j={}, power_w_peak=float(power_w[length_s > 0].max()),
        schedule=replace(run.schedule, start_s=start, end_s=end, energy_j=energy_j))


def starts(run: Run) -> list[float]:
    return run.schedule.start_s.tolist()


BESIDE = table((0, 3, 10), (1, 4, 10), (2, 1, 100), (3, 1, 100))


def test_watts_kept_for_the_first_job_are_given_away_once() -> None:
    """From 10 s on the first job has 800 of the 1,000 W; so one of the two others may run."""
    right = play(BESIDE, 2000.0, admission=Watts())
    assert starts(right) == [0, 10, 2, 20]
    assert verify(right).findings == ()
    wrong = started(right, 0, 102, 2, 3)
    assert verify(started(right, *starts(right))).findings == ()
    first, *_ = verify(wrong).findings
    assert first.rule == "queue.rule"
    assert (first.job, first.time_s) == (2, 3.0)
    assert first.sentence == ("at 3 s job 4 passes job 2, first in the queue, which can then start "
                              "at 102 s instead of 10 s")


def found(run: Run) -> list[str]:
    return [each.sentence for each in verify(run).findings if each.rule == "queue.rule"]


def test_units_kept_for_the_first_job_are_given_away_once() -> None:
    """8 nodes at 10 s, of which the first takes 8: two are extra, and one job of two may pass."""
    run = play(table((0, 8, 10), (1, 8, 10), (2, 2, 50), (3, 1, 50)))
    assert starts(run) == [0, 10, 2, 20]
    assert found(run) == []
    late = started(run, 0, 52, 2, 10)
    assert found(late)[0] == ("job 2, first in the queue, waits at 10 s though there are units and "
                              "watts for it")
    long = started(play(table((0, 6, 10), (1, 8, 10), (2, 3, 50))), 0, 52, 2)
    assert found(long)[0] == ("at 2 s job 3 passes job 2, first in the queue, which can then start "
                              "at 52 s instead of 10 s")


def test_a_job_that_fits_beside_the_reservation_does_not_wait() -> None:
    """It takes 5 s and the first job starts at 10 s, so it hinders nobody."""
    run = play(table((0, 8, 10), (1, 8, 10), (2, 2, 5)))
    assert starts(run) == [0, 10, 2]
    assert found(run) == []
    assert found(started(run, 0, 10, 10)) == [
        "job 3 waits at 2 s though it fits beside the reservation of job 2 at 10 s"]


def test_without_backfilling_nobody_is_passed() -> None:
    run = play(table((0, 8, 10), (1, 8, 10), (2, 2, 5)), backfill=NoBackfill())
    assert starts(run) == [0, 10, 10]
    assert found(run) == []
    assert found(started(run, 0, 10, 2)) == [
        "at 2 s job 3 starts while job 2 waits, which stands before it"]


def test_the_first_job_does_not_wait_for_nothing() -> None:
    run = play(table((0, 8, 10), (1, 8, 10)), backfill=NoBackfill())
    late = started(run, 0, 12)
    assert found(late) == ["job 2, first in the queue, waits at 10 s though there are units and "
                           "watts for it"]


def test_under_block_a_job_that_lacks_watts_lets_nobody_pass() -> None:
    """Job 2 fits in units and lacks 200 of its 600 W; job 3 would take 200."""
    jobs = table((0, 3, 10), (1, 3, 10), (2, 1, 5))
    run = play(jobs, 2000.0, admission=Block())
    assert starts(run) == [0, 10, 10]
    assert found(run) == []
    assert found(started(run, 0, 10, 2)) == [
        "at 2 s job 3 starts while job 2 waits, which stands before it and lacks only watts, which "
        "lets nobody pass"]


def test_a_job_that_draws_less_than_idle_nodes_frees_no_watts() -> None:
    """Job 1 draws 100 W where its nodes idle at 300: the 200 W come back, and are not job 2's."""
    jobs = table((0, 3, 10), (1, 5, 10), power_w=[100.0, 1500.0])
    run = play(jobs, 2000.0, admission=Block())
    assert starts(run) == [0, 1]
    assert found(run) == []
    tight = play(jobs, 1999.0, admission=Block())
    assert tight.refused.tolist() == [False, True]
    assert found(tight) == []


@pytest.mark.parametrize(("order", "expected"), [
    (Sjf(), [0, 20, 10]), (Multifactor(age=1.0, size=1.0, age_max_s=20.0), [0, 10, 22])])
def test_the_order_is_worked_out_again(order, expected: list[float]) -> None:
    """At 10 s jobs 2 and 3 wait; job 3 is shorter, job 2 older and as large."""
    run = play(table((0, 8, 10), (1, 8, 12), (2, 8, 10)), order=order, backfill=NoBackfill())
    assert starts(run) == expected
    assert found(run) == []
    other = {20: [0, 10, 22], 10: [0, 20, 10]}[int(expected[1])]
    assert any("starts while job" in each for each in found(started(run, *other)))


def test_the_age_of_the_oldest_counts_as_one() -> None:
    """At 100 s job 2 has waited 99 of 20 s and counts 1, and 0.3 for its size; job 3 counts 1 for
    its age too, and 0.8 for its size."""
    run = play(table((0, 8, 100), (1, 3, 10), (30, 8, 10)), backfill=NoBackfill(),
               order=Multifactor(age=1.0, size=1.0, age_max_s=20.0))
    assert starts(run) == [0, 110, 100]
    assert found(run) == []
    assert found(started(run, 0, 100, 110))


def test_a_run_that_says_no_rule_is_not_judged_by_one() -> None:
    run = play(BESIDE)
    silent = verify(replace(run, promises=replace(run.promises, queue=None)))
    assert [each.why for each in silent.skipped if each.rule == "queue.rule"] == [
        "the run does not say by which rule jobs wait"]
    odd = replace(run, promises=replace(run.promises, queue=QueueRule("by-colour")))
    assert [each.why for each in verify(odd).skipped if each.rule == "queue.rule"] == [
        "the order 'by-colour' is not known here"]


def test_the_number_of_decisions_that_were_judged_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events are at 0, 1, 2, 3, 10, 20, 102 and 120 s."""
    run = play(BESIDE, 2000.0, admission=Watts())
    judged, = (each for each in verify(run).judged if each.rule == "queue.rule")
    assert (judged.decisions, judged.of) == (8, 8)
    monkeypatch.setattr("wattline.results.verify.queue.instants.MOST_CELLS", 150)
    judged, = (each for each in verify(run).judged if each.rule == "queue.rule")
    assert judged.decisions < judged.of == 8


def test_jobs_that_run_count_as_work_of_the_judge_and_not_their_units(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Events at 0, 10 and 20 s, one job of ten units at the first two: 50 + 1, 50 + 1 and 50."""
    run = play(table((0, 10, 10), (10, 10, 10)))
    monkeypatch.setattr("wattline.results.verify.queue.instants.MOST_CELLS", 152)
    judged, = (each for each in verify(run).judged if each.rule == "queue.rule")
    assert (judged.decisions, judged.of) == (3, 3)
    monkeypatch.setattr("wattline.results.verify.queue.instants.MOST_CELLS", 151)
    judged, = (each for each in verify(run).judged if each.rule == "queue.rule")
    assert (judged.decisions, judged.of) == (2, 3)


def test_around_reserved_units_fewer_decisions_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight instants of 50 and up to four jobs are less than 500; each job counts 40 times then."""
    run = play(BESIDE, 2000.0, admission=Watts())
    monkeypatch.setattr("wattline.results.verify.queue.instants.MOST_CELLS", 500)
    judged, = (each for each in verify(run).judged if each.rule == "queue.rule")
    assert (judged.decisions, judged.of) == (8, 8)
    later = replace(run, reservations=(Reservation(500.0, 10.0, 1),))
    judged, = (each for each in verify(later).judged if each.rule == "queue.rule")
    assert (judged.decisions, judged.of) == (1, 8)


def test_a_reservation_is_not_moved_to_later() -> None:
    """Job 2 has 10 s, job 3 its 15 s behind it; job 4 fits before them and may not move job 2."""
    jobs = table((0, 8, 10), (1, 8, 5), (2, 8, 5), (3, 2, 7))
    run = play(jobs, backfill=Conservative())
    assert starts(run) == [0, 10, 15, 3]
    assert verify(run).findings == ()
    late = verify(started(run, 0, 10, 16, 3)).findings
    assert [(each.rule, each.job, each.time_s) for each in late] == [("queue.plan", 3, 15.0)]
    assert late[0].sentence == "job 3 could count on 15 s and starts at 16 s"


def test_a_job_that_ends_early_lets_reservations_move_forward() -> None:
    """Job 1 asks for 10 s and takes 4: job 2, planned for 10 s, can count on 4 s from then on."""
    jobs = table((0, 8, 4), (1, 8, 5), requested_s=[10.0, 5.0])
    run = play(jobs, backfill=Conservative())
    assert starts(run) == [0, 4]
    assert verify(run).findings == ()
    found, = verify(started(run, 0, 10)).findings
    assert found.sentence == "job 2 could count on 4 s and starts at 10 s"


def test_a_job_draws_the_power_that_the_table_has() -> None:
    """600 W for two nodes, of which the records say 500 in all their sums."""
    run = play(table((0, 2, 10), power_w=[600.0]))
    assert verify(run).findings == ()
    less = replace(run, jobs=run.jobs.with_columns(power_w=[500.0]))
    wrong = [each.rule for each in verify(less).findings]
    assert "power.own" in wrong
    told = replace(started(less, 0), jobs=run.jobs)
    assert [each.rule for each in verify(told).findings] == ["power.own"]
