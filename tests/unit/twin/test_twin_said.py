"""Things in a log or a file beside what the twin does are told, each in its list."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.twin_sites import site, submit

from wattline.cli.main import cli
from wattline.model.errors import InputError
from wattline.scenario.twin.from_sacct import EQUAL_PARTS
from wattline.scenario.twin.nodes_down import DOWN_DRAWS, DOWN_SLEEPS
from wattline.scenario.twin.section import ReservationSection
from wattline.scenario.twin.site import Site
from wattline.scenario.twin.whole_nodes import ABOVE_PARTS

CONF = """NodeName=n[1-2] CPUs=8 RealMemory=16000 Gres=gpu:2
PartitionName=batch Nodes=ALL Default=YES DefaultTime=10 MaxTime=1-0 DefMemPerCPU=1000
"""
USUAL = {
    "JobID": "5", "User": "ada", "Submit": "100", "Start": "100", "End": "3700", "ReqCPUS": "8",
    "AllocCPUS": "8", "NNodes": "1", "NodeList": "n1", "Timelimit": "2:00:00",
    "State": "COMPLETED", "ReqTRES": "cpu=8,node=1", "AllocTRES": "", "Reservation": "",
    "ConsumedEnergyRaw": "", "ConsumedEnergy": ""}


def _site(folder: Path, *rows: dict[str, str], **fields: object) -> Site:
    lines = ["|".join(USUAL)] + ["|".join((USUAL | row).values()) for row in rows or ({},)]
    return site(folder, "\n".join(lines) + "\n", CONF, None, "sacct", idle_w=100, cpu_w=10,
                gpu_w=200, **fields)


@pytest.mark.parametrize("cells", [
    {"ConsumedEnergyRaw": "1080000"}, {"ConsumedEnergyRaw": "1.08e6"},
    {"ConsumedEnergyRaw": "1080000.0"}, {"ConsumedEnergy": "1.08M"}, {"ConsumedEnergy": "1080K"},
    {"AllocTRES": "cpu=8,energy=1080000,node=1"}])
def test_joules_are_read_as_slurm_writes_them(tmp_path: Path, cells: dict[str, str]) -> None:
    found = _site(tmp_path, cells).made.requests
    assert found.power_per_node_w.tolist() == [pytest.approx(300.0)]


@pytest.mark.parametrize(("joules", "said"), [(580 * 3600, False), (581 * 3600, True)])
def test_watts_above_all_parts_are_said(tmp_path: Path, joules: int, said: bool) -> None:
    """A node draws at most 100 W, 8 x 10 W and 2 x 200 W."""
    found = _site(tmp_path, {"ConsumedEnergyRaw": str(joules)})
    assert (ABOVE_PARTS in found.made.counted) == said


def test_a_resized_job_does_not_still_run(tmp_path: Path) -> None:
    found = _site(tmp_path, {"State": "RESIZING", "End": "1000"},
                  {"Start": "1000", "Submit": "1000"})
    assert found.made.requests.run_s.tolist() == [3600.0]
    assert not any("still ran" in line for line in found.log.filled)
    assert any("was resized" in line for line in found.log.filled)


def test_a_start_outside_of_a_reservation_is_said(tmp_path: Path) -> None:
    reserved = ReservationSection(name="r", nodes="n1", start=1000, end=9000)
    inside = {"Start": "1100", "End": "1200", "Reservation": "r"}
    found = _site(tmp_path, {"Reservation": "r"}, inside | {"JobID": "6"}, reservation=(reserved,))
    said = [line for line in found.made.filled if "outside of the time" in line]
    assert len(said) == 1
    assert said[0].startswith("1 job:")
    assert "(5)" in said[0]


def test_devices_of_a_whole_job_are_filled_in(tmp_path: Path) -> None:
    two = {"ReqTRES": "cpu=8,node=2,gres/gpu=4", "NNodes": "2", "NodeList": "n[1-2]"}
    assert EQUAL_PARTS in _site(tmp_path, two).log.counted
    one = {"ReqTRES": "cpu=8,node=1,gres/gpu=2"}
    assert EQUAL_PARTS not in _site(tmp_path, one).log.counted


def test_a_setting_to_try_is_blamed_where_it_stands(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^twin\.settings: KillWait"):
        site(tmp_path, submit("-n 1"), f"KillWait=30\n{CONF}", None, settings={"KillWait": "x"})


def test_nodes_that_are_down_sleep_where_nodes_do(tmp_path: Path) -> None:
    conf = CONF + "NodeName=n3 CPUs=8 State=DOWN\n"
    sleeps = "SuspendTime=50\nSuspendProgram=/x\nResumeProgram=/y\n"
    log = submit("-n 1")
    assert DOWN_SLEEPS in site(tmp_path, log, sleeps + conf, None).lists.assumed
    assert DOWN_DRAWS in site(tmp_path, log, conf, None).lists.assumed


def test_types_of_gres_conf_alone_are_a_contradiction(tmp_path: Path) -> None:
    (tmp_path / "gres.conf").write_text("NodeName=n[1-2] Name=gpu Type=a100 File=/dev/x[0-1]\n")
    found = site(tmp_path, submit("-n 1"), CONF, None, gres=str(tmp_path / "gres.conf"))
    said = [line for line in found.lists.contradictions if "of type a100" in line]
    assert len(said) == 1
    assert "gres.conf:1" in said[0]
    assert "slurm.conf:1" in said[0]


def test_a_slurm_conf_is_no_gres_conf(tmp_path: Path) -> None:
    (tmp_path / "other.conf").write_text(CONF)
    with pytest.raises(InputError, match=r"no line of gres\.conf"):
        site(tmp_path, submit("-n 1"), CONF, None, gres=str(tmp_path / "other.conf"))


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
