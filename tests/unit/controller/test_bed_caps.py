"""Caps of a run on a bed: what no machine keeps is refused, what never starts ends the run."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import wattline as wl
from wattline.cli.testbed_progress import Lines, saying_how_far
from wattline.controller.testbed import trying, until_over
from wattline.controller.testbed.conditions import Conditions, check, never_starting
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.progress import BedProgress
from wattline.controller.testbed.until_over import IDLE_S, LONG_IDLE_S, UntilOver
from wattline.controller.testbed.workload import BedJob
from wattline.live.slurm.client import Seen
from wattline.live.slurm.reading import SlurmJob
from wattline.model.errors import InputError

BED = Bed(Path("/nowhere"), nodes=4, port=1)
SMALL = BedJob(1, 0.0, 4.0, 60.0, 1, 130.0)
"""400 W alone on four nodes of 90 W."""
LARGE = BedJob(2, 0.0, 4.0, 60.0, 2, 300.0)
"""780 W."""


@pytest.mark.parametrize("lowered", [False, True])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(("watts", "refused"), [(150.0, True), (359.0, True), (360.0, False)])
def test_a_cap_below_the_idle_machine_is_refused_with_the_figure_before_a_bed_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lowered: bool, own: bool, watts: float,
    refused: bool
) -> None:
    made: list[object] = []
    log, scenario = tmp_path / "jobs.csv", tmp_path / "own.toml"
    log.write_text("job_id,submit_s,run_s,requested_s,procs,power_w\n1,0,4,60,1,130\n")
    scenario.write_text('name = "own"\n[policy]\npower = "wait"\n')

    def bring_up(*given: object, **_: object) -> None:
        made.append(given)
        raise KeyboardInterrupt

    monkeypatch.setattr(trying, "bring_up", bring_up)
    caps = {"cap": 900.0, "lower_cap_to": watts, "at_s": 5.0} if lowered else {"cap": watts}
    with pytest.raises(InputError if refused else KeyboardInterrupt,
                       match="360 W" if refused else ""):
        wl.try_workload(log, nodes=4, scenario=scenario if own else None, **caps)
    assert bool(made) is not refused


def test_a_policy_that_switches_nodes_off_may_keep_a_lower_cap(tmp_path: Path) -> None:
    scenario = tmp_path / "shut.toml"
    scenario.write_text('name = "shut"\n[policy.power]\nname = "adaptive"\nstrategy = "shut"\n')
    check(Conditions(900.0, scenario=scenario, lower_to_w=200.0), BED)
    with pytest.raises(InputError, match="360 W"):
        check(Conditions(200.0, scenario=scenario), BED)


@pytest.mark.parametrize(("mode", "power", "lower_w", "never"), [
    ("decide", "block", None, {}),
    ("decide", "block", 780.0, {}),
    ("decide", "block", 779.0, {2: 780.0}),
    ("decide", "block", 360.0, {1: 400.0, 2: 780.0}),
    ("decide", "dvfs", 720.0, {}),
    ("guard", "block", 779.0, {2: 780.0}),
    ("guard", "dvfs", 720.0, {2: 780.0}),
])
def test_jobs_that_never_start_are_known_by_the_policy_that_decides(
    tmp_path: Path, mode: str, power: str, lower_w: float | None, never: dict[int, float]
) -> None:
    """`dvfs` slows the larger one down until it fits; Slurm under licences slows nothing."""
    scenario = tmp_path / "own.toml"
    scenario.write_text(f'name = "own"\n[policy]\npower = "{power}"\n')
    conditions = Conditions(900.0, mode, scenario, lower_to_w=lower_w)
    assert never_starting(conditions, BED, [SMALL, LARGE]) == never


WAITS = SlurmJob("6", 6, 0, "PENDING", 1, 1, 60.0, math.nan, math.nan, 0.0, reason="JobHeldUser")


class Clock:
    """Time that goes on by sleeping."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def monotonic(self) -> float:
        return self.now_s

    time = monotonic

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def until(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: Callable[[float], tuple[SlurmJob, ...]],
    never: dict[int, float], conditions: Conditions, faults: object = None
) -> tuple[float, until_over.RunEnd, list[BedProgress]]:
    """Return when and how a run of two jobs of ten minutes ends, whatever Slurm shows."""
    clock = Clock()
    monkeypatch.setattr(until_over, "time", clock)
    jobs = [replace(SMALL, limit_s=600.0), replace(LARGE, limit_s=600.0)]
    submitter = SimpleNamespace(jobs=jobs, labels={"5": jobs[0], "6": jobs[1]}, done=True,
                                again=lambda: False, free=lambda labels: None)
    told: list[BedProgress] = []
    bed = Bed(tmp_path, nodes=4, port=1)
    (tmp_path / "controller").mkdir()
    (tmp_path / "controller" / "status.json").write_text(json.dumps(
        {"time_s": 1.0, "pid": 1, "host": "h", "measured_w": 361.5, "cap_w": 420.0}))
    watch = UntilOver(bed, submitter, conditions, faults, 1000.0, told.append, never)  # type: ignore[arg-type]
    watch.slurm = SimpleNamespace(  # type: ignore[assignment]
        look=lambda: Seen(clock.now_s, look(clock.now_s - 1000.0), ()))
    end = watch.wait()
    return clock.now_s - 1000.0, end, told


