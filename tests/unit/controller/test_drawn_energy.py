"""Energy of jobs by the meters of their nodes, as the books are told it at their ends."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from wattline.books import Ended, Event
from wattline.controller.drawn_energy import DrawnEnergy
from wattline.controller.watching import Watcher
from wattline.live.slurm.client import Seen
from wattline.live.slurm.reading import SlurmJob, SlurmNode

CLAIM_W, DRAWN_W = 300.0, 180.0
JOB = SlurmJob("7", 7, 0, "RUNNING", nodes=1, cpus=32, limit_s=600.0, start_s=100.0, end_s=700.0,
               submit_s=100.0, node_list=("n1",))


class Machine:
    """A job that claims 300 W and whose node draws 180 W, looked at when a test says so."""

    def __init__(self) -> None:
        self.watcher = Watcher(["n1"], node_w=CLAIM_W)
        self.watcher.booked_w = lambda name: CLAIM_W
        self.drawn = DrawnEnergy(self.watcher, lambda name: math.nan)

    def look(self, now_s: float, *jobs: SlurmJob) -> list[Event]:
        """One cycle: what Slurm shows, then what the meters say."""
        news = self.watcher.news(Seen(now_s, jobs, (SlurmNode("n1", ("idle",), 32),)))
        found = self.drawn.ended(news.events, now_s)
        self.drawn.look(now_s, {"n1": DRAWN_W})
        return found

    def ended_j(self, now_s: float, *jobs: SlurmJob) -> float:
        ended, = (each for each in self.look(now_s, *jobs) if isinstance(each, Ended))
        return ended.energy_j


def test_a_job_draws_until_its_end_however_late_that_is_seen() -> None:
    """From 100 s to the end of the second that Slurm says, 108 s: nine seconds of 180 W."""
    for seen_s in (109.0, 115.0, 400.0):
        machine = Machine()
        machine.look(104.0, JOB)
        assert machine.ended_j(seen_s, replace(JOB, state="COMPLETED", end_s=108.0)
                               ) == pytest.approx(9.0 * DRAWN_W)


def test_a_job_whose_end_slurm_does_not_say_draws_until_it_is_missed() -> None:
    machine = Machine()
    machine.look(104.0, JOB)
    assert machine.ended_j(115.0) == pytest.approx(15.0 * DRAWN_W)


def test_what_was_read_while_a_job_was_still_there_stays_counted() -> None:
    """Its epilog takes until 112 s, and its node is its own until then."""
    machine = Machine()
    machine.look(104.0, JOB)
    machine.look(112.0, replace(JOB, state="COMPLETING", end_s=108.0))
    assert machine.ended_j(113.0, replace(JOB, state="COMPLETED", end_s=108.0)
                           ) == pytest.approx(12.0 * DRAWN_W)


def test_a_job_that_slurm_queued_again_draws_until_that_is_seen() -> None:
    """Slurm shows the next life then, and no end of the last."""
    machine = Machine()
    machine.look(104.0, JOB)
    assert machine.ended_j(110.0, replace(JOB, state="PENDING", restarts=1, node_list=(),
                                          start_s=math.nan, end_s=math.nan)
                           ) == pytest.approx(10.0 * DRAWN_W)
