"""Tables of jobs: cells that say nothing, names that are numbers, columns that nobody reads."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.support.twin_sites import CONF as ODD_CONF

import wattline as wl
from wattline.model.errors import InputError
from wattline.scenario.twin.asked import NEVER_ENDS_S, Log
from wattline.scenario.twin.from_table import read_table
from wattline.scenario.twin.site import read_log

HEAD = "job_id,submit,start,end,nodes"
CONF = ODD_CONF.replace("Wibble=7\n", "").replace(",nonsense=3", "")


def table(folder: Path, *rows: str, head: str = HEAD) -> Log:
    path = folder / "jobs.csv"
    path.write_text("\n".join((head, *rows)) + "\n")
    return read_table(path)


@pytest.mark.parametrize("nodes", ["", "0", "-1", "2.5", "inf", "1e30", "two"])
def test_a_row_without_a_number_of_nodes_is_left_out_and_said(tmp_path: Path, nodes: str) -> None:
    found = table(tmp_path, "1,0,10,100,2", f"2,0,10,100,{nodes}", "3,5,10,100,1")
    assert [(job.job_id, job.nodes) for job in found.jobs] == [("1", 2), ("3", 1)]
    assert found.left_out == ("1 job: its number of nodes is missing, or is no whole number from 1 "
                              "(2)",)


@pytest.mark.parametrize(("limit", "seconds"), [
    ("inf", math.inf), ("UNLIMITED", math.inf), ("3600", 3600.0), ("61", 120.0),
    ("01:00:00", 3600.0), ("1-00:00:00", 86400.0)])
def test_limits_in_seconds_by_the_clock_and_without_end(
    tmp_path: Path, limit: str, seconds: float,
) -> None:
    job, = table(tmp_path, f"1,0,10,100,2,{limit}", head=HEAD + ",timelimit_s").jobs
    assert (job.limit_s, job.limit_filled) == (seconds, False)


@pytest.mark.parametrize("limit", ["", "0", "-5", "soon", "1:2:3:4"])
def test_a_limit_that_says_nothing_is_filled_in(tmp_path: Path, limit: str) -> None:
    found = table(tmp_path, f"1,0,10,100,2,{limit}", head=HEAD + ",timelimit_s")
    assert (found.jobs[0].limit_s, found.jobs[0].limit_filled) == (1800.0, True)
    assert any("no time limit in the log" in line for line in found.filled)


def test_limits_of_parquet_may_be_spans_of_time_or_without_end(tmp_path: Path) -> None:
    for limit, seconds in ((pd.Timedelta(hours=2), 7200.0), (math.inf, math.inf)):
        path = tmp_path / "jobs.parquet"
        pd.DataFrame({"submit": [0], "start": [10], "end": [100], "nodes": [2],
                      "limit_s": [limit]}).to_parquet(path)
        assert read_table(path).jobs[0].limit_s == seconds


@pytest.mark.parametrize("packed", [False, True])
def test_names_that_are_numbers_are_names(tmp_path: Path, packed: bool) -> None:
    """Also where an empty cell makes the others 17.0, and where one begins with a 0."""
    head = "job_id,user,account,partition,qos,submit,start,end,nodes"
    text = f"{head}\n1,17,5,3,1,0,10,100,1\n2,18,5,3,,0,10,100,1\n,019,,3,2,5,10,100,1\n"
    path = tmp_path / ("jobs.csv.gz" if packed else "jobs.csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    found = read_log(path, None)
    assert [job.user for job in found.jobs] == ["17", "18", "019"]
    assert [job.account for job in found.jobs] == ["5", "5", ""]
    assert [job.qos for job in found.jobs] == ["1", "", "2"]
    assert {job.partition for job in found.jobs} == {"3"}
    assert [job.job_id for job in found.jobs] == ["1", "2", "row 3"]
    assert not any("no user" in line for line in found.filled)


@pytest.mark.parametrize("users", [[17, 18], [17.0, 18.0], ["17", "18"]])
def test_users_of_parquet_count_each_for_themselves(tmp_path: Path, users: list[Any]) -> None:
    pd.DataFrame({"job_id": [1.0, 2.0], "user": users, "submit": [0, 0], "start": [10, 10],
                  "end": [100, 100], "nodes": [1, 1]}).to_parquet(tmp_path / "jobs.parquet")
    (tmp_path / "slurm.conf").write_text(CONF)
    twin = wl.make_twin(tmp_path / "slurm.conf", sacct=tmp_path / "jobs.parquet")
    found = wl.check_twin(twin, phases=1)
    assert {name: row["jobs"] for name, row in found.by["user"].items()} == {"17": 1, "18": 1}
    assert not any("no user" in line for line in twin.filled)


def test_a_packed_table_makes_a_twin(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "jobs.csv.gz").write_bytes(gzip.compress(f"{HEAD}\n1,0,10,100,2\n".encode()))
    twin = wl.make_twin(tmp_path / "slurm.conf", sacct=tmp_path / "jobs.csv.gz")
    assert (twin.jobs, twin.scenario.twin and twin.scenario.twin.log) == (1, "table")


def test_the_same_row_counts_once_and_another_of_its_id_is_another_run(tmp_path: Path) -> None:
    found = table(tmp_path, "1,0,10,100,2", "1,0,10,100,2", "1,0,10,90,2", "2,0,10,100,2")
    assert sorted((job.job_id, job.run_s) for job in found.jobs) == [
        ("1", 90.0), ("1/1", 80.0), ("2", 90.0)]
    assert found.left_out == (
        "1 job: the same run stands in the log again: the last record counts (1)",)
    assert any("ran more than once" in line for line in found.filled)
    assert found.counted["no user in the log: all such jobs are of one user"] == 3


def test_columns_that_nothing_is_done_with_are_named(tmp_path: Path) -> None:
    found = table(tmp_path, "1,0,10,100,2,8,500,0", head=HEAD + ",cpus,power,submit_time")
    assert found.not_modelled == (
        f"{tmp_path / 'jobs.csv'}: nothing is done with the columns cpus, power, submit_time",)
    assert table(tmp_path, "1,0,10,100,2").not_modelled == ()


def test_states_count_as_in_accounting(tmp_path: Path) -> None:
    found = table(tmp_path, "1,0,10,100,2,60,TIMEOUT", "2,0,10,100,2,60,FAILED",
                  "3,0,10,10,2,60,CANCELLED by 7", "4,0,10,50,2,60,CANCELLED",
                  "5,0,10,50,2,,TIMEOUT", "6,0,10,50,2,60,", head=HEAD + ",timelimit_s,state")
    assert [(job.job_id, job.state, job.exit_ok, job.run_s) for job in found.jobs] == [
        ("1", "TIMEOUT", False, NEVER_ENDS_S), ("2", "FAILED", False, 90.0),
        ("4", "CANCELLED", False, 40.0), ("5", "TIMEOUT", False, 40.0),
        ("6", "COMPLETED", True, 40.0)]
    assert [line.partition(",")[0] for line in found.left_out] == ["1 job: CANCELLED"]


@pytest.mark.parametrize(("submit", "start", "end"), [
    ("0", "10", "Unknown"), ("0", "Unknown", "Unknown"), ("0", "10", "inf"), ("-inf", "10", "20"),
    ("", "10", "20")])
def test_a_time_that_is_none_leaves_out_its_row_alone(
    tmp_path: Path, submit: str, start: str, end: str,
) -> None:
    found = table(tmp_path, "1,0,10,100,2", f"2,{submit},{start},{end},2")
    assert [(job.job_id, job.run_s) for job in found.jobs] == [("1", 90.0)]
    assert len(found.left_out) == 1


def test_times_of_several_ways_to_write_them(tmp_path: Path) -> None:
    found = table(tmp_path, "1,2024-08-30 00:00:00,2024-08-30T00:10:00.5Z,2024-08-30T01:10:00Z,2",
                  "2,2024-08-30T02:00:00+02:00,2024-08-30 00:10:00.500,2024-08-30 00:11:00.5,2")
    assert [(job.submit_s, job.start_s, job.run_s) for job in found.jobs] == [
        (0.5, 0.5, 3599.5), (0.5, 0.5, 60.0)]


def test_semicolons_part_cells_too(tmp_path: Path) -> None:
    job, = table(tmp_path, "1;0;10;100;2", head=HEAD.replace(",", ";")).jobs
    assert (job.nodes, job.run_s) == (2, 90.0)


def test_a_table_without_a_job_says_why(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no row is a job that ran: 1 job: its number of nodes"):
        table(tmp_path, "1,0,10,100,0")