@pytest.mark.parametrize("state", ["PENDING", "SUSPENDED"])
@pytest.mark.parametrize("known", [True, False])
def test_a_run_ends_when_only_jobs_are_left_that_never_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str, known: bool
) -> None:
    """The first job runs for 40 s; the second never does, and why may not be known."""
    runs = replace(WAITS, label="5", state="RUNNING", reason="None")

    def look(since_s: float) -> tuple[SlurmJob, ...]:
        return (*((runs,) if since_s < 40.0 else ()), replace(WAITS, state=state))

    end_s, end, told = until(tmp_path, monkeypatch, look, {2: 780.0} if known else {},
                             Conditions(900.0, lower_to_w=420.0, lower_at_s=5.0))
    idle_s = IDLE_S if known else LONG_IDLE_S
    assert 40.0 + idle_s <= end_s <= 43.0 + idle_s
    assert (end.left, end.refused) == (("6",), set())
    said, = end.remarks
    assert said == ("job 2 (6 in Slurm) was left waiting: alone it takes the machine to 780 W, "
                    "above the cap of 420 W" if known else "left waiting while nothing ran: 2")
    assert told[0].sentence == ("running: 2 of 2 jobs submitted, 1 running, 1 waiting, 0 finished; "
                                "362 W of 420 W")
    assert (told[-1].finished, told[-1].fraction) == (1, 0.5)


def test_a_job_behind_one_that_never_starts_is_named_and_one_that_may_start_later_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = (replace(WAITS, label="5"), WAITS)
    end_s, end, _ = until(tmp_path, monkeypatch, lambda since_s: both, {2: 780.0},
                          Conditions(900.0, lower_to_w=420.0, lower_at_s=300.0))
    assert end_s >= 300.0 + IDLE_S, "before the cap is lowered it may have room"
    assert end.left == ("5", "6")
    assert end.remarks[1] == "left waiting behind such jobs: 1"


@pytest.mark.parametrize("known", [True, False])
def test_under_faults_a_run_ends_later_and_only_where_it_is_known_why_nothing_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    """One that nobody knows a reason for may wait because of a fault: it is lost at the end."""
    end_s, end, _ = until(tmp_path, monkeypatch, lambda since_s: (WAITS,),
                          {2: 780.0} if known else {}, Conditions(420.0, faults=7),
                          SimpleNamespace(tick=lambda since_s: None))
    assert (LONG_IDLE_S <= end_s <= LONG_IDLE_S + 3.0) is known
    assert end.left == (("6",) if known else ())
    assert end.remarks[0].startswith("job 2 (6 in Slurm) was left waiting" if known else
                                     "the run was given up")


def test_a_run_does_not_end_by_a_look_that_is_older_than_its_last_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last job is submitted while Slurm is asked, and then runs for 20 s."""
    clock, labels = Clock(), {}
    monkeypatch.setattr(until_over, "time", clock)
    submitter = SimpleNamespace(jobs=[SMALL], labels=labels, done=False, again=lambda: False)

    def look() -> Seen:
        runs = (replace(WAITS, label="5", state="RUNNING"),) if clock.now_s < 1020.0 else ()
        seen = Seen(clock.now_s, runs if submitter.done else (), ())
        labels["5"], submitter.done = SMALL, True
        return seen

    (tmp_path / "controller").mkdir()
    watch = UntilOver(Bed(tmp_path, nodes=4, port=1), submitter, Conditions(900.0),  # type: ignore[arg-type]
                      None, 1000.0, lambda _: None, {})
    watch.slurm = SimpleNamespace(look=look)  # type: ignore[assignment]
    assert watch.wait() == until_over.RunEnd()
    assert 1020.0 <= clock.now_s <= 1022.0


def test_how_far_a_run_is_stands_in_a_line_for_each_stage_and_every_ten_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()
    monkeypatch.setattr("wattline.cli.testbed_progress.time", clock)
    lines = Lines()
    lines(BedProgress("bringing up"))
    for _ in range(25):
        lines(BedProgress("running", 6, 4, 1, 2, 500.0, 900.0))
        clock.sleep(1.0)
    lines(BedProgress("taking down"))
    said = capsys.readouterr().err.splitlines()
    assert said == ["wattline: bringing up", *3 * [
        "wattline: running: 4 of 6 jobs submitted, 1 running, 2 waiting, 1 finished; 500 W of "
        "900 W"], "wattline: taking down"]


@pytest.mark.parametrize("quiet", [True, False])
def test_in_a_pipe_nothing_is_said_beside_json(
    quiet: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with saying_how_far(quiet=quiet) as tell:
        tell(BedProgress("bringing up"))
    assert bool(capsys.readouterr().err) is not quiet
