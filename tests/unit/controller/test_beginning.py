"""Reasons beside nodes and watts that keep a held job: Slurm does not look at it while a job is
held."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from wattline.books import Cancelled, Ended, NotStarted
from wattline.controller.beginning import OPERATOR, PARTS, Obstacles
from wattline.controller.watching import PATIENCE_S, Watcher
from wattline.live.slurm.client import Seen
from wattline.live.slurm.reading import NEVER_BEGINS, SlurmJob, SlurmNode

NODES = tuple(SlurmNode(name, ("idle",), 32) for name in ("n1", "n2"))
WAITS = SlurmJob("7", 7, 0, "PENDING", 1, 1, 300.0, math.nan, math.nan, 0.0, user="ann", name="x")
OTHER = replace(WAITS, label="5", job_id=5)


def looked(watcher: Watcher, *jobs: SlurmJob, at_s: float = 0.0, limits=None):
    return watcher.news(Seen(at_s, jobs, NODES, limits or {}))


def names(found) -> list[str]:
    return [each.job for each in found.events]


def kept(job: SlurmJob, *others: SlurmJob, now_s: float = 0.0) -> str:
    found = Obstacles((*others, job), now_s, {}, (), set()).of(job)
    return "" if found is None else found.reason


@pytest.mark.parametrize(("dependency", "state", "reason"), [
    ("afterok:5(unfulfilled)", "PENDING", "dependency"),
    ("afterok:5(unfulfilled)", "RUNNING", "dependency"),
    ("afterok:5(unfulfilled)", "COMPLETING", "dependency"),
    ("afterok:5(unfulfilled)", "COMPLETED", ""),
    ("afterok:5(unfulfilled)", "FAILED", "dependency failed"),
    ("afterok:5(failed)", "COMPLETED", "dependency failed"),
    ("afternotok:5(unfulfilled)", "COMPLETED", "dependency failed"),
    ("afternotok:5(unfulfilled)", "TIMEOUT", ""),
    ("afterany:5(unfulfilled)", "FAILED", ""),
    ("afterany:5(unfulfilled)", "RUNNING", "dependency"),
    ("after:5(unfulfilled)", "PENDING", "dependency"),
    ("after:5(unfulfilled)", "RUNNING", ""),
    ("after:5+2(unfulfilled)", "RUNNING", "dependency"),
    ("after:5+2(unfulfilled)", "CANCELLED", ""),
    ("afterany:5(unfulfilled),afterok:6(unfulfilled)", "RUNNING", "dependency"),
    ("afterany:5(unfulfilled)?afterok:6(unfulfilled)", "RUNNING", ""),
    ("afterok:5(unfulfilled)?afterok:8(failed)", "RUNNING", "dependency"),
    ("afterok:5(unfulfilled)?afterok:8(failed)", "FAILED", "dependency failed"),
    ("afterok:5(unfulfilled),afterok:8(failed)", "RUNNING", "dependency failed"),
    ("singleton(unfulfilled)", "RUNNING", "dependency"),
    ("singleton(unfulfilled)", "COMPLETED", ""),
    ("afterok:99(unfulfilled)", "RUNNING", ""),
    ("expand:5", "COMPLETED", ""),
])
def test_a_dependency_is_judged_by_the_jobs_of_the_look(dependency, state, reason) -> None:
    """Job 6 has completed, and 99 is not known any more: Slurm looks at that one itself."""
    other = replace(OTHER, state=state, start_s=0.0)
    done = replace(OTHER, label="6", job_id=6, state="COMPLETED")
    said = kept(replace(WAITS, dependency=dependency), other, done, now_s=60.0)
    assert said == reason


def test_all_tasks_of_an_array_are_waited_for_or_the_one_that_is_meant() -> None:
    tasks = [replace(OTHER, label=f"5_{task}", job_id=5 + task, state=state)
             for task, state in enumerate(("COMPLETED", "RUNNING"))]
    assert kept(replace(WAITS, dependency="afterok:5_*(unfulfilled)"), *tasks) == "dependency"
    assert kept(replace(WAITS, dependency="afterok:5_0(unfulfilled)"), *tasks) == ""
    each = [replace(WAITS, label=f"7_{task}", dependency="aftercorr:5_*(unfulfilled)")
            for task in range(2)]
    assert [kept(job, *tasks) for job in each] == ["", "dependency"]


def test_a_dependency_that_failed_is_remembered_when_slurm_forgets_the_other_job() -> None:
    watcher = Watcher(["n1", "n2"])
    job = replace(WAITS, dependency="afterok:5(unfulfilled)")
    assert names(looked(watcher, replace(OTHER, state="FAILED"), job)) == []
    assert names(looked(watcher, job)) == []
    assert "ended otherwise" in watcher.obstacles["7"].sentence
    assert names(looked(Watcher(["n1", "n2"]), job)) == ["7"]


def test_the_books_hear_of_a_job_once_it_may_begin() -> None:
    watcher = Watcher(["n1", "n2"])
    later = replace(WAITS, eligible_s=100.0)
    assert names(looked(watcher, later, at_s=99.0)) == []
    assert watcher.obstacles["7"].reason == "begin time"
    assert "1970-01-01 00:01:40 UTC" in watcher.obstacles["7"].sentence
    assert names(looked(watcher, later, at_s=100.0)) == ["7"]
    assert watcher.obstacles == {}


def test_slurms_own_delay_of_what_was_queued_again_is_nobodys_wish() -> None:
    again = replace(WAITS, restarts=1, eligible_s=120.0)
    assert names(looked(Watcher(["n1", "n2"]), again)) == ["7.1"]


def test_a_job_that_is_given_another_to_wait_for_leaves_the_books_until_it_may_begin() -> None:
    watcher = Watcher(["n1", "n2"])
    running = replace(OTHER, state="RUNNING", comment="else", node_list=("n1",))
    looked(watcher, running, WAITS)
    behind = replace(WAITS, dependency="afterany:5(unfulfilled)")
    assert looked(watcher, running, behind).events == [Cancelled("7")]
    assert looked(watcher, running, behind).events == []
    found = looked(watcher, replace(running, state="COMPLETED"), behind)
    assert found.events[0] == Ended("5")
    assert names(found) == ["5", "7~1"]


def test_of_an_array_as_many_tasks_are_told_as_may_run_at_once() -> None:
    watcher = Watcher(["n1", "n2"])
    tasks = [replace(WAITS, label=f"7_{task}") for task in range(3)]
    assert names(looked(watcher, *tasks, limits={"7": 1})) == ["7_0"]
    assert watcher.obstacles["7_1"].reason == "array limit"
    # Slurm says nothing of the limit once each task is a job of its own.
    runs = replace(tasks[0], state="RUNNING", node_list=("n1",))
    assert names(looked(watcher, runs, *tasks[1:])) == ["7_0"]
    found = looked(watcher, replace(runs, state="COMPLETED"), *tasks[1:])
    assert names(found) == ["7_0", "7_1"]
    assert names(looked(watcher, *tasks[1:], limits={"7": 0})) == ["7_2"]


def test_what_an_operator_holds_is_not_decided_upon_until_it_is_given_back() -> None:
    watcher = Watcher(["n1", "n2"])
    held = replace(WAITS, reason="JobHeldAdmin")
    assert looked(watcher, held).events == []
    assert watcher.obstacles == {"7": OPERATOR}
    assert names(looked(watcher, replace(held, reason="JobHeldUser"))) == ["7"]
    assert looked(watcher, held).events == [Cancelled("7")]


def test_what_an_operator_holds_while_it_is_started_is_tried_once() -> None:
    watcher = Watcher(["n1", "n2"])
    looked(watcher, WAITS)
    watcher.asked("7", 0.0)
    watcher.failed("7", withdraw=False)
    held = replace(WAITS, reason="JobHeldAdmin")
    found = looked(watcher, held)
    assert [type(each) for each in found.events] == [NotStarted, Cancelled]
    assert looked(watcher, held, at_s=2 * PATIENCE_S).events == []


def test_what_somebody_has_released_is_slurms() -> None:
    free = replace(WAITS, priority=5)
    assert looked(Watcher(["n1", "n2"]), free).events == []
    watcher = Watcher(["n1", "n2"])
    looked(watcher, WAITS)
    assert looked(watcher, free).events == [Cancelled("7")]
    runs = replace(free, state="RUNNING", node_list=("n1",))
    assert [each.job for each in looked(watcher, runs).applied] == ["7~1"]
    again = replace(free, restarts=1)
    watcher = Watcher(["n1", "n2"])
    for job in (again, replace(again, priority=0)):
        looked(watcher, job)
    assert looked(watcher, again).events == [Cancelled("7.1")]
    assert looked(watcher, again).events == [], "it is not taken from whoever released it"


def test_a_start_that_slurm_has_not_made_keeps_the_job_ours() -> None:
    watcher = Watcher(["n1", "n2"])
    looked(watcher, WAITS)
    watcher.asked("7", 0.0)
    free = replace(WAITS, priority=5)
    looked(watcher, free, at_s=1.0)
    late = looked(watcher, free, at_s=PATIENCE_S + 1)
    assert [type(each) for each in late.events] == [NotStarted]
    assert late.withdrawn == ["7"]


def test_parts_of_one_job_are_left_to_slurm_and_their_users_told_once() -> None:
    watcher = Watcher(["n1", "n2"])
    parts = [replace(WAITS, label=f"7+{part}") for part in range(2)]
    found = looked(watcher, *parts)
    assert found.events == []
    assert found.unmanaged == [("7+0", PARTS.sentence), ("7+1", PARTS.sentence)]
    assert looked(watcher, *parts).unmanaged == []
    runs = [replace(part, state="RUNNING", priority=5, node_list=(node.name,))
            for part, node in zip(parts, NODES, strict=True)]
    assert [each.job for each in looked(watcher, *runs).applied] == ["7+0", "7+1"]


def test_a_dependency_that_failed_is_not_taken_for_an_operators_hold() -> None:
    """Within a minute Slurm calls the hold of such a job an operator's, also once it is mended."""
    watcher = Watcher(["n1", "n2"])
    job = replace(WAITS, reason="JobHeldUser", dependency="afterok:5(unfulfilled)")
    looked(watcher, replace(OTHER, state="RUNNING", node_list=("n1",)), job)
    found = looked(watcher, replace(OTHER, state="FAILED"), job)
    assert watcher.obstacles["7"].reason == "dependency failed"
    [(label, told)] = found.unmanaged
    assert label == "7"
    assert NEVER_BEGINS in told
    called = replace(job, reason="JobHeldAdmin", dependency="afterok:5(failed)",
                     admin_comment=watcher.comment(told))
    found = looked(watcher, called)
    assert watcher.obstacles["7"].reason == "dependency failed"
    assert (found.events, found.unmanaged, found.remarks, found.mended) == ([], [], [], [])
    found = looked(watcher, replace(called, dependency=""))
    assert (names(found), found.mended) == (["7"], ["7"])
    # The same by another controller, which knows it by the comment.
    assert names(looked(Watcher(["n1", "n2"]), replace(called, dependency=""))) == ["7"]


