"""Submissions of a file for a real Slurm, which numbers jobs otherwise than the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from wattline.controller.testbed.site.daemons import _batches
from wattline.controller.testbed.site.outcome import read_accounting
from wattline.controller.testbed.site.submissions import Submission, read_submissions


def submissions(folder: Path, *options: str) -> list[Submission]:
    file = folder / "jobs.events"
    file.write_text("".join(f"-dt {place} -e submit_batch_job | -sim-walltime 5 {each} x.job\n"
                            for place, each in enumerate(options)))
    return read_submissions(file)


@pytest.mark.parametrize(("asked", "said"), [
    ("-d afterok:3", "afterok:41"), ("-dafterok:3:7", "afterok:41,afterok:50"),
    ("--dependency=afterany:7_2,after:3+5", "afterany:50_2,after:41+5"),
    ("--dependency afterok:3?afterany:7", "afterok:41?afterany:50"), ("-d 3", "afterany:41"),
    ("--dep=aftercorr:7", "aftercorr:50"), ("-d afterok:7_[1-2]", "afterok:50_1,afterok:50_2"),
    ("-d singleton", "singleton"), ("-d afterok:7_*", "afterok:50_*"),
    ("-d afterok:3,afterok:9", "afterok:41"), ("-d afterok:3?afterok:9", ""),
    ("-d afterok:9", "")])
def test_a_dependency_names_jobs_as_slurm_called_them(
    tmp_path: Path, asked: str, said: str
) -> None:
    found, = submissions(tmp_path, f"-J job_8 -n 2 {asked} -t 5")
    options, unknown = found.options_with({"3": "41", "7": "50"})
    kept = (f"--dependency={said}",) if said else ()
    assert options == ("-J", "job_8", "-n", "2", *kept, "-t", "5")
    assert unknown == (["9"] if "9" in asked else [])


def test_jobs_are_called_as_the_twin_calls_them(tmp_path: Path) -> None:
    assert [each.job_id for each in submissions(tmp_path, "-J a_012", "-J b_7", "-n 1")] == [
        "12", "7", "3"]
    assert [each.job_id for each in submissions(tmp_path, "-J a_1", "-J b_1", "-n 1")] == [
        "1", "2", "3"]


def test_every_task_and_every_life_is_read_from_accounting(tmp_path: Path) -> None:
    """An array of two tasks, the second requeued while it ran, and one that never was made."""
    asked = submissions(tmp_path, "-J first_4 -a 1-3%1", "-J last_5")
    row = "{}|{}|acc|ann|all|normal|2026-01-05T10:00:{}|2026-01-05T10:00:{}|{}|{}|1|1|n1"
    text = "\n".join((
        row.format("9_1", "COMPLETED", "00", "00", "2026-01-05T10:00:02", "2026-01-05T10:00:07"),
        row.format("9_2", "PREEMPTED", "00", "00", "2026-01-05T10:00:08", "2026-01-05T10:00:09"),
        row.format("9_2", "COMPLETED", "09", "09", "2026-01-05T10:00:30", "2026-01-05T10:00:35"),
        row.format("9_[3]", "CANCELLED", "00", "00", "Unknown", "Unknown"),
        row.format("12", "COMPLETED", "01", "40", "2026-01-05T10:00:41", "2026-01-05T10:00:46")))
    found = read_accounting(text, {"9": asked[0], "12": asked[1]}, 1767607200.0)
    assert [(each.job, each.job_id, each.submit_s, each.start_s, each.state) for each in found] == [
        ("first_4_1", "4_1", 0.0, 2.0, "COMPLETED"), ("first_4_2", "4_2", 0.0, 30.0, "COMPLETED"),
        ("last_5", "5", 1.0, 41.0, "COMPLETED")]


def test_who_names_a_new_qos_comes_in_another_sacctmgr() -> None:
    lines = ["add account name=a", "add QOS Name=high Preempt=normal", "add qos Name=low",
             "modify account name=a set qos=normal,high", "add user name=u DefaultAccount=a",
             "create qos x", "modify user u set qos=x"]
    assert _batches(lines) == [lines[:3], lines[3:6], lines[6:]]
    assert _batches([]) == []
