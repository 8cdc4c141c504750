"""Reservations of Slurm's on shared nodes: as on whole ones, by CPUs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.controller.test_shared_deciding import JOB, NODES, Site, place

from wattline.controller.answers import SHARED
from wattline.controller.controller import Cycle
from wattline.controller.sharing.deciding import DECISIONS
from wattline.controller.sharing.deciding_again import decided_again
from wattline.controller.sharing.parts import read_section
from wattline.controller.watching import BACKOFF_S, PATIENCE_S
from wattline.live.slurm.client import Seen
from wattline.live.slurm.reading import SlurmJob, SlurmNode
from wattline.live.slurm.reservations import Reservation

__all__ = ["place"]
LATER = Reservation("maint", 1500.0, 9000.0, frozenset({"n1", "n2"}))
OURS = Reservation("proj", 0.0, 9000.0, frozenset({"n1", "n2"}))
MEMBER = replace(JOB, reservation="proj")


class Reserving(Site):
    """With reservations; nodes of those that hold are shown as reserved."""

    reservations: tuple[Reservation, ...] = ()

    def see(self, *jobs: SlurmJob, at_s: float) -> list[tuple]:
        self.slurm.told.clear()
        kept = {name for each in self.reservations if each.holds(at_s) for name in each.nodes}
        nodes = tuple(SlurmNode(name, ("idle", "reserved") if name in kept else ("idle",), 8)
                      for name in NODES)
        self.watcher.news(Seen(at_s, jobs, nodes, reservations=self.reservations))
        self.starter(Cycle(at_s))
        return self.slurm.told


def calls(told: list[tuple]) -> list[tuple]:
    """Return what was done, to whom, and on which nodes."""
    return [each[:3] if each[0] == "start" else each[:2] for each in told]


@pytest.mark.parametrize(("limit_s", "nodes"), [(400.0, ("n1",)), (600.0, ("g1",))])
def test_a_job_starts_where_it_ends_before_a_reservation_begins(
    place: Path, limit_s: float, nodes: tuple[str, ...]
) -> None:
    here = Reserving(place)
    here.reservations = (LATER,)
    assert calls(here.see(replace(JOB, limit_s=limit_s), at_s=1010.0)) == [("start", "7", nodes)]
    file = Path(here.site.folder) / DECISIONS
    again = decided_again(file, read_section(here.site.twin), NODES)
    assert (again.decisions, again.different) == (1, 0)
    assert json.loads(file.read_text())["picture"]["jobs"][0]["excluded"] == (
        [] if limit_s == 400.0 else ["n1", "n2"])


def test_one_without_other_nodes_waits_and_says_for_what_until_they_are_free(place: Path) -> None:
    here = Reserving(place)
    here.reservations = (LATER,)
    wide = replace(JOB, nodes=2, most_nodes=2)
    assert here.see(wide, at_s=1010.0) == []
    assert here.watcher.obstacles["7"].reason == "reservation"
    assert "of which 1 are left, beside 2 that reservations" in here.watcher.obstacles[
        "7"].sentence
    here.reservations = ()
    assert calls(here.see(wide, at_s=1011.0)) == [("start", "7", ("n1", "n2"))]


def test_one_that_finds_no_room_beside_a_reservation_is_not_called_impossible(place: Path) -> None:
    """The CPUs of the node that is left are taken."""
    here = Reserving(place)
    here.reservations = (LATER,)
    runs = replace(JOB, label="1", job_id=1, state="RUNNING", cpus=8, node_list=("g1",),
                   start_s=1000.0, priority=5)
    assert here.see(JOB, runs, at_s=1010.0) == []
    assert here.starter.why("7") == "reservation"
    assert "reservation" in SHARED
    assert not [note for note in here.controller.notes if "cannot run" in note]


def test_one_that_asks_for_more_nodes_than_there_are_is_kept_by_no_reservation(
    place: Path
) -> None:
    here = Reserving(place)
    assert here.see(replace(JOB, nodes=9, most_nodes=9, cpus=9), at_s=1010.0) == []
    assert "7" not in here.watcher.obstacles
    assert here.starter.why("7") == "refused"


def test_a_job_for_a_reservation_goes_to_slurm_with_its_watts(place: Path) -> None:
    here = Reserving(place)
    here.controller.hands.licences = True
    here.reservations = (OURS,)
    assert calls(here.see(MEMBER, at_s=1010.0)) == [("license", MEMBER), ("release", "7")]
    assert here.slurm.told[0][2] == 40, "what its CPUs add"
    assert here.see(replace(MEMBER, priority=5), at_s=1011.0) == [], "it is Slurm's by now"


@pytest.mark.parametrize(("reservations", "reason", "said"), [
    ((), "reservation", "Slurm does not have"),
    ((replace(OURS, start_s=5000.0),), "reservation", "begins at 1970-01-01 01:23:20 UTC"),
    ((replace(OURS, nodes=frozenset({"n1"})),), "nodes",
     "it asks for 4 CPUs on 1 node of its reservation proj, of which 2 are free on 1 node")])
def test_it_waits_for_its_reservation_and_for_cpus_there(
    place: Path, reservations: tuple[Reservation, ...], reason: str, said: str
) -> None:
    here = Reserving(place)
    here.reservations = reservations
    runs = replace(JOB, label="1", job_id=1, state="RUNNING", cpus=6, node_list=("n1",),
                   start_s=1000.0, priority=5)
    assert here.see(MEMBER, runs, at_s=1010.0) == []
    assert here.watcher.obstacles["7"].reason == reason
    assert said in here.watcher.obstacles["7"].sentence


def test_the_cap_lets_in_one_of_two_and_counts_it_before_it_runs(place: Path) -> None:
    """300 W are drawn, and 345 W let one of 40 W in; neither a second nor one of the queue."""
    here = Reserving(place)
    here.cap_w, here.reservations = 345.0, (OURS,)
    second, other = replace(MEMBER, label="8", job_id=8), replace(JOB, label="9", job_id=9)
    assert calls(here.see(MEMBER, second, at_s=1010.0)) == [("release", "7")]
    assert here.watcher.obstacles["8"].reason == "watts"
    assert here.see(replace(MEMBER, priority=5), second, other, at_s=1011.0) == []
    assert here.watcher.obstacles["8"].reason == "watts"
    assert here.starter.why("9") == "watts"


def test_where_slurm_says_that_a_node_is_not_available_it_chooses_itself(place: Path) -> None:
    """As of a reservation that this user may not see."""
    here = Reserving(place)
    here.see(JOB, at_s=1010.0)
    refused = replace(JOB, priority=5, reason="ReqNodeNotAvail, May be reserved for other job")
    here.see(refused, at_s=1011.0 + PATIENCE_S)
    told = here.see(JOB, at_s=1012.0 + PATIENCE_S + BACKOFF_S)
    assert calls(told) == [("start", "7", ("n1",))]
    assert True in told[0][3:], "anywhere"
