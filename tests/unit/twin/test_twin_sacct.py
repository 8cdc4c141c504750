"""Requests from accounting: what the log says, what is filled in, and what is left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.support.twin_sites import site

from wattline.model.errors import InputError
from wattline.scenario.twin.asked import NEVER_ENDS_S
from wattline.scenario.twin.from_table import read_table

HEADER = ("JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|Timelimit|ReqCPUS|ReqMem|"
          "ReqTRES|AllocTRES|NNodes|NodeList|Constraints|State|ConsumedEnergyRaw\n")


def _row(job: str = "5", **cells: str) -> str:
    usual = {
        "JobID": job, "User": "ada", "Account": "phys", "Partition": "batch", "QOS": "normal",
        "Submit": "2025-03-04T08:00:00", "Eligible": "2025-03-04T08:00:00",
        "Start": "2025-03-04T08:00:10", "End": "2025-03-04T08:10:10", "Timelimit": "00:30:00",
        "ReqCPUS": "4", "ReqMem": "4000M", "ReqTRES": "cpu=4,mem=4000M,node=1",
        "AllocTRES": "cpu=4,mem=4000M,node=1", "NNodes": "1", "NodeList": "n1",
        "Constraints": "", "State": "COMPLETED", "ConsumedEnergyRaw": ""} | cells
    return "|".join(usual[name] for name in HEADER.strip().split("|")) + "\n"


def test_a_record_becomes_what_was_asked(tmp_path: Path) -> None:
    found = site(tmp_path, HEADER + _row(Constraints="fast"), kind="sacct")
    asked = found.made.requests
    assert asked.submit_s.tolist() == [0.0]
    assert asked.run_s.tolist() == [600.0]
    assert asked.limit_s.tolist() == [1800.0]
    assert (asked.tasks[0], asked.cpus_per_task[0], asked.min_nodes[0]) == (4, 1, 1)
    assert asked.memory_per_node_mb.tolist() == [4000]
    assert found.log.jobs[0].start_s == 10.0
    assert found.log.unix_start_s == 1741075200.0
    assert any("tasks are not in the log" in line for line in found.log.filled)


def test_steps_are_no_jobs_and_those_that_never_started_are_said(tmp_path: Path) -> None:
    text = HEADER + _row() + _row("5.batch") + _row(
        "6", Start="Unknown", End="Unknown", State="PENDING") + _row(
        "7", NodeList="None assigned", State="CANCELLED by 7")
    found = site(tmp_path, text, kind="sacct")
    assert found.made.requests.job_ids == ("5",)
    assert [line.partition(",")[0] for line in found.log.left_out] == [
        "1 job: PENDING", "1 job: CANCELLED"]


def test_a_timeout_runs_into_its_limit_and_a_running_job_too(tmp_path: Path) -> None:
    text = HEADER + _row(State="TIMEOUT") + _row("6", End="Unknown", State="RUNNING")
    found = site(tmp_path, text, kind="sacct")
    assert found.made.requests.run_s.tolist() == [NEVER_ENDS_S] * 2
    assert found.made.requests.exit_ok.tolist() == [False, False]
    assert any("still ran" in line for line in found.log.filled)


def test_time_in_suspension_is_no_part_of_a_run(tmp_path: Path) -> None:
    """From start to end 600 s, of which it was suspended for 100 s, or the log does not say."""
    text = HEADER.strip() + "|Suspended\n" + _row().strip() + "|00:01:40\n" + (
        _row("6").strip() + "|\n")
    assert site(tmp_path, text, kind="sacct").made.requests.run_s.tolist() == [500.0, 600.0]


def test_memory_per_core_and_per_node_of_older_versions(tmp_path: Path) -> None:
    text = HEADER + _row(ReqMem="500Mc", ReqTRES="cpu=4,node=1") + _row(
        "6", ReqMem="2Gn", ReqTRES="cpu=4,node=1") + _row(
        "7", ReqMem="", ReqTRES="cpu=8,mem=8000M,node=2", NNodes="2", NodeList="n[1-2]")
    asked = site(tmp_path, text, kind="sacct").made.requests
    assert asked.memory_per_cpu_mb.tolist() == [500, -1, -1]
    assert asked.memory_per_node_mb.tolist() == [-1, 2048, 4000]


def test_gpus_are_counted_once_and_by_node(tmp_path: Path) -> None:
    text = HEADER + _row(Partition="gpu", NodeList="g1",
                         ReqTRES="cpu=4,gres/gpu:a100=2,gres/gpu=2,node=1")
    asked = site(tmp_path, text, kind="sacct").made.requests
    assert asked.gres_choices == (("gpu", "a100"),)
    assert asked.gres_per_node.tolist() == [[2]]


def test_a_job_that_had_whole_nodes_was_exclusive_and_its_joules_are_its_own(
    tmp_path: Path,
) -> None:
    text = HEADER + _row(AllocTRES="cpu=8,node=1", ConsumedEnergyRaw="60000") + _row(
        "6", ConsumedEnergyRaw="60000")
    found = site(tmp_path, text, kind="sacct")
    asked = found.made.requests
    assert asked.exclusive.tolist() == [True, False]
    assert asked.power_per_node_w[0] == 100.0
    assert np.isnan(asked.power_per_node_w[1])
    assert any("may have shared" in line for line in found.made.filled)


def test_a_later_eligible_time_is_when_it_may_begin(tmp_path: Path) -> None:
    found = site(tmp_path, HEADER + _row(Eligible="2025-03-04T08:00:05"), kind="sacct")
    assert found.made.requests.begin_s.tolist() == [5.0]


def test_who_started_was_eligible(tmp_path: Path) -> None:
    row = _row(Submit="2025-03-04T08:10:00", Eligible="2025-03-04T08:10:00")
    job, = site(tmp_path, HEADER + row, kind="sacct").log.jobs
    assert job.submit_s == job.start_s
    assert job.begin_s <= job.submit_s


def test_accounts_that_ran_and_are_not_in_the_file_get_a_share(tmp_path: Path) -> None:
    found = site(tmp_path, HEADER + _row() + _row("6", User="old", Account="gone"), kind="sacct")
    assert found.made.unfit == ()
    assert any("old in gone" in line for line in found.lists.assumed)
    assert found.machine.associations.users == ("ada", "old", "root")


@pytest.mark.parametrize(("text", "message"), [
    ("", "is empty"), ("JobID|State\n1|COMPLETED\n", "lacks the column Submit, Start, End"),
    ("hello\n", "lacks the column"), (HEADER, "no job that started"),
    ('{"jobs": 3}', "no list 'jobs'"),
])
def test_wrong_columns_are_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        site(tmp_path, text, kind="sacct")


def test_a_table_without_limits_is_filled_by_a_stated_rule(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("submit,start,end,nodes,avg_power_per_node\n"
                    "2024-07-01 00:00:00,2024-08-30 00:10:00,2024-08-30 01:10:00,2,400\n"
                    "2024-08-30 00:20:00,2024-08-30 00:30:00,2024-08-30 00:31:00,1,0\n")
    found = read_table(path)
    first, second = found.jobs
    assert (first.submit_s, first.start_s, first.run_s) == (0.0, 0.0, 3600.0)
    assert (first.limit_s, second.limit_s) == (7200.0, 1800.0)
    assert first.power_per_node_w == 400.0
    assert np.isnan(second.power_per_node_w)
    assert found.counted["no partition in the log: the default one"] == 2
    assert any("before the table begins" in line for line in found.filled)


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "submit,start,end,nodes\n,,,1\n"])
def test_a_table_that_is_none_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    with pytest.raises(InputError):
        read_table(path)
