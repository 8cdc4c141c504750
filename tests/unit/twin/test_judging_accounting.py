"""`twin judge` on text of sacct: tasks of arrays, lives of requeued jobs, phases from a log."""

from __future__ import annotations

import lzma
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.shared_data import shared

import wattline as wl
from wattline.model.errors import InputError
from wattline.twin.held import judge_twin
from wattline.twin.loop_phases import phases_of
from wattline.twin.real_runs import RealRun, read_run

HEADER = "JobID|JobName|Account|Submit|Start\n"
DAY = "2026-01-05T10:"


def _run(folder: Path, rows: str, name: str = "r1.txt", header: str = HEADER) -> RealRun:
    file = folder / name
    file.write_text(header + rows.replace(" ", "\n").replace("@", DAY) + "\n")
    return read_run(file)


def test_tasks_of_an_array_are_told_apart_by_their_number(tmp_path: Path) -> None:
    found = _run(tmp_path, "7|b_3|a|@00:00|@00:04 9_0|b_4|a|@00:02|@00:05 "
                           "9_1|b_4|a|@00:02|@00:09 9_[2-3]|b_4|a|@00:02|Unknown")
    assert found.wait_s == {"b_3": 4.0, "b_4_0": 3.0, "b_4_1": 7.0}
    assert found.unstarted == ()


def test_a_requeued_job_was_submitted_first_and_started_last(tmp_path: Path) -> None:
    """sacct -D: preempted at 00:30, and back in the queue at that second."""
    found = _run(tmp_path, "1|b_1|a|@00:00|@00:10 1|b_1|a|@00:30|@02:00 2|b_2|a|@00:05|@00:06 "
                           "3|b_3|a|@00:07|@00:08 3|b_3|a|@00:40|Unknown")
    assert found.start_s == {"b_1": 120.0, "b_2": 6.0}
    assert found.wait_s == {"b_1": 120.0, "b_2": 1.0}
    assert found.unstarted == ("b_3",)


def test_a_resized_job_started_with_its_first_size(tmp_path: Path) -> None:
    found = _run(tmp_path, "1|b_1|a|@00:00|@00:10 1|b_1|a|@00:00|@00:50")
    assert found.wait_s == {"b_1": 10.0}


def test_jobs_of_one_name_are_told_apart_by_their_place(tmp_path: Path) -> None:
    """Their numbers are not the same in every run: tasks of arrays take some between them."""
    first = _run(tmp_path, "4|sim|a|@00:00|@00:01 9|sim|a|@00:02|@00:05 6_1|run|a|@00:01|@00:03")
    other = _run(tmp_path, "4|sim|a|@00:00|@00:02 12|sim|a|@00:02|@00:05 6_1|run|a|@00:01|@00:03")
    assert set(first.start_s) == set(other.start_s) == {"1", "2_1", "3"}
    assert first.event_ids == {"1": "1", "2_1": "2_1", "3": "3"}


def test_without_numbers_a_name_that_comes_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="repeat the name of a job; the column JobID"):
        _run(tmp_path, "b_1|a|@00:00|@00:01 b_1|a|@00:00|@00:02",
             header=HEADER.removeprefix("JobID|"))


@pytest.mark.parametrize(("name", "text"), [
    ("r1.boot", "[2026-01-05T09:59:48.250] slurmctld version 22.05.8 started on cluster two\n"),
    ("r1.log", "[2026-01-05T09:00:00.000] slurmctld version 22.05.8 started on cluster two\n"
               "[2026-01-05T09:59:48.250] slurmctld version 24.11.1 started on cluster two(1)\n"
               "[2026-01-05T11:00:00.000] slurmctld version 22.05.8 started on cluster two\n"),
    ("r1.config", "Configuration data as of now\nBOOT_TIME               = 2026-01-05T09:59:48\n"),
    ("r1/slurmctld.log", "[2026-01-05T09:59:48.250] debug: slurmctld version 22.05.8 started on "
                         "cluster two\n")])
