"""Remarks of a run on a bed about jobs that it could not run, or did not see end."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import wattline as wl
from wattline.controller.testbed import running, trying, until_over, workload
from wattline.controller.testbed.accounted import SeenJob
from wattline.controller.testbed.conditions import Conditions
from wattline.controller.testbed.joules import LifeJoules
from wattline.controller.testbed.layout import Bed, NodePower
from wattline.controller.testbed.progress import untold
from wattline.controller.testbed.running import BedRun
from wattline.controller.testbed.simulated import Setup, beside_simulation
from wattline.controller.testbed.workload import BedJob, Submitter
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import SlurmJob
from wattline.model.errors import InputError

HEAD = "job_id,submit_s,run_s,requested_s,procs,power_w\n"
JOBS = [BedJob(1, 0.0, 4.0, 60.0, 1, 250.0), BedJob(2, 0.0, 5.0, 60.0, 1, 250.0)]


def run_of(*seen: SeenJob) -> BedRun:
    return BedRun(jobs=len(seen), finished=len(seen), above_cap_s_max=0.0, energy_error_max=0.0,
                  slurm_energy_error_max=0.0, decisions=0, replay_equal=True, lost=(), doubled=(),
                  refused=(), requeued=(), makespan_s=6.0, wait_s_mean=0.0, power_w=(), seen=seen)


def test_a_job_whose_end_was_not_heard_is_compared_by_its_work() -> None:
    setup = Setup(2, NodePower(), 1000.0, {"power": "block", "placement": "first-fit"})
    run = run_of(SeenJob(1, 0.0, 0.5, 4.5, 5.0, 0.2), SeenJob(2, 0.0, 0.5, 6.0))
    found = beside_simulation(run, JOBS, setup)
    assert found.overhead_s == 1.0
    assert found.as_held.makespan_s == 6.0, "its work of 5 s and the 1 s of the other"
    alone = beside_simulation(run_of(SeenJob(2, 0.0, 0.5, 6.0)), JOBS, setup)
    assert (alone.overhead_s, alone.as_held.makespan_s) == (0.0, 5.0)


def seen_late(*seen: SeenJob) -> list[SeenJob]:
    """Jobs 1 and 2 were decided upon at 0.0 and 0.4 s, and seen to run in one look, at 3 s."""
    told = {1: 3.0, 2: 2.6}
    return [replace(job, delay_s=told.get(job.number, 0.0)) for job in seen]


@pytest.mark.parametrize("late", [False, True])
def test_jobs_that_are_seen_to_run_together_are_expected_to_end_together(late: bool) -> None:
    """Of four nodes two are free and job 3 needs three. Where job 1 is expected to end before
    job 2, all of its nodes are needed then and job 4 has to wait; where both end together, one is
    left over for job 4."""
    jobs = [BedJob(1, 0.0, 20.0, 60.0, 1, 250.0), BedJob(2, 0.4, 30.0, 60.0, 1, 250.0),
            BedJob(3, 1.0, 5.0, 60.0, 3, 250.0), BedJob(4, 4.0, 10.0, 60.0, 1, 250.0)]
    seen = [SeenJob(1, 0.0, 0.0, 20.0, 20.0, 0.0), SeenJob(2, 0.4, 0.4, 30.4, 30.0, 0.4),
            SeenJob(3, 1.0, 20.0, 25.0, 5.0, 1.0), SeenJob(4, 4.0, 4.0, 14.0, 10.0, 4.0)]
    setup = Setup(4, NodePower(), 2000.0, {"power": "block", "placement": "first-fit"})
    found = beside_simulation(run_of(*(seen_late(*seen) if late else seen)), jobs, setup)
    assert found.as_held.late_s_worst == (0.0 if late else 4.0 - 25.0)
    assert found.as_held.makespan_s == pytest.approx(30.4 if late else 35.0)


@pytest.mark.parametrize("known", [False, True])
def test_a_job_that_draws_more_than_it_says_keeps_others_waiting_in_the_simulation_too(
    known: bool
) -> None:
    """Two jobs say 250 W each, under 600 W; the first is found to draw 400."""
    jobs = [BedJob(1, 0.0, 10.0, 60.0, 1, 250.0), BedJob(2, 2.0, 5.0, 60.0, 1, 250.0)]
    run = run_of(SeenJob(1, 0.0, 0.0, 10.0, 10.0, 0.0, 0.0),
                 SeenJob(2, 2.0, 10.0, 15.0, 5.0, 2.0, 0.0))
    setup = Setup(2, NodePower(), 600.0, {"power": "block", "placement": "first-fit"})
    if known:  # a number of no job of the run says nothing
        run = replace(run, measured=((1.0, 1, 400.0), (1.5, 99, 400.0)))
    assert beside_simulation(run, jobs, setup).as_held.late_s_worst == (0.0 if known else 8.0)


def test_what_nobody_accounts_for_keeps_jobs_waiting_in_the_simulation_too() -> None:
    """Of 600 W the machine draws 400 with nothing on it, until 9 s after the job came."""
    run = replace(run_of(SeenJob(1, 0.0, 9.0, 14.0, 5.0, 1.0, 0.0)),
                  measured=((0.5, None, 400.0), (10.0, None, 180.0)))
    setup = Setup(2, NodePower(), 600.0, {"power": "block", "placement": "first-fit"})
    found = beside_simulation(run, [BedJob(1, 0.0, 5.0, 60.0, 1, 350.0)], setup)
    assert found.as_held.late_s_worst == -1.0


def tried(monkeypatch: pytest.MonkeyPatch, workload: Path, *seen: SeenJob) -> trying.TriedRun:
    bed = Bed(Path("/nowhere"), nodes=4, port=1)
    for name, instead in (("bring_up", lambda *_, **__: bed), ("take_down", lambda *_: None),
                          ("run_workload", lambda *_, **__: run_of(*seen))):
        monkeypatch.setattr(trying, name, instead)
    return wl.try_workload(workload, nodes=4, cap="1kW")


def test_jobs_of_the_log_that_are_left_out_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "jobs.csv"
    log.write_text(HEAD + "1,0,4,60,1,250\n2,0,0,60,1,250\n")
    said, = tried(monkeypatch, log, SeenJob(1, 0.0, 0.5, 4.5, 5.0, 0.2)).run.remarks
    assert "1 job: " in said
    assert "no run time" in said


def test_what_cannot_be_simulated_costs_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "jobs.csv"
    log.write_text(HEAD + "1,0,4,60,1,250\n")

    def refuse(*_: object) -> None:
        raise InputError("times must not be negative")

    monkeypatch.setattr(trying, "beside_simulation", refuse)
    found = tried(monkeypatch, log, SeenJob(1, 0.0, 0.5, 4.5))
    assert found.run.finished == 1
    assert found.beside is None
    assert found.run.remarks[-1].endswith("simulation: times must not be negative")


def test_a_job_larger_than_the_bed_is_refused_before_one_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    monkeypatch.setattr(trying, "bring_up", lambda *given, **_: made.append(given))
    log = tmp_path / "jobs.csv"
    log.write_text(HEAD + "1,0,4,60,9,2250\n")
    with pytest.raises(InputError, match="asks for 9 nodes and the bed has 4"):
        wl.try_workload(log, nodes=4, cap="1kW")
    assert made == []


def test_a_job_that_slurm_never_took_is_lost_and_one_without_an_end_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bed = Bed(tmp_path, nodes=4, port=1)
    bed.logs.mkdir(parents=True)
    (bed.logs / "emulator.jsonl").touch()
    submitter = Submitter(bed, JOBS[:1], failed={1: "job 1 was not submitted: no"})
    monkeypatch.setattr(running.Story, "read", lambda _: running.Story(0, {}, {}, {}))
    monkeypatch.setattr(running, "joules_of", lambda *_: ())
    monkeypatch.setattr(running, "replays", lambda _: True)

    class Controller:
        folder = journal = tmp_path

        def remarks(self) -> list[str]:
            return []

    found = running._result(bed, Conditions(1000.0), submitter,
                            Controller(), 0.0, until_over.RunEnd(), ())  # type: ignore[arg-type]
    assert found.lost == ("unsubmitted 1",)
    assert found.remarks == ("job 1 was not submitted: no",)

    still = LifeJoules("5", 0, 1, "RUNNING", 100.0, 60.0, 60.0, "series", 0.7)
    monkeypatch.setattr(running, "joules_of", lambda *_: (still,))
    monkeypatch.setattr(running, "_accounted", lambda *_: (
        running.Accounted({}, {}, {}, {}, (), (), ()), ()))
    submitter = Submitter(bed, JOBS[:1], labels={"5": JOBS[0]})
    found = running._result(bed, Conditions(1000.0), submitter,
                            Controller(), 0.0, until_over.RunEnd(), ())  # type: ignore[arg-type]
    assert found.energy_error_max == pytest.approx(0.4)
    assert found.remarks == (f"job {JOBS[0].number} (5 in Slurm) has not ended in the ledger: "
                             "energy_error_max counts its joules so far",)


def test_a_run_with_faults_waits_for_agents_that_were_ended_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def life(source: str, state: str = "COMPLETED") -> LifeJoules:
        return LifeJoules("5", 0, 1, state, 100.0, 96.0, 96.0, source, 1.0)

    told = [(), (life("series", "RUNNING"),), (life("slurm"),), (life("series"),), ()]
    monkeypatch.setattr(running, "joules_of", lambda *_: told.pop(0))
    monkeypatch.setattr(running, "LOOK_S", 0.0)

    class Controller:
        folder = tmp_path

    running._until_measured(
        Bed(tmp_path, nodes=4, port=1), Controller(), {"5"})  # type: ignore[arg-type]
    assert told == [()]


@dataclass
class _Forgetful(Submitter):
    """A Slurm that has forgotten all and gives numbers from 6 on again."""

    given: int = 5

    def _known(self, commands: object) -> set[str]:
        return set()

    def _submitted(self, commands: object, job: BedJob) -> str:
        self.given += 1
        return str(self.given)


def test_forgotten_jobs_are_submitted_once_each_whatever_numbers_they_get() -> None:
    bed = Bed(Path("/nowhere"), nodes=4, port=1)
    submitter = _Forgetful(bed, JOBS, labels={"5": JOBS[0], "6": JOBS[1]})
    assert submitter.again()
    assert submitter.labels == {"6": JOBS[0], "7": JOBS[1]}
    assert len(submitter.forgotten) == 2


class _Frozen:
    """A Slurm that lets nobody change job 6."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def run(self, *command: str) -> str:
        self.told.append(" ".join(command))
        if "JobId=6" in command:
            raise SlurmError("scontrol update JobId=6 failed: Job update not available right now, "
                             "the DB index is being set, try again in a bit for job 6")
        if "JobId=5" in command:
            raise SlurmError("scontrol update JobId=5 failed: Invalid job id specified")
        return ""


