"""Licences of watts as a controller writes them into its journal."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.controller.fakes import FakeSlurm

from wattline.books import CapChanged, JournalWriter, Started, Submitted, carry_on, read_journal
from wattline.books.books import Books
from wattline.books.replay import replay
from wattline.controller.controller import Controller, Cycle
from wattline.controller.licence_entries import LicenceEntries
from wattline.controller.told import Told
from wattline.controller.watching import Watcher
from wattline.live.slurm.reading import SlurmJob
from wattline.model.errors import InputError
from wattline.results.verify.journal.rules import verify_journal
from wattline.scenario.objects import Machine
from wattline.scenario.opening import open_books

NAMES = ["n0", "n1", "n2"]


def runs(label: str, watts: int, *nodes: str) -> SlurmJob:
    return SlurmJob(label, int(label), 0, "RUNNING", len(nodes), 1, 900.0, 0.0, 0.0, 0.0,
                    node_list=nodes, licenses={"watts": watts, "matlab": 1})


class Site:
    """Three nodes of 90 W idle under 900 W, of 1,300 licences of which 400 are reserved."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.books = open_books(machine=self.machine(), cap=900.0, power="block",
                                placement="first-fit", journal=self.lines.append)
        self.controller = Controller(self.books, FakeSlurm(nodes=tuple(NAMES)), Watcher(NAMES),
                                     act=True, clock=lambda: 1.0)
        self.net = SimpleNamespace(total=1300, taken=400)
        self.entries = LicenceEntries(self.controller, self.net)  # type: ignore[arg-type]

    @staticmethod
    def machine() -> Machine:
        return Machine(nodes=3, node_idle_w=90, node_active_w=300)

    def look(self, *jobs: SlurmJob, looked: bool = True) -> dict[str, Any]:
        """Return what a line says that this look brings; empty where it brings none."""
        before = len(self.lines)
        self.controller.watcher.seen = jobs
        self.entries(Cycle(1.0, looked=looked))
        journal = read_journal(self.lines[0] + "".join(self.lines[1:]), "journal")
        return [entry.licences for entry in journal.entries()][before - 1:][-1] if len(
            self.lines) > before else {}


def test_a_line_is_written_where_something_has_changed() -> None:
    site = Site()
    first, second = runs("1", 250, "n0"), runs("2", 300, "n1")
    waits = replace(second, state="PENDING", node_list=())
    others = {"allowed": 900, "beside": 0, "idle_w": 0.0}
    assert site.look(first, waits) == {**others, "held": {"1": 250}, "all": True}
    assert site.look(first, waits) == {}
    assert site.look(first, second, looked=False) == {}
    assert site.look(first, second) == {**others, "held": {"2": 300}, "all": False}
    site.net.taken = 500
    assert site.look(replace(first, state="COMPLETING"), second) == {
        **others, "allowed": 800, "held": {}, "all": False}
    site.net.taken = -1  # Slurm refuses
    assert site.look(second) == {**others, "allowed": None, "held": {"1": 0}, "all": False}


def test_licences_of_suspended_jobs_and_of_other_nodes_stand_for_no_watts_here() -> None:
    site = Site()
    site.controller.watcher.told["1"] = Told("1", 1, 900.0, 250.0, (0,), True)
    site.controller.watcher.told["1"].idles = True
    jobs = (replace(runs("1", 250, "n0"), state="SUSPENDED"), runs("2", 400, "n1", "x1"),
            runs("3", 70, "x2", "x3"))
    assert site.look(*jobs)["beside"] == 250 + 200 + 70


def test_another_journal_begins_with_all_that_is_held() -> None:
    site = Site()
    job = runs("1", 250, "n0")
    site.look(job)
    site.lines.clear()
    site.books.turn_page(JournalWriter(site.lines.append), {"cap_w": 1200.0}, "x.begin")
    assert site.look(job)["all"]
    assert read_journal(site.lines[0], "").head["cap_w"] == 900.0, "the cap is that of now"


def test_lines_about_licences_are_no_step_of_a_replay(tmp_path: Path) -> None:
    site = Site()
    site.books.step(1.0, [Submitted("1", units=1, requested_s=900.0)])
    site.look(runs("1", 300, "n0"))
    saved = site.books.save()
    site.look(runs("1", 250, "n0"))
    site.books.step(2.0, [Started("1", (0,)), CapChanged(800.0)])
    journal = read_journal("".join(site.lines), "journal")
    again = Site().books
    found = replay(again, journal.entries())
    assert found.equal
    assert (found.steps, again.energy_j) == (2, site.books.energy_j)
    loaded = Books.load(saved, again.machine, again.policy, again.terms)
    lines: list[str] = []
    carried = carry_on(loaded, read_journal("".join(site.lines), "journal"), lines.append)
    assert carried.energy_j == site.books.energy_j
    assert carried.journal is not None
    carried.journal.end()
    path = tmp_path / "run.journal"
    path.write_text("".join([*site.lines, *lines]))
    judged = verify_journal(path)
    assert judged.sentences == []
    assert {"journal.lines", "journal.licences"} <= {each.rule for each in judged.judged}


@pytest.mark.parametrize(("version", "count"), [(1, 0), (2, 1)])
def test_a_journal_that_an_earlier_version_began_gets_no_such_lines(
    version: int, count: int
) -> None:
    lines: list[str] = []
    JournalWriter(lines.append, version=version).licences(1.0, {"held": {}})
    assert len(lines) == count


def test_a_journal_of_a_later_version_is_refused_by_its_number() -> None:
    text = json.dumps({"wattline journal": 3})
    with pytest.raises(InputError, match="a journal of version 3; this is 2"):
        read_journal(f"{zlib.crc32(text.encode()):08x} {text}\n", "run.journal")
