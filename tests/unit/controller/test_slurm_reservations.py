"""Reservations of Slurm's: jobs start where they end before one begins, and those that have one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pytest
from tests.unit.controller.fakes import FakeSlurm

from wattline.controller.answers import explained
from wattline.controller.configuration import SiteConfig
from wattline.controller.controller import Controller
from wattline.controller.watching import PATIENCE_S, Watcher
from wattline.live.slurm.client import Seen
from wattline.live.slurm.reading import SlurmJob, SlurmNode
from wattline.live.slurm.reservations import Reservation, read_reservations
from wattline.scenario.objects import Machine
from wattline.scenario.opening import open_books

NAMES = ("n1", "n2", "n3", "n4")
WAITS = SlurmJob("7", 7, 0, "PENDING", 1, 1, 3600.0, math.nan, math.nan, 0.0)
MAINT = Reservation("maint", 600.0, 4200.0, frozenset({"n1", "n2"}))
PRINTED = """\
ReservationName=maint StartTime=2026-11-18T12:53:27 EndTime=2026-11-18T13:53:27 Duration=01:00:00 \
Nodes=n[0001-0002] NodeCnt=2 CoreCnt=64 Features=(null) PartitionName=(null) \
Flags=MAINT,SPEC_NODES TRES=cpu=64 Users=root Groups=(null) Accounts=(null) Licenses=(null) \
State=INACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)
ReservationName=lic StartTime=2026-11-18T12:53:27 EndTime=2026-11-18T13:53:27 Duration=01:00:00 \
Nodes=(null) NodeCnt=0 CoreCnt=0 Features=(null) PartitionName=(null) Flags=ANY_NODES \
TRES=license/watts=3 Users=root Groups=(null) Accounts=(null) Licenses=watts:3 State=INACTIVE \
BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)
"""


@dataclass
class Reserving(FakeSlurm):
    """A Slurm with reservations."""

    reservations: tuple[Reservation, ...] = (MAINT,)
    now_s: float = 0.0

    def look(self) -> Seen:
        kept = {name for each in self.reservations if each.holds(self.now_s)
                for name in each.nodes}
        return Seen(self.now_s, tuple(self.jobs), tuple(
            SlurmNode(name, ("idle", "reserved") if name in kept else ("idle",), 32)
            for name in self.nodes), reservations=self.reservations)


def controller(*jobs: SlurmJob, cap: float = 1200.0, **more) -> Controller:
    books = open_books(machine=Machine(nodes=4, node_idle_w=90, node_active_w=300), cap=cap,
                       power="block", placement="first-fit")
    slurm = Reserving(list(jobs), NAMES, **more)
    return Controller(books, slurm, Watcher(NAMES, node_w=300.0), act=True,
                      clock=lambda: slurm.now_s)


def started(here: Controller) -> list[list[str]]:
    return [each[2] for each in here.slurm.told if each[0] == "start"]


def test_what_scontrol_prints_is_read() -> None:
    first, second = read_reservations(PRINTED)
    assert first.nodes == {"n0001", "n0002"}
    assert first.end_s - first.start_s == 3600.0
    assert (second.name, second.nodes) == ("lic", frozenset())
    assert read_reservations("No reservations in the system\n") == ()


@pytest.mark.parametrize(("job", "nodes"), [
    (WAITS, ["n3"]), (replace(WAITS, limit_s=600.0), ["n1"]),
    (replace(WAITS, limit_s=math.inf), ["n3"])])
def test_a_job_that_would_run_into_a_reservation_starts_elsewhere(
    job: SlurmJob, nodes: list[str]
) -> None:
    here = controller(job)
    here.cycle()
    assert started(here) == [nodes]


def test_without_other_nodes_it_waits_and_says_for_what() -> None:
    here = controller(replace(WAITS, nodes=3))
    here.cycle()
    assert started(here) == []
    here.slurm.now_s = 1.0
    here.cycle()
    assert "2 that reservations of Slurm's have or will have" in here.watcher.told["7"].why_not
    here.slurm.reservations = ()
    here.slurm.now_s = 10.0
    here.cycle()
    assert started(here) == [["n1", "n2", "n3"]]


SITE = SiteConfig(nodes="n[1-4]", node_idle_w=90, node_active_w=300, cap=1200)


def explains(here: Controller, label: str = "7") -> tuple[str, str]:
    here.slurm.job = lambda label: next(job for job in here.slurm.jobs if job.label == label)
    said = explained(here, SITE, {"job": label}).result
    return said["reason"], said["sentence"]


@pytest.mark.parametrize("job", [
    replace(WAITS, nodes=3), replace(WAITS, required_nodes=("n1",))])
def test_explain_says_it_at_any_time_and_it_starts_once_the_reservation_is_over(
    job: SlurmJob
) -> None:
    here = controller(job)
    for at_s in range(20):
        here.slurm.now_s = float(at_s)
        here.cycle()
        reason, sentence = explains(here)
        assert reason == "reservation"
        assert "n[1-2] are kept from it: maint of Slurm's reservations" in sentence
    assert started(here) == []
    here.slurm.reservations, here.slurm.now_s = (replace(MAINT, end_s=20.0),), 30.0
    here.cycle()
    assert len(started(here)) == 1


def test_explain_names_a_reservation_that_has_nodes_now() -> None:
    here = controller(replace(WAITS, nodes=3), reservations=(replace(MAINT, start_s=-5.0),))
    here.cycle()
    reason, sentence = explains(here)
    assert reason == "nodes"
    assert sentence.startswith("it waits for nodes: it asks for 3 and 2 of 4 are free, 2 down; "
                               "n[1-2] are kept from it: maint")


def test_where_slurm_says_so_all_the_same_it_chooses_itself() -> None:
    """As of a reservation that this user may not see."""
    watcher = Watcher(NAMES)
    nodes = tuple(SlurmNode(name, ("idle",), 32) for name in NAMES)
    watcher.news(Seen(0.0, (WAITS,), nodes))
    watcher.asked("7", 0.0)
    refused = replace(WAITS, priority=5, required_nodes=("n1",),
                      reason="ReqNodeNotAvail, May be reserved for other job")
    watcher.news(Seen(PATIENCE_S + 1, (refused,), nodes))
    assert watcher.told["7"].anywhere


PROJECT = Reservation("proj", -5.0, 4200.0, frozenset(NAMES))
MEMBER = replace(WAITS, nodes=2, reservation="proj", limit_s=300.0)


def released(here: Controller) -> list[str]:
    return [each[1] for each in here.slurm.told if each[0] == "release"]


def test_a_job_for_a_reservation_goes_to_slurm_when_its_nodes_are_free() -> None:
    here = controller(MEMBER, reservations=(PROJECT,))
    said = here.cycle().remarks
    assert released(here) == ["7"]
    assert "job 7 goes to Slurm: it is for the reservation proj" in said
    here.slurm.jobs = [replace(MEMBER, priority=9)]
    here.cycle()
    assert released(here) == ["7"], "it is Slurm's by now"
    here.slurm.jobs = [replace(MEMBER, state="RUNNING", node_list=("n1", "n2"), priority=9)]
    here.cycle()
    assert here.books.power_w == 600.0
    assert here.watcher.told["7"].running


def test_it_waits_for_the_time_the_nodes_and_the_watts_of_its_reservation() -> None:
    here = controller(MEMBER, reservations=(replace(PROJECT, start_s=50.0),))
    here.cycle()
    assert "begins at 1970-01-01 00:00:50 UTC" in here.watcher.obstacles["7"].sentence
    here.slurm.reservations, here.slurm.now_s = (replace(PROJECT, nodes=frozenset({"n1"})),), 51.0
    here.cycle()
    assert "2 of its reservation proj, of which 1 are free" in here.watcher.obstacles["7"].sentence
    here.slurm.reservations = ()
    here.cycle()
    assert "does not have" in here.watcher.obstacles["7"].sentence
    assert released(here) == started(here) == []


def test_of_two_only_one_is_let_in_where_the_cap_has_room_for_one() -> None:
    other = replace(MEMBER, label="8", job_id=8)
    here = controller(MEMBER, other, cap=1000.0, reservations=(PROJECT,))
    here.cycle()
    assert released(here) == ["7"]
    assert here.watcher.obstacles["8"].reason == "watts"
    here.slurm.jobs = [replace(MEMBER, priority=9), other]
    here.cycle()
    assert released(here) == ["7"], "what was released and does not run yet counts"
    assert here.watcher.obstacles["8"].reason == "watts"


def test_a_job_that_is_given_a_reservation_later_leaves_the_queue() -> None:
    here = controller(replace(MEMBER, nodes=4, reservation=""), cap=1000.0,
                      reservations=(replace(PROJECT, start_s=50.0),))
    here.cycle()
    assert "7" in here.watcher.told
    here.slurm.jobs = [replace(MEMBER, nodes=4)]
    here.cycle()
    here.cycle()
    assert not here.watcher.told
    assert here.watcher.obstacles["7"].reason == "reservation"
