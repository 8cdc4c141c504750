"""Jobs that wait for others, worked out by hand: one CPU and 600 s each on two nodes of 4 CPUs.

Without backfill a job that is let go starts on the next tick of the controller's loop, which is a
whole second, but no sooner than 3 s after the last pass.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.shared import machine, requests
from tests.support.shared_judged import findings
from wattline.shared_nodes.machine import REQUEUE
from wattline.shared_nodes.outcome import CANCELLED, NEVER, RAN, REASONS
from wattline.shared_nodes.requests import AFTER, AFTERANY, AFTERNOTOK, AFTEROK, SINGLETON
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

BAD: dict[str, Any] = {"exit_ok": False}
LONG: dict[str, Any] = {"run_s": 1200.0, "limit_s": 1200.0}
ALONE: dict[str, Any] = {"after": [(SINGLETON, [])], "name": "n"}


def schedule(*jobs: dict[str, Any], on: Any = None) -> Any:
    on = machine() if on is None else on
    asked = requests(on, *jobs)
    rules = Rules(scheduler="builtin")
    found = simulate_shared(on, asked, rules)
    assert findings(on, asked, rules, found) == []
    return found


def reason(found: Any, job: int) -> str:
    return REASONS[found.reason[job]]


def test_all_conditions_must_be_met() -> None:
    found = schedule({}, LONG, {"after": [(AFTEROK, [0]), (AFTERANY, [1])]},
                     {"after": [(AFTERANY, [1]), (AFTEROK, [0])]})
    assert list(found.start_s[2:]) == [1200.0, 1200.0]


def test_one_condition_is_enough_where_any_may_be_met() -> None:
    found = schedule({}, LONG, {"after": [(AFTERANY, [1]), (AFTEROK, [0])], "any_of": True})
    assert found.start_s[2] == 600.0


def test_of_conditions_of_which_one_is_enough_one_may_fail() -> None:
    """Job 0 fails, and job 1 ends well later: afterok:0?afterany:1 waits for it."""
    found = schedule(BAD, LONG, {"after": [(AFTEROK, [0]), (AFTERANY, [1])], "any_of": True},
                     {"after": [(AFTEROK, [0]), (AFTERNOTOK, [1])], "any_of": True})
    assert found.start_s[2] == 1200.0
    assert found.state[3] == NEVER
    assert reason(found, 3) == "dependency never satisfied"


def test_all_conditions_are_lost_with_one() -> None:
    found = schedule(BAD, LONG, {"after": [(AFTERANY, [1]), (AFTEROK, [0])]})
    assert found.state[2] == NEVER
    assert np.isnan(found.start_s[2])


def test_an_array_went_well_if_all_its_tasks_did() -> None:
    tasks = ({}, {**BAD, **LONG})
    found = schedule(*tasks, {"after": [(AFTERANY, [0, 1])]}, {"after": [(AFTERNOTOK, [0, 1])]},
                     {"after": [(AFTEROK, [0, 1])]})
    assert list(found.start_s[2:4]) == [1200.0, 1200.0]
    assert found.state[4] == NEVER


def test_so_many_minutes_after_the_start() -> None:
    """Job 1 waits on node 0 until job 0 is over at 600 s; five minutes later job 2 may start."""
    whole = {"tasks": 4}
    found = schedule(whole, whole, {"tasks": 1, "after": [(AFTER, [1], 300.0)]},
                     {"tasks": 1, "after": [(AFTER, [1])]}, on=machine(1, cpus=6))
    assert list(found.start_s) == [0.0, 600.0, 900.0, 603.0]


def test_what_a_dependency_let_go_waits_for_nobody_when_it_is_sent_back() -> None:
    """Job 1 starts after job 0, gives way to job 2 of the higher tier, and starts again."""
    on = machine(1, partitions=[[0], [0]])
    on = replace(on, partitions=replace(on.partitions, tier=np.array([1, 2]),
                                        preempt_mode=np.array([REQUEUE, 0])))
    asked = requests(on, {"tasks": 4}, {"tasks": 4, "requeue": True, **ALONE},
                     {"tasks": 4, "partition": 1, "submit_s": 700.0, "name": "n"})
    found = simulate_shared(on, asked, Rules(scheduler="builtin", preempt="partition"))
    assert list(found.start_s) == [0.0, 1300.0, 700.0]
    assert found.requeues[1] == 1


@pytest.mark.parametrize("kill", [False, True])
def test_what_can_never_run_waits_for_ever_or_is_cancelled(kill: bool) -> None:
    """Job 1 never runs after job 0 failed; job 2 may when job 1 is over, which only a cancelled
    job is, and job 3 five minutes after that."""
    found = schedule(BAD, {"after": [(AFTEROK, [0])], "kill": kill}, {"after": [(AFTERANY, [1])]},
                     {"after": [(AFTER, [1], 300.0)]})
    assert np.isnan(found.start_s[1])
    if kill:
        assert found.state[1] == CANCELLED
        assert reason(found, 1) == "cancelled, as its dependency can never be satisfied"
        assert list(found.start_s[2:]) == [603.0, 900.0]
    else:
        assert list(found.state[1:]) == [NEVER, NEVER, NEVER]
        assert [reason(found, job) for job in (1, 2)] == ["dependency never satisfied", ""]


def test_jobs_that_are_to_be_alone_run_one_after_the_other_in_order_of_submission() -> None:
    found = schedule(
        ALONE, {**ALONE, "submit_s": 1.0, **LONG}, {**ALONE, "submit_s": 2.0},
        {"submit_s": 2.0, "name": "other", "after": [(SINGLETON, [])]})
    assert list(found.start_s) == [0.0, 600.0, 1800.0, 3.0]


def test_a_job_that_is_to_be_alone_waits_for_namesakes_that_are_not() -> None:
    """Job 1 need not be alone: it runs beside job 0. Job 2 waits for both, job 3 for nobody."""
    found = schedule(ALONE, {"name": "n", **LONG, "submit_s": 1.0}, {**ALONE, "submit_s": 2.0},
                     {"submit_s": 4.0})
    assert list(found.start_s) == [0.0, 3.0, 1203.0, 6.0]
    assert list(found.state) == [RAN] * 4


def test_a_later_namesake_that_runs_holds_up_who_is_to_be_alone() -> None:
    """Job 1 is held up until 700 s by its begin time; job 2 of its name has started before."""
    found = schedule({}, {**ALONE, "begin_s": 700.0}, {"name": "n", **LONG, "submit_s": 5.0})
    assert list(found.start_s[1:]) == [1205.0, 5.0]
