"""Output of Slurm, read: times, durations, host lists, licences, broken output."""

from __future__ import annotations

import math

import pytest

from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import (
    JOB_COLUMNS,
    SEPARATOR,
    JobReader,
    duration_s,
    fresh_separator,
    hosts,
    licenses,
    moment_s,
    read_array_limits,
    read_jobs,
    read_nodes,
)

JOB = {"JobArrayID": "300_1", "JobID": "301", "RestartCnt": "2", "State": "RUNNING",
       "NumNodes": "2", "NumCPUs": "64", "TimeLimit": "1-00:00:00",
       "StartTime": "2026-10-25T02:30:00", "EndTime": "N/A", "SubmitTime": "2026-10-24T23:59:59",
       "Partition": "batch", "UserName": "ann", "Account": "(null)", "NodeList": "n[01-02]",
       "Reason": "None", "Nice": "-5", "PriorityLong": "4294901759", "Licenses": "(null)",
       "ReqNodes": "", "Name": "x", "Comment": "(null)",
       "admin_comment": "", "MaxNodes": "4",
       "tres-alloc": "cpu=64,node=2", "Dependency": "afterok:5(unfulfilled)",
       "EligibleTime": "2026-10-25T02:30:00", "Feature": "(null)",
       "Reservation": "(null)"}


BETWEEN = fresh_separator()


def printed(*jobs: dict[str, str]) -> str:
    return "".join("".join(job[name] + BETWEEN for name in JOB_COLUMNS) + "\n" for job in jobs)


def test_a_job_is_read() -> None:
    job, = read_jobs(printed(JOB), BETWEEN)
    assert (job.label, job.job_id, job.restarts, job.key) == ("300_1", 301, 2, ("300_1", 2))
    assert job.node_list == ("n01", "n02")
    assert job.limit_s == 86400.0
    assert job.start_s == 1792895400.0
    assert math.isnan(job.end_s)
    assert (job.account, job.reason, job.comment) == ("", "", "")
    assert (job.array, job.dependency, job.eligible_s) == (
        "300", "afterok:5(unfulfilled)", 1792895400.0)


def test_how_many_tasks_may_run_at_once_is_read_from_whole_arrays() -> None:
    assert read_array_limits("7\n300_[1,4-9:2%3]\n301_[1-2]\n302_4\n12+0\n") == {
        "300": 3, "301": 0}


def test_names_may_hold_anything_that_can_be_typed() -> None:
    hostile = 'a|b,"c";$(d)\n<e>\t\'f\x1f'
    jobs = read_jobs(printed(JOB | {"Name": hostile}, JOB | {"Comment": hostile}, JOB), BETWEEN)
    assert [job.name for job in jobs] == [hostile, "x", "x"]
    assert jobs[1].comment == hostile


def test_look_after_look_only_what_changed_is_read_anew() -> None:
    reader = JobReader()
    rows = [JOB | {"JobID": str(number), "JobArrayID": str(number)} for number in (1, 2, 3)]
    first = reader.read(printed(*rows), BETWEEN)
    assert repr(first) == repr(read_jobs(printed(*rows), BETWEEN))  # nan is not nan
    rows[1] |= {"State": "COMPLETED"}
    rows = [*rows[1:], rows[1] | {"JobArrayID": "4", "JobID": "4"}]
    other = fresh_separator()
    text = printed(*rows).replace(BETWEEN, other)
    second = reader.read(text, other)
    assert [(job.label, job.state) for job in second] == [
        ("2", "COMPLETED"), ("3", "RUNNING"), ("4", "COMPLETED")]
    assert second[1] is first[2]
    assert reader.read("", BETWEEN) == []


def test_cells_that_begin_with_a_line_end_are_read_look_after_look() -> None:
    reader = JobReader()
    rows = [JOB, JOB | {"Name": "\na"}, JOB | {"Comment": f"x{SEPARATOR}\n"}]
    for _ in range(2):
        assert [job.name for job in reader.read(printed(*rows), BETWEEN)] == ["x", "\na", "x"]
    assert [job.name for job in reader.read(printed(JOB), BETWEEN)] == ["x"]
    with pytest.raises(SlurmError, match="squeue printed what cannot be read"):
        reader.read(printed(JOB, JOB)[:-40], BETWEEN)


def test_a_cell_that_holds_the_separator_of_an_earlier_look_is_read_as_it_is() -> None:
    """Commands show them to everybody, and users write what they like."""
    reader, other = JobReader(), fresh_separator()
    reader.read(printed(JOB), BETWEEN)
    named = JOB | {"Name": f"x{BETWEEN}y"}
    text = "".join(f"{named[name]}{other}" for name in JOB_COLUMNS) + "\n"
    for _ in range(2):
        job, = reader.read(text, other)
        assert (job.name, job.comment) == (f"x{BETWEEN}y", "")


def test_output_that_was_cut_off_is_refused() -> None:
    with pytest.raises(SlurmError, match="squeue printed what cannot be read"):
        read_jobs(printed(JOB, JOB)[:-40], BETWEEN)
    assert read_jobs("", BETWEEN) == []


@pytest.mark.parametrize(("text", "seconds"), [
    ("5:00", 300.0), ("1:30:00", 5400.0), ("2-03:04:05", 183845.0), ("45", 45.0),
    ("1-12", 129600.0), ("UNLIMITED", math.inf), ("INVALID", math.nan), ("", math.nan)])
def test_durations(text: str, seconds: float) -> None:
    assert duration_s(text) == pytest.approx(seconds, nan_ok=True)


@pytest.mark.parametrize("text", ["N/A", "Unknown", "None", "", "2026-13-01T00:00:00"])
def test_times_that_say_none(text: str) -> None:
    assert math.isnan(moment_s(text))


def test_licences_and_hosts() -> None:
    assert licenses("watts:500,matlab,x:2@server") == {"watts": 500, "matlab": 1, "x": 1}
    assert licenses("(null)") == {}
    assert hosts("cn[1-2]-gpu[01-02]") == ("cn1-gpu01", "cn1-gpu02", "cn2-gpu01", "cn2-gpu02")


def printed_nodes(*rows: tuple[str, ...]) -> str:
    return "".join("".join(f"{cell}{SEPARATOR}" for cell in row) + "\n" for row in rows)


def test_a_number_that_sinfo_shortened_is_refused_in_a_line() -> None:
    with pytest.raises(SlurmError, match="'1K' CPUs of n1"):
        read_nodes(printed_nodes(("n1", "idle", "1K", "batch*", "up")))


def test_a_node_of_several_partitions_is_one_node() -> None:
    rows = [("n1", "mixed+drain", "32", "batch*", "up"), ("n1", "mixed+drain", "32", "a", "down"),
            ("n1", "mixed+drain", "32", "b", "inactive"),
            ("n1", "mixed+drain", "32", "c", "drain"),
            ("n2", "idle", "32", "batch*", "up"), ("n3", "down*", "32", "batch*", "up"),
            ("n4", "idle~", "32", "batch*", "up")]
    nodes = read_nodes(printed_nodes(*rows))
    assert [node.name for node in nodes] == ["n1", "n2", "n3", "n4"]
    assert nodes[0].partitions == ("batch", "a", "b", "c")
    assert [node.closed for node in nodes] == [("a", "b"), (), (), ()]
    assert [node.usable for node in nodes] == [False, True, False, True]
