"""Remarks about logs and files of a site beside what the twin does, each in its list."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.support.twin_sites import ACCOUNTS, site, submit

from wattline.analysis.rundir import read
from wattline.cli.main import cli
from wattline.model.errors import InputError
from wattline.scenario.twin.from_sacct import EQUAL_PARTS
from wattline.scenario.twin.nodes_down import DOWN_DRAWS, DOWN_SLEEPS
from wattline.scenario.twin.section import ReservationSection, TwinSection
from wattline.scenario.twin.site import Site, read_site
from wattline.scenario.twin.whole_nodes import ABOVE_PARTS
from wattline.site.topology import read_topology

NODES = "NodeName=n[1-2] CPUs=8 RealMemory=16000 Gres=gpu:2\n"
CONF = f"""{NODES}\
PartitionName=batch Nodes=ALL Default=YES DefaultTime=10 MaxTime=1-0 DefMemPerCPU=1000
"""
SLEEPS = "SuspendTime=50\nSuspendProgram=/x\nResumeProgram=/y\n"
DOWN = "NodeName=n3 CPUs=8 State=DOWN\n"
FOUR = """\
NodeName=n[1-4] CPUs=8 RealMemory=8000
PartitionName=p Nodes=ALL Default=YES DefMemPerCPU=100
"""
USUAL = {
    "JobID": "5", "User": "ada", "Submit": "100", "Start": "100", "End": "3700", "ReqCPUS": "8",
    "AllocCPUS": "8", "NNodes": "1", "NodeList": "n1", "Timelimit": "2:00:00",
    "State": "COMPLETED", "ReqTRES": "cpu=8,node=1", "AllocTRES": "", "Reservation": "",
    "ConsumedEnergyRaw": "", "ConsumedEnergy": ""}
RESERVED = {"reservation": (ReservationSection(name="r", nodes="n1", start=1000, end=9000),)}


def _site(folder: Path, *rows: dict[str, str], **fields: Any) -> Site:
    lines = ["|".join(USUAL)] + ["|".join((USUAL | row).values()) for row in rows or ({},)]
    return site(folder, "\n".join(lines) + "\n", CONF, None, "sacct", idle_w=100, cpu_w=10,
                gpu_w=200, **fields)


def _with_conf(folder: Path, conf: str) -> Site:
    return site(folder, submit("-n 1"), conf, None)


def _with_gres(folder: Path, gres: str) -> Site:
    (folder / "gres.conf").write_text(gres)
    return site(folder, submit("-n 1"), CONF, None, gres=str(folder / "gres.conf"))


REMARKS: dict[str, tuple[Callable[[Path], Site], str, tuple[str, ...], bool]] = {
    "watts of all parts: 100 W, 8 x 10 W and 2 x 200 W": (
        lambda at: _site(at, {"ConsumedEnergyRaw": str(580 * 3600)}),
        "made.counted", (ABOVE_PARTS,), False),
    "watts above all parts": (
        lambda at: _site(at, {"ConsumedEnergyRaw": str(581 * 3600)}),
        "made.counted", (ABOVE_PARTS,), True),
    "a resized job was resized": (
        lambda at: _site(at, {"State": "RESIZING", "End": "1000"},
                         {"Start": "1000", "Submit": "1000"}),
        "log.filled", ("was resized",), True),
    "a resized job does not still run": (
        lambda at: _site(at, {"State": "RESIZING", "End": "1000"},
                         {"Start": "1000", "Submit": "1000"}),
        "log.filled", ("still ran",), False),
    "a start outside of a reservation": (
        lambda at: _site(at, {"Reservation": "r"},
                         {"Start": "1100", "End": "1200", "Reservation": "r", "JobID": "6"},
                         **RESERVED),
        "made.filled", ("1 job:", "outside of the time", "(5)"), True),
    "devices of a job on two nodes are in equal parts": (
        lambda at: _site(at, {"ReqTRES": "cpu=8,node=2,gres/gpu=4", "NNodes": "2",
                              "NodeList": "n[1-2]"}),
        "log.counted", (EQUAL_PARTS,), True),
    "devices of a job on one node are all there": (
        lambda at: _site(at, {"ReqTRES": "cpu=8,node=1,gres/gpu=2"}),
        "log.counted", (EQUAL_PARTS,), False),
    "a node that is down draws": (
        lambda at: _with_conf(at, CONF + DOWN), "lists.assumed", (DOWN_DRAWS,), True),
    "a node that is down sleeps where nodes do": (
        lambda at: _with_conf(at, SLEEPS + CONF + DOWN), "lists.assumed", (DOWN_SLEEPS,), True),
    "types that gres.conf alone has": (
        lambda at: _with_gres(at, "NodeName=n[1-2] Name=gpu Type=a100 File=/dev/x[0-1]\n"),
        "lists.contradictions", ("of type a100", "gres.conf:1", "slurm.conf:1"), True),
}


@pytest.mark.parametrize("name", REMARKS)
def test_a_remark_stands_once_in_its_list_or_not_at_all(tmp_path: Path, name: str) -> None:
    made, where, words, is_there = REMARKS[name]
    lines = [line for line in attrgetter(where)(made(tmp_path))
             if all(word in line for word in words)]
    assert len(lines) == int(is_there)


def _written(path: Path, text: str = "") -> Path:
    path.write_text(text)
    return path


MISTAKES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a setting to try is blamed where it stands": (
        lambda at: site(at, submit("-n 1"), f"KillWait=30\n{CONF}", None,
                        settings={"KillWait": "x"}), r"^twin\.settings: KillWait"),
    "a slurm.conf is no gres.conf": (
        lambda at: _with_gres(at, CONF), r"no line of gres\.conf"),
    "a topology without switches": (
        lambda at: read_topology(_written(at / "topology.conf", "# nothing\n")),
        "has neither SwitchName nor BlockName lines"),
    "a file is no run folder": (
        lambda at: read(_written(at / "twin.toml")), "is a file and no run folder"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_file_of_another_kind_or_value_is_refused_by_name(tmp_path: Path, name: str) -> None:
    read_it, words = MISTAKES[name]
    with pytest.raises(InputError, match=words):
        read_it(tmp_path)


@pytest.mark.parametrize("cells", [
    {"ConsumedEnergyRaw": "1080000"}, {"ConsumedEnergyRaw": "1.08e6"},
    {"ConsumedEnergyRaw": "1080000.0"}, {"ConsumedEnergy": "1.08M"}, {"ConsumedEnergy": "1080K"},
    {"AllocTRES": "cpu=8,energy=1080000,node=1"}])
def test_joules_are_read_as_slurm_writes_them(tmp_path: Path, cells: dict[str, str]) -> None:
    found = _site(tmp_path, cells).made.requests
    assert found.power_per_node_w.tolist() == [pytest.approx(300.0)]


def test_the_parts_of_a_resized_job_are_one_job(tmp_path: Path) -> None:
    found = _site(tmp_path, {"State": "RESIZING", "End": "1000"},
                  {"Start": "1000", "Submit": "1000"})
    assert found.made.requests.run_s.tolist() == [3600.0]


def test_the_range_of_watts_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "day.events").write_text(submit("-n 1"))
    found = CliRunner().invoke(cli, ["twin", "make", "--slurm-conf", str(tmp_path / "slurm.conf"),
                                     "--events", str(tmp_path / "day.events"), "--idle-w", "-5",
                                     "-o", str(tmp_path / "twin.toml")])
    assert found.exit_code != 0
    said = found.output + str(found.exception)
    assert "must be at least 0 and at most 1,000,000 (it is -5.0)" in said
    assert "--idle-w: must be" in said


def test_one_job_that_something_is_filled_in_for_is_one(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "log").write_text("JobID|User|Submit|Start|End|ReqCPUS|NNodes|Timelimit|State\n"
                                  "1|ada|1000|1001|1100|1|1|00:10:00|COMPLETED\n")
    (tmp_path / "twin.toml").write_text(f'[trace]\nfile = "{tmp_path / "log"}"\n[policy]\n'
                                        'backfill = "slurm"\n[twin]\nslurm_conf = "slurm.conf"\n')
    found = CliRunner().invoke(cli, ["twin", "check", str(tmp_path / "twin.toml"), "--phases", "1"])
    assert "note: filled in: 1 job: tasks are not in the log" in found.output


def test_counts_are_of_the_jobs_that_are_used(tmp_path: Path) -> None:
    rows = ["JobID|User|Submit|Start|End|ReqTRES|NNodes|Timelimit|State|SubmitLine"]
    rows += [f"{job}|ada|{1000 + job}|{1010 + job}|1100|cpu=8,mem=800M,node={1 + job // 3}|"
             f"{1 + job // 3}|00:10:00|COMPLETED|sbatch --contiguous x" for job in range(1, 6)]
    rows.append("6|ada|1006|Unknown|Unknown||1|00:10:00|PENDING|sbatch x")
    (tmp_path / "log").write_text("\n".join(rows) + "\n")
    (tmp_path / "slurm.conf").write_text(FOUR)
    section = TwinSection(slurm_conf=str(tmp_path / "slurm.conf"), log="sacct")
    whole, two = (read_site(section, tmp_path / "log", most) for most in (None, 2))
    tasks = "tasks are not in the log: one per CPU asked for"
    parts = "memory is of the whole job in the log: an equal part on each node"
    assert (whole.log.counted[tasks], whole.log.counted[parts]) == (5, 3)
    assert two.log.counted == {tasks: 2}
    assert two.log.filled == (f"2 jobs: {tasks} (1, 2)",)
    assert two.log.touched == {"1", "2"}
    assert "2 jobs: nothing is done with the option contiguous of its SubmitLine (1, 2)" in \
        two.lists.not_modelled
    assert two.log.left_out == whole.log.left_out
    said = ("trace.jobs: the first 2 of 5 jobs of the log; records that are left out are those of "
            "the whole log")
    assert said in two.lists.assumed
    assert said not in whole.lists.assumed


def test_tasks_and_earlier_runs_keep_what_is_said_of_them(tmp_path: Path) -> None:
    text = submit("-J j_7 -n 1 -a 1-3 --contiguous") + submit("-J j_8 -n 1 --contiguous", 5)
    log = site(tmp_path, text, accounts=ACCOUNTS).log
    assert log.first(2).not_modelled == (
        "1 job: nothing is done with the option contiguous (7)",)
    assert log.first(4).not_modelled == log.not_modelled
