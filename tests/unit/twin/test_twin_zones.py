"""Offsets from UTC of the files beside a log, and joules and rules of its jobs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import site

import wattline as wl
from wattline.model.local_time import zone_of
from wattline.scenario.twin.from_sacct import read_sacct
from wattline.scenario.twin.from_table import read_table
from wattline.scenario.twin.planning import site_of
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
    ("+01:00", "+01:00", 3600.0, 0), ("Z", "+02:00", -3600.0, 0),
    ("", "", 3600.0, 4), ("+00:00", "", 3600.0, 3)])
def test_offsets_are_honoured_in_all_files(
    tmp_path: Path, log_zone: str, zone: str, start_s: float, said: int
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
    assert sum(zone_of().note() in line for line in found.lists.assumed) == said


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


def test_a_twin_reads_all_its_files_in_the_zone_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "sacct.txt").write_text(HEADER + _row())
    (tmp_path / "down.txt").write_text("NodeName|TimeStart|TimeEnd|State|Reason\n"
                                       "n2|2025-03-04T08:00:00Z|2025-03-04T10:00:00|DOWN|x\n")
    for zone, start_s in (("", 0.0), ("Europe/Berlin", 3600.0)):
        twin = wl.make_twin(tmp_path / "slurm.conf", sacct=tmp_path / "sacct.txt", zone=zone,
                            down=tmp_path / "down.txt", out=tmp_path / "twin.toml")
        said = f"times without an offset are taken as {zone or 'UTC'}"
        assert sum(said in line for line in twin.assumed) == 2
        assert ('zone = "Europe/Berlin"' in twin.text) == bool(zone)
        found = wl.simulate(tmp_path / "twin.toml")
        assert any(said in line for line in found.remarks)
        site = site_of(twin.scenario)
        assert site.outages is not None
        assert site.outages.start_s.tolist() == [start_s]


def test_a_table_of_jobs_is_of_the_zone_that_is_named(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("job_id,submit,start,end,nodes\n"
                    "1,2025-07-01 10:00:00,2025-07-01 10:01:00,2025-07-01 11:00:00+02:00,1\n"
                    "2,1751357000,1751357100,1751357200,1\n")
    by_utc, berlin = read_table(path), read_table(path, "Europe/Berlin")
    assert by_utc.unix_start_s == 1751357100  # submissions before the first start count from then
    assert berlin.unix_start_s == 1751356860
    assert [job.end_s for job in berlin.jobs] == [3540.0, 340.0]
    assert berlin.assumed == (f"{path}: times without an offset are taken as Europe/Berlin",)


def test_the_hour_that_comes_twice_goes_by_elapsed_in_the_log_of_a_twin(tmp_path: Path) -> None:
    """Clocks went back on 26 October 2025 in Berlin."""
    path = tmp_path / "sacct.txt"
    path.write_text("JobID|Submit|Eligible|Start|End|ElapsedRaw|AllocCPUS|NNodes|NodeList|State\n"
                    "1|2025-10-26T01:59:00|2025-10-26T01:59:00|2025-10-26T02:10:00|"
                    "2025-10-26T02:20:00|4200|8|1|n1|COMPLETED\n"
                    "2|2025-10-26T02:50:00|2025-10-26T02:50:00|2025-10-26T02:10:00|"
                    "2025-10-26T03:10:00|3600|8|1|n1|COMPLETED\n")
    first, second = read_sacct(path, "Europe/Berlin").jobs
    assert (first.start_s, first.end_s, first.run_s) == (660.0, 4860.0, 4200.0)
    assert (second.submit_s, second.start_s, second.end_s) == (3060.0, 4260.0, 7860.0)