def test_the_start_of_slurmctld_says_the_phase(tmp_path: Path, name: str, text: str) -> None:
    run = _run(tmp_path, "1|b_1|a|@00:05|@00:09")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    found, known_by = phases_of(tmp_path, [run], 3.0, 300.0, 4)
    assert known_by == "each run's own, by the start of its slurmctld"
    assert [each.unix_s for each in found] == [2.0] * 4
    for phase in found:  # 00:05 less 3 s of the twin's clock, and the second it was submitted in
        assert 13.75 <= phase.after_s <= 15.0
    assert len({phase.after_s for phase in found}) == 4


def test_where_one_run_does_not_say_it_phases_are_all_over_the_longest_loop(tmp_path: Path) -> None:
    runs = [_run(tmp_path, "1|b_1|a|@00:05|@00:09", f"r{number}.txt") for number in (1, 2)]
    (tmp_path / "r1.boot").write_text("BOOT_TIME = 2026-01-05T09:59:48\n")
    found, known_by = phases_of(tmp_path, runs, 0.0, 60.0, 6)
    assert sorted(phase.after_s for phase in found) == [5.0, 15.0, 25.0, 35.0, 45.0, 55.0]
    assert known_by.startswith("unknown, so all over 60 s: of r2 ")


def _real(folder: Path, name: str) -> Path:
    site = shared(f"slurm_truth/{name}")
    for packed in site.glob("*.D.txt.xz"):
        run = packed.name.partition(".")[0]
        (folder / f"{run}.txt").write_bytes(lzma.decompress(packed.read_bytes()))
        (folder / f"{run}.boot").write_bytes((site / f"{run}.boot").read_bytes())
    return site


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
@pytest.mark.parametrize("log", ["events", "sacct"])
def test_real_runs_with_arrays_and_dependencies_judge_the_twin(tmp_path: Path, log: str) -> None:
    """153 jobs, 42 of them tasks of arrays; before, their rows were refused."""
    site = _real(tmp_path, "qosfs")
    jobs = {"events": site / "jobs.events"} if log == "events" else {"sacct": tmp_path / "t1.txt"}
    twin = wl.make_twin(site / "slurm.conf", assoc=site / "sacctmgr.script",
                        out=tmp_path / "twin.toml", **jobs)
    found = judge_twin(twin, tmp_path, phases=2, by=())
    assert (found.jobs, found.left_out) == (153, ())
    assert found.phases_known == "each run's own, by the start of its slurmctld"
    assert found.waits[0].error == pytest.approx(0.0, abs=0.08)
    assert found.to_twin.median_s <= 1.5


def _two_lives(text: str, job: str) -> tuple[str, str]:
    """With a first life that was preempted after a second, as `sacct -D` and `sacct` have it."""
    lines = text.splitlines()
    columns = lines[0].split("|")
    at = {name: columns.index(name) for name in ("JobName", "Submit", "Start", "End", "State")}
    place = next(row for row, line in enumerate(lines) if line.split("|")[at["JobName"]] == job)
    first = lines[place].split("|")
    began = datetime.fromisoformat(first[at["Submit"]]) + timedelta(seconds=1)
    requeued = (began + timedelta(seconds=15)).isoformat()
    last = list(first)
    last[at["Submit"]] = requeued
    last[at["Start"]] = (began + timedelta(seconds=130)).isoformat()
    first[at["Start"]], first[at["End"]] = began.isoformat(), requeued
    first[at["State"]] = "PREEMPTED"
    both = ["|".join(first), "|".join(last)]
    return tuple("\n".join([*lines[:place], *lives, *lines[place + 1:]]) + "\n"
                 for lives in (both, both[1:]))  # type: ignore[return-value]


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
@pytest.mark.parametrize("job", ["b_30", "b_77"])
def test_a_requeue_is_not_taken_for_the_submission(tmp_path: Path, job: str) -> None:
    site = _real(tmp_path, "qosfs")
    twin = wl.make_twin(site / "slurm.conf", assoc=site / "sacctmgr.script",
                        events=site / "jobs.events", out=tmp_path / "twin.toml")
    plain = judge_twin(twin, tmp_path, phases=1, by=())
    waited_s = read_run(tmp_path / "t2.txt").wait_s[job]
    with_lives, last_alone = _two_lives((tmp_path / "t2.txt").read_text(), job)
    (tmp_path / "t2.txt").write_text(with_lives)
    found = judge_twin(twin, tmp_path, phases=1, by=())
    assert found.submitted_again == ()
    apart_s = [153 * (found.waits[0].runs_s[run] - plain.waits[0].runs_s[run]) for run in (0, 1)]
    assert apart_s == pytest.approx([0.0, 131.0 - waited_s])
    (tmp_path / "t2.txt").write_text(last_alone)
    found = judge_twin(twin, tmp_path, phases=1, by=())
    number = job.removeprefix("b_")
    assert (found.submitted_again, found.left_out, found.jobs) == ((number,), (), 152)


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_parts_of_a_heterogeneous_job_are_called_as_in_the_file(tmp_path: Path) -> None:
    """56 jobs, of which the bed's Slurm never started some; before, all were refused."""
    site = _real(tmp_path, "rules")
    twin = wl.make_twin(site / "slurm.conf", assoc=site / "sacctmgr.script",
                        topology=site / "topology.conf", events=site / "jobs.events",
                        out=tmp_path / "twin.toml")
    found = judge_twin(twin, tmp_path, phases=1, by=())
    started = set.intersection(*(set(read_run(tmp_path / f"{run}.txt").start_s)
                                 for run in ("t1", "t2")))
    assert {"r_122+0", "r_122+1"} <= started
    names = {name.removeprefix("r_") for name in started}
    assert found.jobs == len(names - set(found.left_out))
    assert not {"122+0", "122+1"} & set(found.left_out)


