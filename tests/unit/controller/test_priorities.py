"""In guard mode who has drawn less of its share gets the higher priority of Slurm."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.controller.fakes import FakeSlurm

from wattline.account.fairshare import read_shares
from wattline.books import Started, Submitted
from wattline.controller.controller import Controller, Cycle
from wattline.controller.priorities import FIRST, HIGHEST, SharePriorities, usage_j
from wattline.controller.watching import Watcher
from wattline.live.slurm.reading import SlurmJob
from wattline.scenario.objects import Machine
from wattline.scenario.opening import open_books

JOB = SlurmJob("1", 1, 0, "PENDING", 1, 1, 60.0, math.nan, math.nan, 0.0, user="ann", priority=100)


@pytest.fixture
def here(tmp_path: Path) -> SharePriorities:
    """Ann has a job that has drawn 300 W for 10 s; Bob has drawn nothing."""
    file = tmp_path / "shares.toml"
    file.write_text('[[account]]\nname = "ann"\nshare = 1\n[[account]]\nname = "bob"\nshare = 1\n')
    books = open_books(machine=Machine(nodes=2, node_idle_w=90, node_active_w=300), cap=600.0,
                       power="block", placement="first-fit",
                       order={"name": "energy-share", "shares": str(file)})
    books.apply(0.0, [Submitted("9", 1, 60.0, names={"user": "ann"})])
    books.apply(0.0, [Started("9", (0,))])
    made = Controller(books, FakeSlurm(), Watcher(["n1", "n2"], decides=False), act=True)
    return SharePriorities(made, read_shares(file))


def test_joules_of_running_jobs_count(here: SharePriorities) -> None:
    assert usage_j(here.controller.books, here.tree, 10.0) == {"ann": 3000.0, "bob": 0.0}


def test_priorities_are_given_where_slurms_order_is_another_and_only_then(
    here: SharePriorities
) -> None:
    anns, bobs = JOB, replace(JOB, label="2", job_id=2, user="bob", priority=99)
    held = replace(JOB, label="3", job_id=3, user="bob", priority=0)
    here.controller.watcher.seen = (anns, bobs, held)
    here(Cycle(10.0))
    assert here.controller.slurm.told == [("prioritise", "1", HIGHEST - 1),
                                          ("prioritise", "2", HIGHEST)]
    here.controller.watcher.seen = (replace(anns, priority=HIGHEST - 1),
                                    replace(bobs, priority=HIGHEST))
    here(Cycle(20.0))
    assert len(here.controller.slurm.told) == 2


def test_nothing_is_done_between_two_looks_or_where_slurm_is_silent(here: SharePriorities) -> None:
    here.controller.watcher.seen = (JOB, replace(JOB, label="2", job_id=2, user="bob", priority=9))
    here(Cycle(10.0, looked=False))
    here.looked_s = 8.0
    here(Cycle(10.0))
    assert here.controller.slurm.told == []


def test_only_the_first_get_a_priority_and_who_falls_behind_loses_it(here: SharePriorities) -> None:
    bobs = [replace(JOB, label=str(at), job_id=at, user="bob", priority=1000 - at)
            for at in range(2, 3 + FIRST)]
    here.controller.watcher.seen = (replace(JOB, priority=HIGHEST), *bobs)
    here(Cycle(10.0))
    told = {each[1]: each[2] for each in here.controller.slurm.told}
    assert told["1"] == HIGHEST - FIRST
    assert min(told.values()) == told["1"]
    assert (told["2"], len(told), str(2 + FIRST) in told) == (HIGHEST, 1 + FIRST, False)
