"""Accounting: jobs that never started, clocks that were changed, numbers that are shortened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.twin_sites import site

from wattline.scenario.twin.asked import NEVER_ENDS_S

HEAD = ("JobID", "User", "Submit", "Eligible", "Start", "End", "ReqCPUS", "NNodes", "Timelimit",
        "State")
NIGHT = "2025-10-26T"


def log(folder: Path, *rows: dict[str, str], usual: dict[str, str] | None = None) -> Any:
    """Of these rows over the usual cells; cells of the first row say which columns there are."""
    cells = {"User": "ada", "Submit": "1000", "Eligible": "1000", "Start": "1010", "End": "1110",
             "ReqCPUS": "4", "NNodes": "1", "Timelimit": "06:00:00", "State": "COMPLETED",
             **(usual or {})}
    columns = list(dict.fromkeys((*HEAD, *cells, *rows[0])))
    lines = ["|".join({"JobID": str(number), **cells, **row}.get(name, "") for name in columns)
             for number, row in enumerate(rows, start=1)]
    return site(folder, "\n".join(("|".join(columns), *lines)) + "\n", kind="sacct").log


@pytest.mark.parametrize("cells", [
    {"State": "CANCELLED by 1000", "Start": "5000", "End": "5000"},
    {"State": "DEADLINE", "Start": "5000", "End": "5000"},
    {"State": "CANCELLED by 1000", "Start": "0", "End": "5000"},
    {"State": "PENDING", "Start": "0", "End": "0"},
    {"State": "PENDING", "Start": "5000", "End": "Unknown"},
    {"State": "CANCELLED", "Start": "5000", "End": "5000", "AllocCPUS": "0"},
    {"State": "FAILED", "Start": "5000", "End": "5000", "AllocCPUS": "0"},
    {"State": "CANCELLED", "Start": "5000", "End": "5000", "NodeList": "None assigned"},
])
def test_who_never_started_is_left_out_and_said(tmp_path: Path, cells: dict[str, str]) -> None:
    first = {name: "4" if name == "AllocCPUS" else "n1" for name in cells
             if name in ("AllocCPUS", "NodeList")}
    found = log(tmp_path, first, cells)
    assert [job.job_id for job in found.jobs] == ["1"]
    assert found.unix_start_s == 960.0
    state = cells["State"].split()[0]
    assert found.left_out == (
        f"1 job: {state}, it never started: it waited in the queue and is left out (2)",)


@pytest.mark.parametrize("cells", [
    {"State": "CANCELLED", "Start": "5000", "End": "5000", "NodeList": "n1"},
    {"State": "CANCELLED", "Start": "5000", "End": "5001"},
    {"State": "FAILED", "Start": "5000", "End": "5000"},
])
def test_who_started_and_ended_at_once_counts(tmp_path: Path, cells: dict[str, str]) -> None:
    found = log(tmp_path, {"NodeList": "n1"} if "NodeList" in cells else {}, cells)
    assert [job.job_id for job in found.jobs] == ["1", "2"]
    assert found.left_out == ()


def test_a_log_that_counts_from_0_has_jobs_that_start_then(tmp_path: Path) -> None:
    found = log(tmp_path, {"Submit": "0", "Eligible": "0", "Start": "0", "End": "10"})
    assert [(job.start_s, job.run_s) for job in found.jobs] == [(0.0, 10.0)]


def test_an_end_of_0_is_that_of_a_job_that_still_runs(tmp_path: Path) -> None:
    found = log(tmp_path, {"End": "0", "State": "RUNNING"})
    assert found.jobs[0].run_s == NEVER_ENDS_S
    assert found.filled[0].startswith("1 job: still ran")


@pytest.mark.parametrize(("start", "end", "elapsed", "suspended", "run_s"), [
    ("01:00:00", "05:00:00", "05:00:00", "", 18000.0),
    ("01:00:00", "05:00:00", "18000", "", 18000.0),
    ("02:50:10", "02:10:10", "00:20:00", "", 1200.0),
    ("01:00:00", "05:00:00", "03:00:00", "", 10800.0),
    ("01:00:00", "05:00:00", "04:30:00", "", 16200.0),
    ("01:00:00", "05:00:00", "04:50:00", "00:10:00", 17400.0),
])
def test_the_clock_was_changed_during_a_run(
    tmp_path: Path, start: str, end: str, elapsed: str, suspended: str, run_s: float,
) -> None:
    column = "ElapsedRaw" if elapsed.isdigit() else "Elapsed"
    found = log(tmp_path, {"Submit": NIGHT + "00:30:00", "Eligible": NIGHT + "00:30:00",
                           "Start": NIGHT + start, "End": NIGHT + end, column: elapsed,
                           "Suspended": suspended})
    job, = found.jobs
    assert job.run_s == run_s
    assert job.end_s - job.start_s == run_s + job.suspended_s
    assert [line for line in found.filled if "the clock was changed" in line]
    assert not [line for line in found.filled if "ended before" in line]


@pytest.mark.parametrize(("start", "end", "elapsed", "suspended", "run_s"), [
    (NIGHT + "01:00:00", NIGHT + "05:00:00", "04:00:00", "", 14400.0),
    (NIGHT + "01:00:00", NIGHT + "05:00:00", "03:50:00", "00:10:00", 13800.0),
    (NIGHT + "01:00:00", NIGHT + "05:00:00", "03:59:00", "", 14400.0),
    (NIGHT + "01:00:00", NIGHT + "05:00:00", "", "", 14400.0),
    (NIGHT + "01:00:00", NIGHT + "05:00:00", "20:00:00", "", 14400.0),
    (NIGHT + "01:00:00+02:00", NIGHT + "05:00:00+01:00", "05:00:00", "", 18000.0),
    ("1761440400", "1761458400", "04:00:00", "", 18000.0),
])
def test_times_that_agree_or_have_no_such_clock_stay(
    tmp_path: Path, start: str, end: str, elapsed: str, suspended: str, run_s: float,
) -> None:
    found = log(tmp_path, {"Submit": start, "Eligible": start, "Start": start, "End": end,
                           "Elapsed": elapsed, "Suspended": suspended})
    assert found.jobs[0].run_s == run_s
    assert not [line for line in found.filled if "the clock was changed" in line]


@pytest.mark.parametrize(("nodes", "cpus", "found"), [
    ("1K", "1024", (1024, 1024)), ("1024", "1.5K", (1024, 1536)), ("2", "16", (2, 16)),
    ("1.50M", "2M", (1572864, 2097152))])
def test_shortened_numbers_of_nodes_and_cpus(
    tmp_path: Path, nodes: str, cpus: str, found: tuple[int, int],
) -> None:
    job, = log(tmp_path, {"NNodes": nodes, "ReqCPUS": cpus}).jobs
    assert (job.min_nodes, job.tasks) == found


@pytest.mark.parametrize(("asked", "tres", "per_node", "per_cpu"), [
    ("0n", "", 0, -1), ("0n", "cpu=4,mem=16000M,node=1", 0, -1), ("0c", "", -1, -1),
    ("0", "", -1, -1), ("2Gn", "", 2048, -1), ("500Mc", "", -1, 500)])
def test_no_memory_per_node_is_all_of_it(
    tmp_path: Path, asked: str, tres: str, per_node: int, per_cpu: int,
) -> None:
    found = log(tmp_path, {"ReqMem": asked, "ReqTRES": tres})
    job, = found.jobs
    assert (job.memory_per_node_mb, job.memory_per_cpu_mb) == (per_node, per_cpu)
    said = any("the partition's default" in line for line in found.filled)
    assert said is ((per_node, per_cpu) == (-1, -1))


def test_licences_of_their_column(tmp_path: Path) -> None:
    found = log(tmp_path, {"Licenses": "mat:2,fluent@server=1", "ReqTRES": ""},
                {"Licenses": "mat:2", "ReqTRES": "cpu=4,license/mat=1"}, {"Licenses": "mat:x"})
    assert [job.licences for job in found.jobs] == [{"mat": 2, "fluent@server": 1}, {"mat": 1}, {}]
    assert "1 job: its Licenses cannot be read (3)" in found.not_modelled


def test_a_run_in_two_dumps_is_counted_once_by_every_rule(tmp_path: Path) -> None:
    """First it still ran, and waited; then it is over."""
    found = log(tmp_path, {"JobID": "1", "End": "Unknown", "State": "RUNNING"}, {"JobID": "1"},
                {"JobID": "2", "Start": "Unknown", "End": "Unknown", "State": "PENDING"},
                {"JobID": "2", "Start": "Unknown", "End": "Unknown", "State": "PENDING"})
    assert [(job.job_id, job.run_s) for job in found.jobs] == [("1", 100.0)]
    assert set(found.counted.values()) == {1}
    assert not any("still ran" in line for line in found.filled)
    assert [line.partition(":")[0] for line in found.left_out] == ["2 jobs", "1 job"]
