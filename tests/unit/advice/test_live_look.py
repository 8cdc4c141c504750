"""The next hours of a live machine: from its controller's books as from an instant of a log."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.support.live_folder import tell_up_to, write_site

import wattline as wl
from wattline.advice.futures.arrivals import WEEK_S
from wattline.advice.futures.live import stand_live
from wattline.advice.futures.policy import planned
from wattline.advice.futures.running import stand_at
from wattline.books import Cancelled, CapChanged, Ended, Started, Submitted
from wattline.books.waiting import waiting_rows
from wattline.cli.main import cli
from wattline.controller.configuration import read_configuration
from wattline.controller.looking_in import look_in
from wattline.controller.remembering import Remembered, open_remembered
from wattline.engine.ahead import Candidate
from wattline.scenario.build import Plan

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
MACHINE = wl.Machine(nodes=64, node_idle_w=90, node_active_w=300)
CAP_W = 14e3


def log() -> wl.Trace:
    """A log of a busy machine on which requests say little of run times."""
    trace = wl.generate("lublin", seed=1, jobs=120, nodes=64)
    jobs = trace.jobs.with_columns(
        requested_s=trace.jobs.run_s * (1 + np.arange(120) % 3), user=np.arange(120) % 4,
        submit_s=trace.jobs.submit_s / 6, procs=np.minimum(trace.jobs.procs, 24))
    return replace(trace, jobs=jobs)


def plan_under(power: str) -> Plan:
    return planned(log(), {"machine": MACHINE, "power": power, "cap": CAP_W,
                           "placement": "first-fit"}, False)


def at_half(ready: Plan) -> float:
    return float(ready.jobs.submit_s[0] + ready.jobs.submit_s[-1]) / 2


@pytest.fixture(scope="module")
def stood(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A site under block whose controller has stopped, and when."""
    ready = plan_under("block")
    file = write_site(tmp_path_factory.mktemp("site"), cap_w=CAP_W)
    tell_up_to(file, ready, at_half(ready)).close()
    return file, at_half(ready)


@pytest.mark.parametrize("power", ["block", "dvfs"])
def test_the_same_state_told_live_and_reached_by_a_log_has_the_same_futures(
    tmp_path: Path, power: str
) -> None:
    ready = plan_under(power)
    at_s = at_half(ready)
    file = write_site(tmp_path, cap_w=CAP_W, power=power)
    tell_up_to(file, ready, at_s).close()
    asked = {"candidates": ["sjf", "wait", "cap=12kW", "order=largest power=dvfs"], "samples": 3,
             "arrivals": "none", "limits": ["power_w.peak <= 13.7e3"]}
    by_log = wl.advise_policy(log(), at=at_s, machine=MACHINE, power=power, cap=CAP_W,
                              placement="first-fit", **asked)
    live = wl.advise_policy(live=file, **asked)
    assert (live.at_s, live.waiting, live.running) == (at_s, by_log.waiting, by_log.running)
    assert live.waiting > 0
    assert live.best == by_log.best
    for mine, other in zip(live.candidates, by_log.candidates, strict=True):
        assert mine.means == pytest.approx(other.means)
        assert (mine.name, mine.breaks) == (other.name, other.breaks)
    assert len({each.value for each in live.candidates}) > 2


@pytest.mark.parametrize("power", ["block", "wait"])
def test_live_and_by_the_log_a_job_that_a_lower_cap_has_no_room_for_waits(
    tmp_path: Path, power: str
) -> None:
    """As it does for a controller that is told the lower cap."""
    ready = plan_under(power)
    at_s = at_half(ready)
    file = write_site(tmp_path, cap_w=CAP_W, power=power)
    tell_up_to(file, ready, at_s).close()
    asked = {"candidates": [f"power={power} cap=10kW", f"power={power} cap=8.5kW"], "samples": 3,
             "arrivals": "none"}
    by_log = wl.advise_policy(log(), at=at_s, machine=MACHINE, power=power, cap=CAP_W,
                              placement="first-fit", **asked)
    live = wl.advise_policy(live=file, **asked)
    now = stand_at(ready, at_s, 86400.0, "none").moment
    largest = now.jobs.procs[now.waiting].max()
    assert (64 - largest) * 90 + largest * 300 > 10e3  # alone it is above the cap
    for mine, other in zip(live.candidates, by_log.candidates, strict=True):
        assert mine.means == pytest.approx(other.means)
        assert mine.means["jobs.refused"] == 0


def test_a_waiting_job_has_the_same_starts_live_and_by_the_log(stood: tuple[Path, float]) -> None:
    file, at_s = stood
    now = stand_at(plan_under("block"), at_s, 86400.0, "none")
    waiting = now.moment.jobs.job_id[now.moment.waiting].tolist()
    asked = {"samples": 4, "arrivals": "none", "price": 0.3}
    by_log = wl.advise_start(waiting[-1], log(), at=at_s, machine=MACHINE, power="block",
                             cap=CAP_W, placement="first-fit", **asked)
    live = wl.advise_start(str(waiting[-1]), live=file, **asked)
    assert live.start_s == pytest.approx(by_log.start_s)
    assert live.energy_j == pytest.approx(by_log.energy_j)
    assert live.cost is not None
    assert 0 < live.start_s["p50"] < np.inf
    running = now.moment.jobs.job_id[now.moment.running][0]
    with pytest.raises(wl.InputError, match="does not wait: it runs"):
        wl.advise_start(running, live=file, samples=1)
    with pytest.raises(wl.InputError, match=f"no job 9999 that waits; {len(waiting)} jobs do"):
        wl.advise_start(9999, live=file, samples=1)


