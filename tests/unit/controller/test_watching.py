"""From looks at Slurm to events: each thing is told once, whatever lies between two looks."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from wattline.books import Cancelled, Changed, Ended, NodesDown, NodesUp, NotStarted, Started
from wattline.controller.configuration import SiteConfig
from wattline.controller.lease import ours_and_held
from wattline.controller.watching import PATIENCE_S, Watcher
from wattline.live.slurm.client import Seen
from wattline.live.slurm.reading import SlurmJob, SlurmNode

NODES = tuple(SlurmNode(name, ("idle",), 32) for name in ("n1", "n2"))
WAITS = SlurmJob("7", 7, 0, "PENDING", 1, 1, 300.0, math.nan, math.nan, 0.0)
RUNS = replace(WAITS, state="RUNNING", node_list=("n2",))
DONE = replace(RUNS, state="COMPLETED")


def looked(watcher: Watcher, *jobs: SlurmJob, at_s: float = 0.0, nodes=NODES):
    return watcher.news(Seen(at_s, jobs, nodes))


def test_the_same_look_again_tells_nothing() -> None:
    for job in (WAITS, RUNS):
        watcher = Watcher(["n1", "n2"])
        first = looked(watcher, job)
        assert first.events
        assert looked(watcher, job).events == []


def test_a_job_of_several_partitions_is_ours_where_all_of_them_are() -> None:
    watcher = Watcher(["n1", "n2"], ["batch", "other"])
    for partition, ours in (("batch,other", True), ("other", True), ("batch,more", False)):
        assert watcher.ours(replace(WAITS, partition=partition)) is ours
        site = SiteConfig.model_construct(partitions=("batch", "other"), mark="")
        held = replace(WAITS, partition=partition, priority=0, reason="JobHeldUser")
        assert ours_and_held(site, held) is ours
    assert Watcher(["n1", "n2"]).ours(replace(WAITS, partition="batch,more"))


def test_a_job_that_was_asked_to_start_is_confirmed_once() -> None:
    watcher = Watcher(["n1", "n2"])
    looked(watcher, WAITS)
    watcher.asked("7", 0.0)
    assert looked(watcher, RUNS).events == [Started("7", (1,))]
    assert looked(watcher, RUNS).events == []
    assert looked(watcher, DONE).events == [Ended("7")]
    assert looked(watcher, DONE).events == []


def test_a_start_that_does_not_happen_is_taken_back_after_a_while() -> None:
    watcher = Watcher(["n1", "n2"])
    looked(watcher, WAITS)
    watcher.asked("7", 0.0)
    assert looked(watcher, WAITS, at_s=PATIENCE_S).events == []
    late = looked(watcher, WAITS, at_s=PATIENCE_S + 1)
    assert [type(each) for each in late.events] == [NotStarted]
    assert len(late.remarks) == 1


def test_a_job_that_began_and_ended_between_two_looks_has_ended() -> None:
    watcher = Watcher(["n1", "n2"])
    looked(watcher, WAITS)
    watcher.asked("7", 0.0)
    assert looked(watcher, DONE).events == [Ended("7")]


def test_what_was_requeued_has_ended_and_waits_as_another() -> None:
    watcher = Watcher(["n1", "n2"])
    looked(watcher, RUNS)
    found = looked(watcher, replace(WAITS, restarts=1))
    assert found.events[0] == Ended("7", completed=False)
    assert found.events[1].job == "7.1"
    assert found.remarks == []


def test_a_life_that_is_shown_while_the_last_one_ends_does_not_run_yet() -> None:
    watcher = Watcher(["n1", "n2"])
    looked(watcher, RUNS)
    found = looked(watcher, replace(RUNS, state="COMPLETING", restarts=1))
    assert found.events == [Ended("7", completed=False)]
    assert found.applied == []
    assert [each.job for each in looked(watcher, replace(WAITS, restarts=1)).events] == ["7.1"]


def test_what_slurm_queued_again_is_held_for_us_once() -> None:
    """As after a failure of its node; whoever releases it then wants Slurm to start it."""
    watcher = Watcher(["n1", "n2"])
    looked(watcher, RUNS)
    free = replace(WAITS, restarts=1, priority=5)
    found = looked(watcher, free)
    assert found.withdrawn == ["7"]
    assert "queued again" in found.remarks[0]
    assert looked(watcher, free).withdrawn == []
    assert looked(Watcher(["n1", "n2"]), replace(free, restarts=0)).withdrawn == []


def test_what_slurm_has_forgotten_is_said() -> None:
    watcher = Watcher(["n1", "n2"])
    looked(watcher, WAITS)
    found = looked(watcher)
    assert found.events == [Cancelled("7")]
    assert "does not say how it ended" in found.remarks[0]


def test_limits_and_nodes_that_change() -> None:
    watcher = Watcher(["n1", "n2"])
    looked(watcher, WAITS)
    assert looked(watcher, replace(WAITS, limit_s=600.0)).events == [Changed("7", 600.0)]
    broken = (NODES[0], replace(NODES[1], states=("down",)))
    same = replace(WAITS, limit_s=600.0)
    assert looked(watcher, same, nodes=broken).events == [NodesDown(nodes=(1,))]
    assert looked(watcher, same, nodes=NODES).events == [NodesUp(nodes=(1,))]


def test_jobs_of_other_partitions_count_once_they_run() -> None:
    watcher = Watcher(["n1", "n2"], ["batch"])
    other = replace(WAITS, partition="debug")
    assert looked(watcher, other).events == []
    found = looked(watcher, replace(RUNS, partition="debug"))
    assert [each.job for each in found.applied] == ["7"]
    assert found.events == [Started("7", (1,))]


def test_jobs_of_one_look_are_told_in_the_order_of_their_submission() -> None:
    """Squeue sorts otherwise, and the order of telling decides ties of first come, first served."""
    watcher = Watcher(["n1", "n2"])
    shown = [replace(WAITS, label=label, submit_s=submit_s)
             for label, submit_s in (("10", 5.0), ("9_10", 5.0), ("9_2", 5.0), ("11", 4.0))]
    found = looked(watcher, *shown)
    assert [each.job for each in found.events] == ["11", "9_2", "9_10", "10"]


def test_a_job_without_our_mark_is_left_to_whoever_held_it() -> None:
    watcher = Watcher(["n1", "n2"], mark="wattline")
    assert looked(watcher, WAITS, replace(WAITS, label="8", comment="my wattline")).events == []
    ours = [replace(WAITS, label="9", comment="wattline"),
            replace(WAITS, label="10", admin_comment="wattline: it waits")]
    assert [each.job for each in looked(watcher, WAITS, *ours).events] == ["9", "10"]
    assert [type(each) for each in looked(watcher, RUNS, *ours).events] == [Started]


def test_in_guard_mode_jobs_are_known_once_they_run() -> None:
    watcher = Watcher(["n1", "n2"], decides=False)
    assert looked(watcher, WAITS).events == []
    found = looked(watcher, RUNS)
    assert [each.job for each in found.applied] == ["7"]


def test_what_is_left_to_slurm_comes_back_under_another_name() -> None:
    watcher = Watcher(["n1", "n2"])
    looked(watcher, WAITS)
    watcher.decides = False
    assert looked(watcher, WAITS).events == [Cancelled("7")]
    assert looked(watcher, WAITS).events == []
    found = looked(watcher, RUNS)
    assert [each.job for each in found.applied] == ["7~1"]
    assert found.events == [Started("7~1", (1,))]
    assert watcher.told["7~1"].label == "7"
    assert looked(watcher).events == [Ended("7~1", False)]
    assert watcher.used == set(), "Slurm has forgotten the job"


def test_what_slurm_may_start_is_told_once_it_is_held() -> None:
    watcher = Watcher(["n1", "n2"])
    watcher.only_held = True
    assert looked(watcher, replace(WAITS, priority=9)).events == []
    assert [each.job for each in looked(watcher, WAITS).events] == ["7"]


def test_a_start_that_slurm_refused_is_taken_back_at_the_next_look() -> None:
    watcher = Watcher(["n1", "n2"])
    looked(watcher, WAITS)
    watcher.asked("7", 0.0)
    watcher.failed("7")
    found = looked(watcher, WAITS, at_s=0.1)
    assert [type(each) for each in found.events] == [NotStarted]
    assert found.withdrawn == ["7"]
    watcher.asked("7", 1.0)
    watcher.failed("7", withdraw=False)
    assert looked(watcher, WAITS, at_s=1.1).withdrawn == []


def test_what_slurm_refuses_again_and_again_is_left_alone_for_longer_each_time() -> None:
    watcher = Watcher(["n1", "n2"])
    looked(watcher, WAITS)
    found = []
    for _ in range(9):
        watcher.asked("7", 0.0)
        watcher.failed("7")
        found += [each.backoff_s for each in looked(watcher, WAITS).events]
    assert found == [5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 320.0, 320.0]


def test_a_suspended_job_is_confirmed_when_it_goes_on() -> None:
    watcher = Watcher(["n1", "n2"])
    looked(watcher, RUNS)
    stopped = replace(RUNS, state="SUSPENDED", admin_comment="wattline: suspended to keep the cap")
    assert looked(watcher, stopped).events == []
    assert watcher.told["7"].aside
    watcher.asked("7", 0.0)
    assert looked(watcher, stopped).events == []
    assert looked(watcher, RUNS).events == [Started("7", (1,))]
    assert not watcher.told["7"].aside


def test_a_node_that_was_switched_off_is_not_out_of_order() -> None:
    watcher = Watcher(["n1", "n2"])
    watcher.switched(["n2"], on=False)
    off = (NODES[0], replace(NODES[1], states=("down", "powered_down")))
    assert looked(watcher, nodes=off).events == []
    watcher.switched(["n2"], on=True)
    assert looked(watcher, nodes=off).events == [NodesDown(nodes=(1,))]


def test_a_range_of_nodes_is_the_policys_to_choose_from_where_it_chooses_sizes() -> None:
    ranged = replace(WAITS, nodes=1, most_nodes=2)
    submitted, = looked(Watcher(["n1", "n2"], molds=True), ranged).events
    assert (submitted.units, submitted.logged) == (2, {"nodes_min": 1, "nodes_max": 2})
    submitted, = looked(Watcher(["n1", "n2"]), ranged).events
    assert (submitted.units, submitted.logged) == (1, {})


@pytest.mark.parametrize(("partition", "least", "most"), [
    ("batch", 1, 2), ("few", 1, 1), ("few,batch", 2, 2), ("batch", 3, 3)])
def test_the_most_of_a_range_is_no_more_than_there_is(partition, least, most) -> None:
    """`-N 1-100` gets all nodes of its partition from Slurm; a least above them never starts."""
    nodes = (replace(NODES[0], partitions=("batch", "few")),
             replace(NODES[1], partitions=("batch",)))
    ranged = replace(WAITS, nodes=least, most_nodes=100, partition=partition)
    submitted, = looked(Watcher(["n1", "n2"], molds=True), ranged, nodes=nodes).events
    assert (submitted.units, submitted.logged) == (most, {"nodes_min": least, "nodes_max": most})


def test_the_names_of_the_last_look_are_kept_by_label() -> None:
    watcher = Watcher(["n1", "n2"])
    watcher.knows = {"8"}.__contains__
    looked(watcher, RUNS, replace(WAITS, label="8", job_id=8))
    assert watcher.named == {"7": "7", "8": "8~1"}
    looked(watcher, replace(WAITS, restarts=1))
    assert watcher.named == {"7": "7.1"}


def test_a_number_that_is_given_again_is_another_job() -> None:
    watcher = Watcher(["n1", "n2"])
    had = {"7"}  # it ran, and was gone at a look: Slurm was killed before it had saved it
    watcher.knows = had.__contains__
    first, = looked(watcher, WAITS).events
    assert first.job == "7~1"
    assert looked(watcher, WAITS).events == []
    had.add("7~1")  # the books have it
    assert looked(watcher, WAITS).events == []
    watcher.asked("7~1", 0.0)
    assert looked(watcher, RUNS).events == [Started("7~1", (1,))]


def test_a_number_that_is_given_again_between_two_looks_is_another_job() -> None:
    watcher = Watcher(["n1", "n2"])
    for job in (WAITS, RUNS):
        looked(watcher, job)
    later = replace(RUNS, submit_s=9.0, limit_s=600.0)
    assert looked(watcher, later).events == [Ended("7", completed=False)]
    found = looked(watcher, later)
    assert [each.job for each in (*found.applied, *found.events)] == ["7~1", "7~1"]


def test_what_slurm_has_forgotten_to_have_started_waits_as_another() -> None:
    for decides in (True, False):
        watcher = Watcher(["n1", "n2"], decides=decides)
        looked(watcher, RUNS)
        lost = looked(watcher, WAITS)
        assert lost.events == [Ended("7", completed=False)]
        assert "forgotten" in lost.remarks[0]
        assert [each.job for each in looked(watcher, WAITS).events] == ["7~1"] * decides
