"""Another policy is asked under the cap that a live machine's books were opened with.

    machine    4 nodes of 90 W idle and 300 W busy under 900 W: two busy nodes, 780 W
    a          2 nodes, asks for 100 s: decided at 0, runs to 40
    b          2 nodes, asks for 80 s: decided at 40, runs to 70
    c          2 nodes, asks for 20 s: decided at 70, runs to 80
"""

from __future__ import annotations

from pathlib import Path

import pytest

import wattline as wl
from wattline.books import CapChanged, Ended, Started, Submitted

ANN = {"user": "ann"}
"""A live machine has names of users, and no numbers."""


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    lines: list[str] = []
    books = wl.open_books(machine=wl.Machine(nodes=4, node_idle_w=90, node_active_w=300),
                          power="block", cap=900.0, journal=lines.append)
    books.step(0.0, [Submitted("a", 2, 100.0, 600.0, names=ANN)])
    books.step(1.0, [Started("a"), Submitted("b", 2, 80.0, 600.0, names=ANN),
                     Submitted("c", 2, 20.0, 600.0, names={"user": "bob"})])
    for time_s, events in ((40.0, [Ended("a")]), (41.0, [Started("b")]), (70.0, [Ended("b")]),
                           (71.0, [Started("c")]), (80.0, [Ended("c")])):
        books.step(time_s, events)
        assert not books.refused
    assert books.journal is not None
    books.journal.end()
    path = tmp_path / "live.journal"
    path.write_text("".join(lines))
    return path


def scenario(folder: Path, order: str, more: str = "", *, trace: bool = True) -> Path:
    path = folder / "other.toml"
    path.write_text(('[trace]\nfile = "none.swf"\n' if trace else "")
                    + f'[policy]\norder = "{order}"\npower = "block"\n{more}')
    return path


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("since", [None, "0.5", "20"])
def test_the_same_policy_decides_the_same(
    journal: Path, tmp_path: Path, since: str | None, trace: bool
) -> None:
    """Also where its file names no jobs: they are the journal's."""
    found = wl.replay(journal, scenario(tmp_path, "fcfs", trace=trace), since=since)
    assert found.equal
    assert found.other.starts == {"same": 3}


@pytest.mark.parametrize("since", [None, "0.5", "20"])
def test_another_policy_is_asked_under_the_same_cap(
    journal: Path, tmp_path: Path, since: str | None
) -> None:
    """c asks for less and comes before b: it runs from 41 to 50, and b from 51 to 80."""
    found = wl.replay(journal, scenario(tmp_path, "sjf"), since=since)
    assert found.other.run.schedule.start_s.tolist() == [1.0, 51.0, 41.0]
    assert found.other.run.power_w_peak == 780.0


@pytest.mark.parametrize("cap_w", [1200.0, 2000.0])
def test_a_cap_of_the_other_scenario_holds_instead(
    journal: Path, tmp_path: Path, cap_w: float
) -> None:
    found = wl.replay(journal, scenario(tmp_path, "fcfs", f"[power]\ncap = {cap_w}\n"))
    assert found.other.run.power_w_peak == 1200.0
    assert found.other.starts == {"earlier": 2, "same": 1}


def test_a_cap_that_changes_later_changes_in_the_other_world_too(tmp_path: Path) -> None:
    lines: list[str] = []
    books = wl.open_books(machine=wl.Machine(nodes=4, node_idle_w=90, node_active_w=300),
                          power="block", cap=1300.0, journal=lines.append)
    books.step(0.0, [CapChanged(900.0)])
    books.step(1.0, [Submitted("a", 2, 100.0, 600.0), Submitted("b", 2, 80.0, 600.0)])
    books.step(20.0, [CapChanged(1300.0)])
    books.step(30.0, [Ended("a")])
    books.step(40.0, [Ended("b")])
    path = tmp_path / "live.journal"
    path.write_text("".join(lines))
    found = wl.replay(path, scenario(tmp_path, "fcfs"))
    assert found.other.run.schedule.start_s.tolist() == [1.0, 20.0]