def test_what_the_books_had_says_too_that_its_dependency_failed() -> None:
    """Slurm has forgotten the other job, and says so only when this one is released."""
    watcher = Watcher(["n1", "n2"])
    job = replace(WAITS, dependency="afterok:5(unfulfilled)")
    assert names(looked(watcher, job)) == ["7"]
    watcher.asked("7", 0.0)
    failed = replace(job, dependency="afterok:5(failed)")
    looked(watcher, replace(failed, priority=5, reason="DependencyNeverSatisfied"), at_s=1.0)
    found = looked(watcher, failed, at_s=1.0 + PATIENCE_S)
    assert [type(each) for each in found.events] == [NotStarted, Cancelled]
    assert [label for label, _ in found.unmanaged] == ["7"]
    assert looked(watcher, failed, at_s=2.0 + PATIENCE_S).unmanaged == []


@pytest.mark.parametrize("seen_before", [True, False])
def test_what_an_operator_may_hold_stays_held_when_its_dependency_is_mended(seen_before) -> None:
    watcher = Watcher(["n1", "n2"])
    held = replace(WAITS, reason="JobHeldAdmin", dependency="afterok:5(unfulfilled)")
    if seen_before:
        looked(watcher, OTHER, held)
        assert watcher.obstacles["7"] is OPERATOR
    failed = replace(held, dependency="afterok:5(failed)")
    for _ in range(2):
        found = looked(watcher, failed)
        assert watcher.obstacles["7"].reason == "dependency failed"
        assert found.unmanaged == []
    assert looked(watcher, replace(held, dependency="")).events == []
    assert watcher.obstacles == {"7": OPERATOR}
