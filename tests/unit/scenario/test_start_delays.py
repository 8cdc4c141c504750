"""A machine starts jobs some seconds after the decision; another policy is asked on that machine.

    order      fcfs on 4 nodes, seen every second; delays of a, b, c: 5, 5 and 9 s
    a          4 nodes, asks for 100 s: decided at 0, runs from 5 to 45
    b          4 nodes, asks for 80 s: decided at 45, runs from 50 to 80
    c          4 nodes, asks for 20 s: decided at 80, runs from 89 to 99
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import call, ok

import wattline as wl
from wattline.books import Ended, Started, Submitted

DELAYED = "jobs are assumed to start as long after the decision as the journal saw"


@pytest.fixture
def journal(tmp_path) -> Path:
    lines: list[str] = []
    books = wl.open_books(machine=wl.Machine(nodes=4, node_idle_w=90, node_active_w=300),
                          journal=lines.append)
    books.step(0.0, [Submitted("a", 4, 100.0)])
    books.step(1.0, [Submitted("b", 4, 80.0), Submitted("c", 4, 20.0)])
    for time_s, event in ((5.0, Started("a")), (45.0, Ended("a")), (50.0, Started("b")),
                          (80.0, Ended("b")), (89.0, Started("c")), (99.0, Ended("c"))):
        books.step(time_s, [event])
        assert not books.refused
    books.journal.end()
    path = tmp_path / "live.journal"
    path.write_text("".join(lines))
    return path


def _scenario(folder: Path, order: str) -> Path:
    path = folder / f"{order}.toml"
    path.write_text(f'[trace]\nfile = "none.swf"\n[policy]\norder = "{order}"\n')
    return path


def _starts(found: Any) -> list[float]:
    return found.other.run.schedule.start_s.tolist()


def test_the_same_policy_on_a_machine_that_delays_starts_decides_the_same(
    journal, tmp_path, capsys
) -> None:
    said = ok(capsys, "replay", journal, "--scenario", _scenario(tmp_path, "fcfs"), "--json")
    found = json.loads(said)
    assert found["equal"] is True
    assert found["starts"] == {"same": 3}
    assert f"{DELAYED}, median 5 s, at most 9 s" in found["remarks"]
    assert not any("Started are left out" in each for each in found["remarks"])


def test_under_another_policy_jobs_start_as_long_after_the_decision(journal, tmp_path) -> None:
    """c, which asks for least, is decided at 45, runs from 54 to 64; b from 69 to 99."""
    found = wl.replay(journal, _scenario(tmp_path, "sjf"))
    assert _starts(found) == [5.0, 69.0, 54.0]
    assert found.other.run.schedule.end_s.tolist() == [45.0, 99.0, 64.0]
    assert found.other.starts == {"earlier": 1, "later": 1, "same": 1}


def test_the_delay_is_said_in_the_text_too(journal, tmp_path, capsys) -> None:
    _, out, _ = call(capsys, "replay", journal, "--scenario", _scenario(tmp_path, "sjf"))
    assert DELAYED in " ".join(out.split())


@pytest.mark.parametrize("since", ["2", "47", "60"])
def test_a_start_that_is_under_way_comes_when_the_journal_saw_it(journal, tmp_path, since) -> None:
    found = wl.replay(journal, _scenario(tmp_path, "fcfs"), since=since)
    assert found.equal
    assert _starts(found) == [5.0, 50.0, 89.0]


def test_a_job_that_was_never_seen_to_start_is_assumed_to_take_the_median(
    journal, tmp_path
) -> None:
    lines: list[str] = []
    books = wl.open_books(machine=wl.Machine(nodes=4, node_idle_w=90, node_active_w=300),
                          journal=lines.append)
    told = [Submitted("a", 4, 100.0), Submitted("b", 4, 80.0), Submitted("c", 4, 20.0)]
    for time_s, events in ((0.0, told), (3.0, [Started("a")]), (43.0, [Ended("a")]),
                           (50.0, [Started("b")]), (80.0, [Ended("b")])):
        books.step(time_s, events)
    books.journal.end()
    journal.write_text("".join(lines))
    found = wl.replay(journal, _scenario(tmp_path, "fcfs"), assume_requested=True)
    assert _starts(found) == [3.0, 50.0, 85.0]
    assert (f"{DELAYED}, median 5 s, at most 7 s; 1 job not seen to start: the median"
            in found.other.remarks)


def test_a_simulated_journal_has_no_delays(tmp_path) -> None:
    trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    path = tmp_path / "simulated.journal"
    wl.simulate(trace, machine=wl.Machine(nodes=32, node_idle_w=90, node_active_w=300),
                journal=path)
    found = wl.replay(path, _scenario(tmp_path, "fcfs"))
    assert found.equal
    assert not any(DELAYED in each for each in found.other.remarks)


def test_where_jobs_are_killed_their_time_counts_from_the_start(tmp_path) -> None:
    """It asks for 40 s, starts 30 s after the decision and needs 60 s: it is killed at 70 s."""
    lines: list[str] = []
    books = wl.open_books(machine=wl.Machine(nodes=4, node_idle_w=90, node_active_w=300),
                          journal=lines.append)
    for time_s, event in ((0.0, Submitted("a", 4, 40.0)), (30.0, Started("a")),
                          (90.0, Ended("a"))):
        books.step(time_s, [event])
    books.journal.end()
    path = tmp_path / "killed.journal"
    path.write_text("".join(lines))
    kills = tmp_path / "kills.toml"
    kills.write_text('[trace]\nfile = "none.swf"\n[policy]\noverrun = "kill"\n')
    found = wl.replay(path, kills)
    assert found.other.run.schedule.end_s.tolist() == [70.0]
