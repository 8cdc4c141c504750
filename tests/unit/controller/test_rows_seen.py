"""Rows that Slurm prints as before are not looked into: what is told is the same all the same."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from wattline.books import Ended, Started, Submitted
from wattline.controller.rows_seen import RowsSeen
from wattline.controller.watching import ASIDE, Watcher
from wattline.controller.where import of_partition
from wattline.live.slurm.client import Seen
from wattline.live.slurm.reading import SlurmJob, SlurmNode

NAMES = ("n1", "n2", "n3", "n4")
WAITS = SlurmJob("7", 7, 0, "PENDING", 1, 1, 300.0, math.nan, math.nan, 0.0, partition="batch")


def node(name: str, *states: str, partitions=("batch",), closed=()) -> SlurmNode:
    return SlurmNode(name, states or ("idle",), 32, partitions, closed)


NODES = tuple(map(node, NAMES))


class Changing:
    """A queue in which anything may happen between two looks; rows that stay are the same."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.jobs: dict[str, SlurmJob] = {}
        self.nodes = list(NODES)
        self.now_s = 0.0

    def look(self) -> Seen:
        return Seen(self.now_s, tuple(self.jobs.values()), tuple(self.nodes))

    def go_on(self) -> None:
        self.now_s += self.random.choice((0.5, 0.5, 4.0))
        for _ in range(self.random.randrange(4)):
            self._change()

    def _change(self) -> None:
        happens = self.random.choice((
            self._submit, self._submit, self._begin, self._begin, self._end, self._forget,
            self._queue_again, self._give_number_again, self._suspend, self._ask_otherwise,
            self._node))
        happens()

    def _submit(self) -> None:
        label = str(self.random.randrange(1, 12))
        if label not in self.jobs:
            self.jobs[label] = replace(WAITS, label=label, job_id=int(label), submit_s=self.now_s,
                                       nodes=self.random.choice((1, 2)))

    def _one(self, *states: str) -> str:
        labels = [label for label, job in self.jobs.items() if job.state in states]
        return self.random.choice(labels) if labels else ""

    def _put(self, label: str, **changes: object) -> None:
        if label:
            self.jobs[label] = replace(self.jobs[label], **changes)

    def _begin(self) -> None:
        label = self._one("PENDING")
        if label:  # on nodes that others may have too, as where they are shared
            nodes = tuple(sorted(self.random.sample(NAMES, self.jobs[label].nodes)))
            self._put(label, state="RUNNING", node_list=nodes, start_s=self.now_s, priority=5)

    def _end(self) -> None:
        state = self.random.choice(("COMPLETING", "COMPLETED", "FAILED"))
        self._put(self._one("RUNNING", "COMPLETING"), state=state)

    def _forget(self) -> None:
        self.jobs.pop(self._one("COMPLETED", "FAILED", "PENDING"), None)

    def _queue_again(self) -> None:
        label = self._one("RUNNING", "COMPLETED")
        if label:
            self._put(label, state="PENDING", restarts=self.jobs[label].restarts + 1,
                      node_list=(), priority=0)

    def _give_number_again(self) -> None:
        label = self._one("RUNNING", "PENDING", "COMPLETED")
        if label:
            self.jobs[label] = replace(WAITS, label=label, job_id=int(label), submit_s=self.now_s)

    def _suspend(self) -> None:
        self._put(self._one("RUNNING"), state="SUSPENDED", admin_comment=ASIDE)

    def _ask_otherwise(self) -> None:
        label = self._one("PENDING", "RUNNING")
        change = self.random.choice(({"limit_s": 600.0}, {"nodes": 2}, {"partition": "night"},
                                     {"priority": 9}, {"priority": 0}))
        self._put(label, **change)

    def _node(self) -> None:
        place = self.random.randrange(len(NAMES))
        self.nodes[place] = self.random.choice((
            node(NAMES[place]), node(NAMES[place], "allocated"), node(NAMES[place], "drain"),
            node(NAMES[place], "down"), node(NAMES[place], partitions=("batch", "night")),
            node(NAMES[place], closed=("batch",))))


