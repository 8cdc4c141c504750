"""The files of a replay of a site, without any daemon."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.site.outcome import read_accounting, write_run
from wattline.controller.testbed.site.submissions import read_submissions
from wattline.controller.testbed.site.translating import gres_conf, read_site, slurm_conf
from wattline.model.errors import InputError

CONF = """ClusterName=tiny
AuthType=auth/none   # replaced
SchedulerParameters=bf_interval=30,\\
bf_continue
PriorityWeightAge=500
FrontEndName=localhost
NodeName=DEFAULT CPUs=4 RealMemory=8000
NodeName=c[1-3] Feature=IB NodeAddr=10.0.0.[1-3]
NodeName=g1 Gres=gpu:a100:2,nic:1 State=DRAIN
PartitionName=all Nodes=c[1-3],g1 Default=YES
"""
EVENTS = """# a comment
-dt 0 -e submit_batch_job | -J a -sim-walltime 9 --uid=ann -n 12 --constraint=IB -p all pseudo.job
-dt 2.5 -e submit_batch_job | -J b -sim-walltime -1 --uid=bob -n 1 --gres=gpu:1 pseudo.job
"""


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    file = tmp_path / "slurm.conf"
    file.write_text(CONF)
    return file


@pytest.fixture
def events(tmp_path: Path) -> Path:
    file = tmp_path / "jobs.events"
    file.write_text(EVENTS)
    return file


def bed(folder: Path) -> Bed:
    return Bed(folder, 4, 25000)


def test_what_schedules_is_kept_and_what_is_of_the_place_is_not(conf: Path, tmp_path: Path) -> None:
    site = read_site(conf)
    text = slurm_conf(bed(tmp_path), site)
    assert "bf_interval=30, bf_continue" in text
    assert "PriorityWeightAge=500" in text
    assert "auth/none" not in text
    assert "FrontEndName" not in text
    assert site.replaced == ("AuthType",)
    assert site.left_out == ("FrontEndName",)


def test_every_node_has_a_port_of_its_own_on_loopback(conf: Path, tmp_path: Path) -> None:
    lines = slurm_conf(bed(tmp_path), read_site(conf)).splitlines()
    nodes = [line for line in lines if line.startswith("NodeName=")]
    assert nodes[1] == ("NodeName=c[1-3] NodeHostname=localhost NodeAddr=127.0.0.1 "
                        "Port=[25010-25012] Feature=IB")
    assert "Port=25013" in nodes[2]
    assert "DRAIN" not in nodes[2]


def test_devices_of_a_node_are_files_of_their_own(conf: Path, tmp_path: Path) -> None:
    text, files = gres_conf(bed(tmp_path), read_site(conf))
    assert f"NodeName=g1 Name=gpu Type=a100 File={tmp_path}/dev/device[0-1]" in text
    assert f"Name=nic File={tmp_path}/dev/device[2-2]" in text
    assert files == 3


def test_a_configuration_without_nodes_is_refused_with_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "slurm.conf"
    file.write_text("ClusterName=none\n")
    with pytest.raises(InputError, match="it has no nodes"):
        read_site(file)


def test_submissions_keep_the_options_of_sbatch_and_lose_those_of_the_simulator(
    events: Path
) -> None:
    first, second = read_submissions(events)
    assert first.options == ("-J", "a", "--uid=ann", "-n", "12", "--constraint=IB", "-p", "all")
    assert (first.name, first.user, first.tasks, first.asks) == ("a", "ann", 12, "constraint=IB")
    assert "sleep 9\n" in first.script
    assert second.at_s == 2.5
    assert math.isinf(second.run_s)
    assert second.asks == "gres=gpu:1"


def test_a_line_that_submits_nothing_is_named(tmp_path: Path) -> None:
    file = tmp_path / "odd.events"
    file.write_text("-dt 4 -e cancel_job | 7\n")
    with pytest.raises(InputError, match="line 1: only submissions"):
        read_submissions(file)


def test_times_of_accounting_count_from_the_beginning_of_the_run(
    events: Path, tmp_path: Path
) -> None:
    first, second = read_submissions(events)
    text = ("8|COMPLETED|x|bob|all|normal|2026-01-01T00:00:12|2026-01-01T00:00:12|"
            "2026-01-01T00:00:20|2026-01-01T00:01:30|1|1|g1\n"
            "7|CANCELLED by 0|x|ann|all|normal|2026-01-01T00:00:10|2026-01-01T00:00:10|"
            "Unknown|2026-01-01T00:00:19|0|0|None assigned\n"
            "9|COMPLETED|other|x|all|normal|2026-01-01T00:00:10||||1|1|c1\n")
    jobs = read_accounting(text, {"7": first, "8": second}, 1767225610.0)
    assert [job.job for job in jobs] == ["a", "b"]
    assert jobs[0].state == "CANCELLED"
    assert math.isnan(jobs[0].start_s)
    assert (jobs[1].submit_s, jobs[1].start_s, jobs[1].end_s) == (2.0, 10.0, 80.0)
    write_run(tmp_path / "run1.csv", jobs)
    with (tmp_path / "run1.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[1]["node_list"] == "g1"
    assert rows[1]["asks"] == "gres=gpu:1"
