"""Jobs that Slurm does not start whatever is free: they stand in nobody's way, and it is said."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from wattline.books import Cancelled, NotStarted
from wattline.controller.unfit import UNFIT_S
from wattline.controller.watching import LONGEST_BACKOFF_S, PATIENCE_S, Watcher
from wattline.live.slurm.client import Seen
from wattline.live.slurm.reading import SlurmJob, SlurmNode

NODES = tuple(SlurmNode(name, ("idle",), 32, ("batch", "night")) for name in ("n1", "n2"))
SHUT = tuple(replace(node, closed=("night",)) for node in NODES)
WAITS = SlurmJob("7", 7, 0, "PENDING", 1, 1, 300.0, math.nan, math.nan, 0.0, partition="night")


def looked(watcher: Watcher, *jobs: SlurmJob, at_s: float = 0.0, nodes=NODES):
    return watcher.news(Seen(at_s, jobs, nodes))


def test_a_job_of_a_closed_partition_is_not_in_the_books_until_it_opens() -> None:
    watcher = Watcher(["n1", "n2"])
    assert looked(watcher, WAITS, nodes=SHUT).events == []
    assert watcher.obstacles["7"].reason == "partition"
    assert "down or inactive" in watcher.obstacles["7"].sentence
    assert [each.job for each in looked(watcher, WAITS).events] == ["7"]
    assert watcher.obstacles == {}


def test_a_partition_that_closes_and_opens_keeps_the_place_of_its_jobs() -> None:
    watcher = Watcher(["n1", "n2"])
    watcher.place_of = {"7": (0.0, 3)}.get
    looked(watcher, WAITS)
    assert looked(watcher, WAITS, nodes=SHUT).events == [Cancelled("7")]
    assert looked(watcher, WAITS, nodes=SHUT).events == []
    again, = looked(watcher, WAITS).events
    assert (again.job, again.place) == ("7~1", (0.0, 3))


@pytest.mark.parametrize(("partition", "waits"), [("night,batch", True), ("night", False)])
def test_one_partition_of_several_that_is_open_is_enough(partition: str, waits: bool) -> None:
    found = looked(Watcher(["n1", "n2"]), replace(WAITS, partition=partition), nodes=SHUT)
    assert len(found.events) == waits


def test_each_start_that_does_not_happen_is_waited_for_longer() -> None:
    watcher = Watcher(["n1", "n2"])
    refused = replace(WAITS, priority=5, reason="AssocGrpCpuLimit")
    looked(watcher, WAITS)
    found = []
    for turn in range(8):
        watcher.asked("7", 0.0)
        late = looked(watcher, refused, at_s=PATIENCE_S + 1)
        found += [each.backoff_s for each in late.events if isinstance(each, NotStarted)]
        looked(watcher, WAITS, at_s=PATIENCE_S + 2 + turn)
    assert found == [5.0, 10.0, 20.0, 40.0, 80.0, 160.0, LONGEST_BACKOFF_S, LONGEST_BACKOFF_S]


@pytest.mark.parametrize("reason", ["PartitionTimeLimit", "PartitionNodeLimit"])
def test_a_job_beyond_the_limits_of_its_partition_is_tried_now_and_then(reason: str) -> None:
    watcher = Watcher(["n1", "n2"])
    looked(watcher, WAITS)
    watcher.asked("7", 0.0)
    found = looked(watcher, replace(WAITS, priority=5, reason=reason), at_s=PATIENCE_S + 1)
    assert [type(each) for each in found.events] == [NotStarted, Cancelled]
    assert found.withdrawn == ["7"]
    assert [label for label, _ in found.unmanaged] == ["7"]
    assert looked(watcher, WAITS, at_s=9.0).events == []
    assert "more nodes or time" in watcher.obstacles["7"].sentence
    # One that asks for less is tried at once, any other when the limit may have risen.
    assert looked(watcher, replace(WAITS, limit_s=60.0), at_s=9.0).events
    assert looked(watcher, WAITS, at_s=20.0 + UNFIT_S).events