def anew(seen: Seen) -> Seen:
    """The same look with rows that nobody has seen before."""
    return replace(seen, jobs=tuple(map(replace, seen.jobs)), nodes=tuple(map(replace, seen.nodes)))


def act(watchers: tuple[Watcher, Watcher], chance: random.Random, now_s: float) -> None:
    """Do what a controller does of itself between two looks, to both."""
    names = [name for name, told in watchers[0].told.items() if not told.running]
    if names and chance.random() < 0.5:
        name, refused = chance.choice(names), chance.random() < 0.3
        for watcher in watchers:
            watcher.asked(name, now_s)
            if refused:
                watcher.failed(name)
    runs = [name for name, told in watchers[0].told.items() if told.running]
    if runs and chance.random() < 0.2:
        name, untold = chance.choice(runs), chance.random() < 0.5
        for watcher in watchers:
            if untold:
                watcher.not_taken(name, running=False)
            else:
                watcher.told[name].suspended = True


@pytest.mark.parametrize("seed", range(40))
def test_what_is_told_is_the_same_as_where_every_row_is_looked_into(seed: int) -> None:
    queue, chance = Changing(seed), random.Random(seed)
    watchers = Watcher(NAMES, ["batch"]), Watcher(NAMES, ["batch"])
    told = 0
    for turn in range(60):
        queue.go_on()
        if turn % 20 == 19:
            for watcher in watchers:
                watcher.decides = not watcher.decides
        seen = queue.look()
        same, other = watchers[0].news(seen), watchers[1].news(anew(seen))
        assert repr(same) == repr(other)
        for name in ("named", "down", "resting", "dead", "closed", "obstacles", "used", "left"):
            assert getattr(watchers[0], name) == getattr(watchers[1], name), name
        assert repr(watchers[0].told) == repr(watchers[1].told)  # unknown figures are alike
        for partition in ("batch", "night", "night,batch"):
            assert of_partition(watchers[0], partition) == of_partition(watchers[1], partition)
        told += len(same.events)
        act(watchers, chance, queue.now_s)
    assert told > 10


def test_only_rows_that_are_others_are_looked_into() -> None:
    seen, here = RowsSeen(), [replace(WAITS, label=str(number)) for number in range(4)]
    assert seen.look(here, ()) == (here, [])
    seen.look_again(here[:1])
    assert seen.look(here, here[2:3]) == ([here[0], here[2]], [])
    seen.look_again(())
    other = replace(here[1], priority=1)
    found, gone = seen.look([here[0], other, here[3]], ())
    assert (found, sorted(gone)) == ([other], ["1", "2"])


def test_a_row_is_not_taken_for_another_that_is_no_more() -> None:
    """Python gives the place of what nobody keeps to what comes next."""
    seen = RowsSeen()
    for number in range(50):
        found = [row.label for row in seen.look([replace(WAITS, label=str(number))], ())[0]]
        assert found == [str(number)]


def test_a_label_that_is_shown_twice_is_that_of_the_job_that_came_last() -> None:
    watcher, runs = Watcher(NAMES), replace(WAITS, state="RUNNING", node_list=("n1",))
    later = replace(WAITS, submit_s=5.0)
    told = []
    for rows in ((runs,), (later, runs), (later, runs), (later, runs), (later,)):
        events = watcher.news(Seen(0.0, rows, NODES)).events
        told.append([(type(each), each.job) for each in events])
    assert told == [[(Started, "7")], [(Ended, "7")], [(Submitted, "7~1")], [], []]
    assert watcher.named == {"7": "7~1"}


def test_a_node_that_comes_to_another_partition_is_in_it() -> None:
    watcher = Watcher(NAMES)
    for nodes, expected in ((NODES, {0, 1, 2, 3}), (NODES, {0, 1, 2, 3}),
                            ((*NODES[:3], node("n4", partitions=("night",))), {0, 1, 2}),
                            ((*NODES[:2], node("n3", "allocated"), NODES[3]), {0, 1, 2, 3}),
                            ((NODES[1], NODES[3]), {1, 3})):
        watcher.news(Seen(0.0, (), nodes))
        assert of_partition(watcher, "batch") == expected
        assert watcher.down == {name for name in NAMES if name not in {each.name for each in nodes}}