def test_looking_in_changes_no_file_and_bears_a_line_that_is_being_written(
    stood: tuple[Path, float]
) -> None:
    file, _ = stood
    folder = file.parent / "kept"
    journal, = folder.glob("*.journal")
    whole = journal.read_text()
    before = wl.advise_policy(live=file, samples=1, candidates=["sjf"])
    journal.write_text(whole + whole.splitlines()[-1][:12])
    files = {each: (each.read_bytes(), each.stat().st_mtime_ns) for each in folder.iterdir()}
    again = wl.advise_policy(live=file, samples=1, candidates=["sjf"])
    assert {each: (each.read_bytes(), each.stat().st_mtime_ns)
            for each in folder.iterdir()} == files
    journal.write_text(whole)
    assert [each.means for each in again.candidates] == [each.means for each in before.candidates]


def test_what_is_assumed_is_said_and_a_log_adds_to_the_history(
    stood: tuple[Path, float], tmp_path: Path
) -> None:
    file, _ = stood
    alone = stand_live(file, 3600.0).now
    assert [line.split(":")[0] for line in alone.assumed] == [
        "no controller runs", "no further jobs come",
        f"run times are drawn from {alone.run_times.count} jobs that ended in the journals"]
    wl.write(log(), tmp_path / "site.swf")
    more = stand_live(file, 3600.0, history=tmp_path / "site.swf").now
    assert more.run_times.count == alone.run_times.count + 120
    assert more.assumed[-1].endswith("and 120 jobs of the log")


def test_the_command_prints_what_python_gives(stood: tuple[Path, float]) -> None:
    file, at_s = stood
    words = ["advise", "policy", "--live", "--config", str(file), "--candidates", "sjf",
             "--samples", "2"]
    said = CliRunner().invoke(cli, [*words, "--json"])
    assert said.exit_code == 0, said.output
    found = json.loads(said.stdout)
    own = wl.advise_policy(live=file, candidates=["sjf"], samples=2)
    assert [each["figures"] for each in found["candidates"]] == [
        dict(each.means) for each in own.candidates]
    assert found["seconds"] > 0
    text = CliRunner().invoke(cli, words)
    assert text.output.startswith("at 1970-01-01T")
    here = stand_live(file, 3600.0)
    row = int(here.now.moment.log_row[here.now.moment.waiting][0])
    start = CliRunner().invoke(cli, ["advise", "start", str(here.kept.books.roll.key(row)),
                                     "--live", "--config", str(file),
                                     "--samples", "2", "--json"])
    assert json.loads(start.stdout)["at_s"] == at_s


@pytest.mark.parametrize(("words", "said"), [
    (["--live", "--at", "5d"], "leave out SCENARIO, --trace and --at"),
    (["--live", "--order", "sjf"], "policy.order cannot be set"),
    (["--live", "--arrivals", "hindsight"], "nobody knows yet"),
    (["--live", "--act"], "--act needs --follow: one look changes nothing"),
    (["--history", "x.swf", "--at", "5d"], "--history needs --live"),
    (["--live", "--candidates", "fastest"], "is no policy"),
    (["--live", "--follow", "0s"], "above 0"),
])
def test_a_mistake_is_said_in_one_line(
    stood: tuple[Path, float], words: list[str], said: str
) -> None:
    site = ["--config", str(stood[0])] if "--live" in words else []
    found = CliRunner().invoke(cli, ["advise", "policy", *words, *site])
    assert isinstance(found.exception, wl.InputError), found.output
    assert said in str(found.exception)
    assert "\n" not in str(found.exception)


def small(tmp_path: Path, **more: object) -> tuple[Path, Remembered]:
    """A site of four nodes that has just begun."""
    file = write_site(tmp_path, nodes=4, cap_w=1000.0, **more)
    site = read_configuration(file)
    return file, open_remembered(site, Path(site.folder), 1000.0, act=True)


def test_the_cap_is_the_one_that_was_told_and_the_highest_may_come_again(tmp_path: Path) -> None:
    file, kept = small(tmp_path)
    kept.books.step(1001.0, [CapChanged(600.0)])
    kept.books.step(1002.0, [Submitted("7", 2, 600.0)])  # 780 W: not now, but under 1000 W
    kept.close()
    found = wl.advise_policy(live=file, samples=1, candidates=["sjf", "cap=100%", "cap=500W"])
    started = {each.name: (each.means["jobs.started"], each.means["jobs.refused"])
               for each in found.candidates}
    assert started == {"as it is": (0, 0), "sjf": (0, 0), "cap=100%": (1, 0), "cap=500W": (0, 0)}
    assert found.candidates[2].changes["power.cap"] == 1200.0
    assert found.assumed[-1] == "run times are as requested: no job was seen to its end"


