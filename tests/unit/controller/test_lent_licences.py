"""Licences of jobs that draw less than they claim: together never more than the cap."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.controller.fakes import FakeSlurm

from wattline.books import Control, Decision, Measured, Started, Submitted
from wattline.controller.controller import Controller
from wattline.controller.lent_licences import LentLicences, restore_lent
from wattline.controller.told import Told
from wattline.controller.watching import Watcher
from wattline.controller.writings import Written, keep_written, kept_written
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import SlurmJob
from wattline.scenario.objects import Machine
from wattline.scenario.opening import open_books


class Counting(FakeSlurm):
    """A Slurm that changes the licences of its rows."""

    def license(self, job: SlurmJob, watts: int) -> None:
        self.jobs = [replace(each, licenses={**each.licenses, "watts": watts})
                     if each.label == job.label else each for each in self.jobs]

    def held(self) -> dict[str, int]:
        return {job.label: job.licenses["watts"] for job in self.jobs}


class Site:
    """Nodes of 90 W idle with jobs of one node that say what they draw, all started from here."""

    def __init__(self, claims: list[int], nodes: int = 6, cap_w: float = 1300.0) -> None:
        self.names = [f"n{number}" for number in range(nodes)]
        books = open_books(machine=Machine(nodes=nodes, node_idle_w=90, node_active_w=300),
                           cap=cap_w, placement="first-fit", power="block")
        self.slurm = Counting(nodes=tuple(self.names), jobs=[
            SlurmJob(str(number), number, 0, "RUNNING", 1, 1, 900.0, 0.0, 0.0, 0.0,
                     node_list=(self.names[number],), licenses={"watts": claim, "matlab": 1})
            for number, claim in enumerate(claims)])
        self.controller = Controller(books, self.slurm, Watcher(self.names), act=True,
                                     clock=lambda: 1.0)
        for number, job in enumerate(self.slurm.jobs):
            self.controller.watcher.told[job.label] = Told(
                job.label, 1, 900.0, float(claims[number]), (number,), True)
            self.controller.watcher.written[job.label] = Written(
                job.node_list, asked_nodes=1, asked_most=1, asked_watts=claims[number])
        books.apply(0.0, [Submitted(str(number), units=1, requested_s=900.0, watts=float(claim))
                          for number, claim in enumerate(claims)])
        books.apply(0.1, [Started(str(number), (number,)) for number in range(len(claims))])
        self.lent = LentLicences(self.controller)
        self.look()

    def look(self) -> None:
        watcher = self.controller.watcher
        watcher.seen = tuple(self.slurm.jobs)
        for job in self.slurm.jobs:
            watcher.told[job.label].row = job

    def draws(self, watts: dict[str, float]) -> None:
        self.controller.books.apply(0.5, [Measured(each, name) for name, each in watts.items()])

    def fit(self, cap_w: float = 1300.0) -> dict[str, int]:
        self.lent.fit(cap_w)
        self.look()
        return self.slurm.held()


def test_three_jobs_that_are_counted_with_less_than_they_claim_hold_no_more_than_the_cap() -> None:
    """They say 480 W each, and 421 W are counted: 1,440 W of licences under 1,300 W before."""
    site = Site([480, 480, 480])
    assert site.fit() == {"0": 480, "1": 480, "2": 480}  # counted so: the cap was lowered
    site.draws(dict.fromkeys("012", 421.0))
    held = site.fit()
    assert sum(held.values()) <= 1300
    assert min(held.values()) >= 421
    assert site.slurm.jobs[0].licenses["matlab"] == 1
    assert site.controller.watcher.as_asked(site.slurm.jobs[0]).licenses["watts"] == 480
    assert site.fit() == held  # nothing more to change
    site.slurm.jobs.pop()
    del site.controller.watcher.told["2"]
    site.look()
    assert site.fit() == {"0": 480, "1": 480}


@pytest.mark.parametrize("seed", range(20))
def test_however_little_jobs_draw_they_hold_what_is_counted_and_no_more_than_the_cap(
    seed: int
) -> None:
    source = random.Random(seed)
    nodes = source.randint(2, 9)
    claims = [source.randint(95, 600) for _ in range(nodes)]
    site = Site(claims, nodes, cap_w=1e5)
    drawn = {str(number): source.uniform(90.0, claim) for number, claim in enumerate(claims)}
    site.draws(drawn)
    cap_w = source.uniform(sum(drawn.values()), 1.2 * sum(claims))
    held = site.fit(cap_w)
    assert sum(held.values()) <= cap_w
    for name, watts in held.items():
        assert math.floor(drawn[name]) - 1 <= watts <= claims[int(name)]


def test_when_slurm_starts_jobs_they_hold_their_claims_again(tmp_path: Path) -> None:
    site = Site([480, 480, 480])
    site.draws(dict.fromkeys("012", 100.0))
    site.controller.hands.keep_written = lambda written: keep_written(tmp_path, written)
    assert sum(site.fit().values()) <= 1300
    rows = restore_lent(site.slurm, site.slurm.jobs, kept_written(tmp_path))  # as a watchdog does
    assert {job.licenses["watts"] for job in rows} == {480}
    assert set(site.slurm.held().values()) == {480}
    site.look()
    site.fit()
    site.lent.restore()
    assert set(site.slurm.held().values()) == {480}


def test_a_job_that_is_queued_again_waits_and_starts_with_what_it_claims() -> None:
    site = Site([480, 480, 480])
    site.draws(dict.fromkeys("012", 100.0))
    first = next(label for label, watts in site.fit().items() if watts < 480)
    told = site.controller.watcher.told[first]
    told.running = False
    site.slurm.jobs = [replace(job, state="PENDING", node_list=()) if job.label == first else job
                       for job in site.slurm.jobs]
    site.look()
    start = Decision("start", first, 1.0, 480.0, Control(1, nodes=(int(first),)))
    site.controller.hands.carry_out(site.controller, [start], 1.0)
    assert site.slurm.told[-1][-1] == 480
    assert site.controller.watcher.as_asked(told.row).licenses["watts"] == 480
    told.running, told.asked_s = False, math.nan  # and it was not started
    site.lent.fit(1300.0)
    assert site.slurm.held()[first] == 480


def test_what_slurm_refuses_to_change_is_said_once() -> None:
    site = Site([480, 480, 480])
    site.draws(dict.fromkeys("012", 100.0))

    def refuse(job: SlurmJob, watts: int) -> None:
        raise SlurmError("Access/permission denied")

    site.slurm.license = refuse  # type: ignore[method-assign]
    site.fit()
    site.fit()
    assert len(site.controller.notes) == len(set(site.controller.notes)) > 0
    assert "keeps its licences called watts" in site.controller.notes[0]