def test_only_a_job_that_waits_for_the_database_for_ever_is_cancelled_and_submitted_again(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    slurm = _Frozen()
    monkeypatch.setattr(workload, "Commands", lambda *_: slurm)
    submitter = _Forgetful(Bed(Path("/nowhere"), nodes=4, port=1), JOBS, given=8,
                           labels={"5": JOBS[0], "6": JOBS[1]})
    submitter.free(["5", "6"])
    assert submitter.labels == {"5": JOBS[0], "9": JOBS[1]}
    assert [each for each in slurm.told if each.startswith("scancel")] == ["scancel 6"]


def test_jobs_are_freed_once_all_that_are_left_have_been_held_for_long(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    freed: list[tuple[str, ...]] = []
    bed = Bed(Path("/nowhere"), nodes=4, port=1)
    submitter = Submitter(bed, JOBS)
    submitter.free = freed.append  # type: ignore[method-assign,assignment]
    watch = until_over.UntilOver(bed, submitter, Conditions(1000.0), None, 0.0, untold, {})
    held = SlurmJob("6", 6, 0, "PENDING", 1, 1, 60.0, math.nan, math.nan, 0.0,
                    reason="JobHeldUser")
    runs = replace(held, label="7", state="RUNNING", reason="None")
    now_s = iter(range(0, 1000, 20))
    monkeypatch.setattr(until_over.time, "monotonic", lambda: float(next(now_s)))
    for left in ([held, runs], [held, runs], [held, runs], [held], [held]):
        watch._free(left)
    assert freed == []
    watch._free([held])
    assert freed == [("6",)]
