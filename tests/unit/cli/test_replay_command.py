"""`wattline simulate --journal` and `wattline replay`, as their users type them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import call, ok, refused

from wattline.cli import replay as replay_command
from wattline.scenario import asking

CAPPED = ("--power-policy", "wait", "--cap", "2kW")


@pytest.fixture(scope="module")
def journal(tmp_path_factory) -> Path:
    from click.testing import CliRunner

    from wattline.cli.main import cli

    path = tmp_path_factory.mktemp("journals") / "run.journal"
    words = ["simulate", "--trace", "examples/tiny.swf", *CAPPED, "--no-folder", "--journal",
             str(path)]
    assert CliRunner().invoke(cli, words, catch_exceptions=False).exit_code == 0
    return path


def test_a_journal_replays_to_the_same_decisions(journal, capsys) -> None:
    found = json.loads(ok(capsys, "replay", journal, "--json"))
    assert found["equal"] is True
    assert found["first_difference"] is None
    assert found["complete"] is True
    assert found["decisions"] >= 12
    assert "every decision is the same" in ok(capsys, "replay", journal)


@pytest.mark.parametrize("words", [
    (), ("--scenario", "examples/small.toml"),
    ("--scenario", "examples/small.toml", "--from", "1h"),
])
def test_a_replay_says_how_far_it_is(journal, monkeypatch, words, capsys) -> None:
    told: list[float] = []

    @contextmanager
    def progress(title: str, *, spoken: bool) -> Iterator[Any]:
        assert spoken
        yield told.append

    monkeypatch.setattr(replay_command, "progress", progress)
    monkeypatch.setattr(asking, "MOST_TOLD", 0)  # in this process, as long ones
    call(capsys, "replay", journal, *words)
    assert len(told) > 20
    assert told == sorted(told)
    assert 0.9 < told[-1] <= 1.0


def test_a_journal_holds_no_run_times(journal) -> None:
    assert "run_s" not in journal.read_text()
    assert "work_s" not in journal.read_text()


def changed(journal: Path, tmp_path: Path, summed: bool) -> Path:
    """The size of one job is another; `summed` mends the checksum of that line alone."""
    lines = journal.read_text().splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if '"units":4' in line and "submitted" in line)
    checksum, _, text = lines[place].rstrip("\n").partition(" ")
    text = text.replace('"units":4', '"units":3', 1)
    if summed:
        before = int(lines[place - 1].partition(" ")[0], 16)
        checksum = f"{zlib.crc32(text.encode(), before):08x}"
    lines[place] = f"{checksum} {text}\n"
    path = tmp_path / "changed.journal"
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("summed", [False, True])
def test_another_size_of_one_job_is_not_equal(journal, tmp_path, summed, capsys) -> None:
    status, out, _ = call(capsys, "replay", changed(journal, tmp_path, summed), "--json")
    assert status == 1
    found = json.loads(out)
    assert found["equal"] is False
    assert found["damaged_lines"]


def test_lost_lines_are_noticed(journal, tmp_path, capsys) -> None:
    lines = journal.read_text().splitlines(keepends=True)
    path = tmp_path / "cut.journal"
    path.write_text("".join(lines[: len(lines) // 2]))
    assert json.loads(ok(capsys, "replay", path, "--json"))["complete"] is False
    path.write_text("".join(lines[:5] + lines[6:]))
    status, out, _ = call(capsys, "replay", path, "--json")
    assert status == 1
    assert json.loads(out)["damaged_lines"]


def test_another_policy_is_asked_about_the_same_jobs(journal, tmp_path, capsys) -> None:
    other = tmp_path / "other.toml"
    other.write_text('[trace]\nfile = "none.swf"\n[policy]\norder = "sjf"\n')
    status, out, _ = call(capsys, "replay", journal, "--scenario", other, "--json")
    assert status == 1
    found = json.loads(out)
    assert found["first_difference"]["step"] >= 1
    assert found["metrics"]["jobs"] == 12 or found["jobs"] == 12


@pytest.mark.parametrize("text", ["", "nonsense\n", '00000000 {"a":1}\n'])
def test_what_is_no_journal_is_refused_in_one_line(tmp_path, text, capsys) -> None:
    path = tmp_path / "bad.journal"
    path.write_text(text)
    assert str(path) in refused(capsys, "replay", path)


def test_a_journal_is_written_over_a_journal_alone(tmp_path, capsys) -> None:
    """Neither the scenario of the run, nor any other file is lost; an empty one may be used."""
    scenario, empty = tmp_path / "own.toml", tmp_path / "empty.journal"
    scenario.write_text(Path("examples/small.toml").read_text())
    empty.touch()
    before = scenario.read_bytes()
    words = ("simulate", "--trace", "examples/tiny.swf", "--no-folder", "--journal")
    status, _, said = call(capsys, *words, scenario)
    assert status == 2
    assert f"{scenario} is there and is no journal" in said.splitlines()[-1]
    assert scenario.read_bytes() == before
    for _ in range(2):
        ok(capsys, *words, empty)
    assert json.loads(ok(capsys, "replay", empty, "--json"))["equal"] is True


def test_a_watched_cap_is_in_the_journal_too(tmp_path, capsys) -> None:
    path = tmp_path / "watched.journal"
    ok(capsys, "simulate", "--trace", "examples/tiny.swf", "--watch-cap", "2kW", "--no-folder",
       "--journal", path)
    assert json.loads(ok(capsys, "replay", path, "--json"))["equal"] is True


@pytest.fixture(scope="module")
def blocked(tmp_path_factory) -> tuple[Path, Path]:
    """A journal under `block`, and a scenario of that policy without a cap of its own."""
    from click.testing import CliRunner

    from wattline.cli.main import cli

    folder = tmp_path_factory.mktemp("blocked")
    words = ["simulate", "--trace", "examples/tiny.swf", "--power-policy", "block", "--cap", "2kW",
             "--no-folder", "--journal", str(folder / "run.journal")]
    assert CliRunner().invoke(cli, words, catch_exceptions=False).exit_code == 0
    (folder / "own.toml").write_text('[trace]\nfile = "none.swf"\n[policy]\npower = "block"\n')
    return folder / "run.journal", folder / "own.toml"


@pytest.fixture
def other(tmp_path) -> Path:
    path = tmp_path / "other.toml"
    path.write_text('[trace]\nfile = "none.swf"\n[policy]\norder = "sjf"\n')
    return path


@pytest.mark.parametrize("place", ["", "0", "50m", "2000", "decision:9"])
def test_the_same_policy_decides_the_same_from_anywhere(blocked, place, capsys) -> None:
    """Jobs end as they did, because they start as they did."""
    journal, own = blocked
    place = ["--from", place] if place else []
    found = json.loads(ok(capsys, "replay", journal, "--scenario", own, *place, "--json"))
    assert found["equal"] is True
    assert found["world"] == "simulated"
    assert set(found["starts"]) == {"same"}
    assert (found["from_s"] is None) is (place == [])


def test_another_policy_is_asked_from_a_time_on(journal, other, capsys) -> None:
    """Up to there nothing differs; from there on jobs start and end otherwise."""
    words = ("replay", journal, "--scenario", other, "--from")
    early = json.loads(call(capsys, *words, "60", "--json")[1])
    late = json.loads(call(capsys, *words, "4000", "--json")[1])
    assert 60 <= early["first_difference"]["time_s"] < late["first_difference"]["time_s"]
    assert late["first_difference"]["time_s"] >= 4000
    assert late["from_s"] == 4000
    assert late["starts"]["same"] > early["starts"]["same"]
    assert early["decisions"] == late["decisions"] >= 12
    status, out, _ = call(capsys, *words, "4000")
    assert status == 1
    assert "from 4000 s; up to there the journal's own decides" in out
    assert "world: simulated" in out
    assert "from the beginning" in call(capsys, "replay", journal, "--scenario", other)[1]


def test_where_run_times_are_not_known_only_events_are_told(
    journal, other, tmp_path, capsys
) -> None:
    lines = journal.read_text().splitlines(keepends=True)
    path = tmp_path / "cut.journal"
    path.write_text("".join(lines[: len(lines) // 2]))
    words = ("replay", path, "--scenario", other, "--from", "60")
    found = json.loads(call(capsys, *words, "--json")[1])
    assert found["world"] == "events only"
    assert "not seen to end" in found["remarks"][0]
    assert "metrics" not in found
    assert found["first_difference"]["time_s"] >= 60
    assert "events only" in call(capsys, *words)[1]
    found = json.loads(call(capsys, *words, "--assume-requested", "--json")[1])
    assert found["world"] == "simulated"
    assert any("not seen to end: taken to run as long" in each for each in found["remarks"])


@pytest.mark.parametrize("words", [
    ["--from", "60"], ["--scenario", "OTHER", "--from", "soon"],
    ["--scenario", "OTHER", "--from", "decision:0"],
    ["--scenario", "OTHER", "--from", "decision:99999"], ["--scenario", "OTHER", "--from", "9d"],
    ["--scenario", "OTHER", "--from", "-5"],
])
def test_a_place_that_is_none_is_refused_in_one_line(journal, other, words, capsys) -> None:
    words = [str(other) if word == "OTHER" else word for word in words]
    assert len(refused(capsys, "replay", journal, *words).splitlines()) == 1


def test_a_machine_of_the_other_scenario_is_left_out_and_said_so(journal, tmp_path, capsys) -> None:
    other = tmp_path / "larger.toml"
    other.write_text('[trace]\nfile = "none.swf"\n[machine]\nnodes = 900\n'
                     '[policy]\norder = "sjf"\n')
    found = json.loads(call(capsys, "replay", journal, "--scenario", other, "--json")[1])
    assert "machine is the journal's: that of the other scenario is left out" in found["remarks"]


def test_the_first_difference_is_shown_even_where_it_is_small(journal, tmp_path, capsys) -> None:
    """Decisions of one step that are alike are counted; what differs is shown with all it sets."""
    lines = journal.read_text().splitlines()
    place = next(n for n, line in enumerate(lines) if '["start"' in line)
    value = json.loads(lines[place].partition(" ")[2])
    value[2][-1][4]["units"] += 1
    summed = zlib.crc32("".join(line.partition(" ")[2] for line in lines[:place]).encode())
    text = json.dumps(value, separators=(",", ":"))
    lines[place] = f"{zlib.crc32(text.encode(), summed):08x} {text}"
    path = tmp_path / "other.journal"
    path.write_text("\n".join(lines) + "\n")
    status, out, _ = call(capsys, "replay", path)
    assert status == 1
    rows = [line.partition(" ")[2] for line in out.splitlines()
            if line.lstrip().startswith(("journal ", "here "))]
    assert len(set(rows)) == len(rows) == 2


def test_lines_that_say_nothing_are_refused_with_what_they_lack(journal, tmp_path, capsys) -> None:
    head, *_ = journal.read_text().splitlines(keepends=True)
    for value, told in (('{"a":1}', "neither a step"), ("[1]", "neither a step"),
                        ('[1,{"b":2}]', "change of the policy"), ("7", "neither a step")):
        path = tmp_path / "bad.journal"
        path.write_text(head + f"00000000 {value}\n")
        assert told in refused(capsys, "replay", path)