NIGHT = ("1|b_1|a|2026-10-25T02:50:00|2026-10-25T02:10:00 "
         "2|b_2|a|2026-10-25T01:50:00|2026-10-25T03:10:00")


def test_runs_and_logs_are_of_the_zone_that_is_asked_for(tmp_path: Path) -> None:
    """On 2026-10-25 Berlin's hour from two to three comes twice; no job starts before it came."""
    file = tmp_path / "r1.txt"
    file.write_text(HEADER + NIGHT.replace(" ", "\n") + "\n")
    assert read_run(file).wait_s == {"b_1": -2400.0, "b_2": 4800.0}
    berlin = ZoneInfo("Europe/Berlin")
    run = read_run(file, berlin)
    assert run.wait_s == {"b_1": 1200.0, "b_2": 8400.0}
    (tmp_path / "r1.boot").write_text("BOOT_TIME = 2026-10-25T01:49:00\n")
    found, known_by = phases_of(tmp_path, [run], 0.0, 300.0, 1, berlin)
    assert known_by == "each run's own, by the start of its slurmctld"
    assert found[0].after_s == 60.5


def test_unix_times_of_a_run_meet_the_local_times_of_its_log(tmp_path: Path) -> None:
    (tmp_path / "r1.csv").write_text("job_id,submit_s,start_s\nb_1,1767603605,1767603609\n")
    (tmp_path / "r1.log").write_text(  # 10:00:05 in Berlin
        "[2026-01-05T09:59:48.250] slurmctld version 22.05.8 started on cluster two\n")
    run = read_run(tmp_path / "r1.csv")
    assert phases_of(tmp_path, [run], 0.0, 60.0, 1)[1].startswith("unknown")
    found, _ = phases_of(tmp_path, [run], 0.0, 60.0, 1, ZoneInfo("Europe/Berlin"))
    assert found[0].after_s == 17.25


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_a_zone_shifts_runs_and_logs_alike(tmp_path: Path) -> None:
    """The zone makes no difference while no clock changes."""
    site = _real(tmp_path, "qosfs")
    twin = wl.make_twin(site / "slurm.conf", assoc=site / "sacctmgr.script",
                        events=site / "jobs.events", out=tmp_path / "twin.toml",
                        zone="Europe/Berlin")
    same = judge_twin(twin, tmp_path, phases=1, by=())
    for zone in ("UTC", "America/New_York"):
        assert judge_twin(twin, tmp_path, phases=1, by=(), zone=zone).waits == same.waits
    with pytest.raises(InputError, match="there is no zone 'Mars'"):
        judge_twin(twin, tmp_path, phases=1, zone="Mars")