def test_whoever_looks_in_while_it_is_written_finds_one_moment(tmp_path: Path) -> None:
    """Each job is submitted, starts and ends in three steps; pages are turned and deleted."""
    file, kept = small(tmp_path)
    kept.largest_bytes, kept.most = 4000, 2
    begun, stop = threading.Event(), threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            at_s = 1001.0 + 10 * number
            kept.books.step(at_s, [Submitted(str(number), 1, 600.0)])
            kept.books.apply(at_s + 1, [Started(str(number), (0,))])
            kept.books.step(at_s + 5, [Ended(str(number))])
            if number % 5 == 4:
                kept.save_as_they_are(kept.books, at_s + 6)
            number += 1
            begun.set()

    writer = threading.Thread(target=write)
    writer.start()
    assert begun.wait(60)
    found = []
    try:
        for _ in range(20):
            found.append(look_in(file.parent / "kept").books)
    finally:
        stop.set()
        writer.join()
        kept.close()
    times_s = [books.now_s for books in found]
    assert times_s == sorted(times_s)
    assert times_s[-1] > times_s[0]
    for books in found:
        assert (books.now_s - 1001.0) % 10 in (0.0, 1.0, 5.0)
        busy = int(books.state.clock[0].running)
        assert busy == ((books.now_s - 1001.0) % 10 < 5.0)
        assert books.journal is None


def test_jobs_of_a_week_before_come_again_live(tmp_path: Path) -> None:
    file, kept = small(tmp_path)
    books = kept.books
    for number in range(3):
        at_s = 2000.0 + 1000 * number
        books.step(at_s, [Submitted(str(number), 1, 600.0, names={"user": "ann"})])
        books.apply(at_s, [Started(str(number), (0,))])
        books.step(at_s + 300, [Ended(str(number))])
    books.apply(1500.0 + WEEK_S, ())
    kept.close()
    now = stand_live(file, 2000.0).now
    assert now.moment.jobs.submit_s.tolist() == [2000.0 + WEEK_S, 3000.0 + WEEK_S]
    assert "a week before" in " ".join(now.assumed)
    assert "3 jobs are few to draw from" in " ".join(now.assumed)
    future = Candidate(now.moment, None, now.rules, now.until_s).run(now.draws(1, 1)[0])
    assert (future.end_s - future.start_s)[:1].tolist() == [300.0]


def test_a_job_that_has_taken_a_place_waits_there_and_does_not_come_again(tmp_path: Path) -> None:
    file, kept = small(tmp_path)
    books = kept.books
    books.step(1001.0, [CapChanged(600.0)])  # no job of two nodes fits
    books.step(2000.0, [Submitted("7", 2, 600.0), Submitted("8", 2, 600.0)])
    books.step(3000.0, [Cancelled("7"), Submitted("7~1", 2, 600.0, place=books.place("7"))])
    books.apply(1500.0 + WEEK_S, ())
    kept.close()
    moment = stand_live(file, 2000.0).now.moment
    assert moment.jobs.submit_s.tolist()[-2:] == [2000.0 + WEEK_S] * 2
    assert len(moment.jobs) == 2 + moment.came
    turns = moment.books.state.jobs.turn[: len(moment.jobs)].tolist()
    waiting = [moment.books.roll.key(row) for row in waiting_rows(moment.books)]
    assert (turns, len(waiting)) == ([1, 0, 2, 3], 2)


def test_work_that_was_slowed_counts_as_less(tmp_path: Path) -> None:
    """Under dvfs a job that ran slowly has done less than it ran; the journal knows it."""
    file, kept = small(tmp_path, power="dvfs")
    books = kept.books
    begun, = [each for each in books.step(1001.0, [CapChanged(700.0), Submitted("7", 4, 6000.0)])
              if each.kind == "start"]
    assert begun.rate < 1.0
    books.apply(1001.0, [Started("7", begun.control.nodes)])
    books.apply(2001.0, ())
    kept.close()
    moment = stand_live(file, 3600.0).now.moment
    assert moment.done_s.tolist() == pytest.approx([1000.0 * begun.rate])


@pytest.mark.parametrize(("more", "said"), [
    ({"more": 'mode = "guard"'}, "in guard mode Slurm starts the jobs"),
])
def test_where_the_books_do_not_know_who_waits_it_is_refused(
    tmp_path: Path, more: dict[str, str], said: str
) -> None:
    file, kept = small(tmp_path, **more)
    kept.close()
    with pytest.raises(wl.InputError, match=said):
        wl.advise_policy(live=file, samples=1)


def test_a_folder_without_books_is_said_in_one_line(tmp_path: Path) -> None:
    file = write_site(tmp_path)
    with pytest.raises(wl.InputError, match="there are no books in"):
        wl.advise_policy(live=file, samples=1)
    with pytest.raises(wl.InputError, match="at, an instant of a log, or live"):
        wl.advise_policy(live=file, at="50%", samples=1)
    with pytest.raises(wl.InputError, match="give neither machine"):
        wl.advise_policy(live=file, machine=MACHINE)
