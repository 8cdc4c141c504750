"""Offsets from UTC of the files beside a log, and joules and rules of its jobs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import site

import wattline as wl
from wattline.scenario.twin.asked import NO_ZONE
from wattline.scenario.twin.section import ReservationSection
from wattline.scenario.twin.site import Site

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
CONF = """NodeName=n[1-2] CPUs=8 RealMemory=16000
PartitionName=batch Nodes=ALL Default=YES DefaultTime=10 MaxTime=1-0 DefMemPerCPU=1000
"""
HEADER = ("JobID|User|Submit|Start|End|Suspended|ReqCPUS|AllocCPUS|ReqNodes|NNodes|NodeList|"
          "Timelimit|State|ConsumedEnergyRaw\n")


def _row(job: str = "5", zone: str = "", suspended: str = "00:00:00", cpus: str = "8",
         nodes: str = "1") -> str:
    times = "|".join(f"2025-03-04T{clock}{zone}" for clock in ("08:00:00", "08:00:10", "09:00:10"))
    return f"{job}|ada|{times}|{suspended}|{cpus}|8|{nodes}|1|n1|2:00:00|COMPLETED|1080000\n"


def _site(folder: Path, zone: str, **fields: object) -> Site:
    return site(folder, HEADER + _row(zone=zone), CONF, None, "sacct", **fields)


@pytest.mark.parametrize(("log_zone", "zone", "start_s", "said"), [
    ("+01:00", "+01:00", 3600.0, False), ("Z", "+02:00", -3600.0, False),
    ("", "", 3600.0, False), ("+00:00", "", 3600.0, True)])
def test_offsets_are_honoured_in_all_files(
    tmp_path: Path, log_zone: str, zone: str, start_s: float, said: bool
) -> None:
    begin, end = f"2025-03-04T09:00:00{zone}", f"2025-03-04T19:00:00{zone}"
    down, listed = tmp_path / "down.txt", tmp_path / "reserved.txt"
    down.write_text(f"NodeName|TimeStart|TimeEnd|State|Reason\nn2|{begin}|{end}|DOWN|x\n")
    listed.write_text(f"ReservationName=a StartTime={begin} EndTime={end} Nodes=n2\n")
    found = _site(tmp_path, log_zone, down=str(down), reservations=str(listed), reservation=(
        ReservationSection(name="b", nodes="n1", start=begin, end=end),))
    assert found.outages is not None
    assert found.machine.reservations is not None
    assert found.outages.start_s.tolist() == [max(0.0, start_s)]
    assert found.outages.end_s.tolist() == [start_s + 36000.0]
    assert found.machine.reservations.start_s.tolist() == [start_s] * 2
    assert sum(NO_ZONE in line for line in found.lists.assumed) == (3 if said else 0)


def _check(folder: Path, rows: str) -> wl.TwinCheck:
    (folder / "slurm.conf").write_text(CONF)
    (folder / "sacct.txt").write_text(HEADER + rows)
    twin = wl.make_twin(folder / "slurm.conf", sacct=folder / "sacct.txt", idle_w=100, cpu_w=10,
                        gpu_w=0)
    return wl.check_twin(twin, phases=1)


@pytest.mark.parametrize("suspended", ["00:00:00", "00:30:00"])
def test_joules_of_a_suspended_job_come_out_as_measured(tmp_path: Path, suspended: str) -> None:
    found = _check(tmp_path, _row(suspended=suspended))
    assert found.run.schedule.energy_j[0] == pytest.approx(1_080_000, rel=0.002)
    assert any("was suspended" in rule for rule in found.filled["rules"]) == (
        suspended != "00:00:00")


def test_the_verdict_counts_jobs_that_any_rule_touched(tmp_path: Path) -> None:
    """One of three says no memory, another no tasks."""
    text = ("-n 8 --mem=100", "-n 8", "--mem=100")
    rows = "".join(_row(job).replace("1080000\n", f"|sbatch -N 1 {options} a.sh\n")
                   for job, options in zip("567", text, strict=True))
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "sacct.txt").write_text(HEADER.rstrip("\n") + "|SubmitLine\n" + rows)
    found = wl.check_twin(wl.make_twin(tmp_path / "slurm.conf", sacct=tmp_path / "sacct.txt"),
                          phases=1)
    assert sorted(found.filled["rules"].values()) == [1, 1]
    assert found.filled["share"] == pytest.approx(2 / 3)
    assert "for 67% of the jobs" in found.verdict
