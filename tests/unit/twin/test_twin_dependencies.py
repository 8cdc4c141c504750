"""`--dependency` and `--array` of a log: what is not followed is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.twin_sites import CONF, site, submit

from wattline.model.errors import InputError
from wattline.shared_nodes.requests import AFTER, AFTERANY, AFTERNOTOK, AFTEROK, SINGLETON
from wattline.shared_nodes.simulate import simulate_shared
from wattline.site.dependency import Condition, dependency_of
from wattline.site.sbatch import array_of

HEADER = ("JobID|JobName|User|Account|Partition|QOS|Submit|Eligible|Start|End|Timelimit|ReqTRES|"
          "NNodes|NodeList|State|SubmitLine\n")
DAY = "2025-03-04T"


def row(job: str, line: str = "", **cells: str) -> str:
    usual = {
        "JobID": job, "JobName": "work", "User": "ada", "Account": "phys", "Partition": "batch",
        "QOS": "normal", "Submit": f"{DAY}08:00:00", "Eligible": f"{DAY}08:00:00",
        "Start": f"{DAY}08:00:10", "End": f"{DAY}08:10:10", "Timelimit": "00:30:00",
        "ReqTRES": "cpu=1,mem=100M,node=1", "NNodes": "1", "NodeList": "n1", "State": "COMPLETED",
        "SubmitLine": line} | cells
    return "|".join(usual[name] for name in HEADER.strip().split("|")) + "\n"


def accounting(tmp_path: Path, *rows: str) -> Any:
    return site(tmp_path, HEADER + "".join(rows), kind="sacct")


def conditions(found: Any) -> list[tuple[int, int, list[int]]]:
    asked = found.made.requests.dependencies
    if asked is None:
        return []
    return [(int(job), int(kind), asked.awaited[first:last].tolist()) for job, kind, first, last in
            zip(asked.job, asked.kind, asked.first[:-1], asked.first[1:], strict=True)]


@pytest.mark.parametrize(("text", "kinds", "any_of"), [
    ("afterok:1,afterok:2", [("afterok", "1"), ("afterok", "2")], False),
    ("afterok:1?afterany:2", [("afterok", "1"), ("afterany", "2")], True),
    ("afterany:1:2:3", [("afterany", "1"), ("afterany", "2"), ("afterany", "3")], False),
    ("12", [("afterany", "12")], False),
    ("afternotok:12_3,aftercorr:13_*", [("afternotok", "12_3"), ("aftercorr", "13_*")], False),
    ("afterok:7_[1-2,5],singleton", [("afterok", "7_1"), ("afterok", "7_2"), ("afterok", "7_5"),
                                     ("singleton", "")], False),
    ("afterok:1(unfulfilled)", [("afterok", "1")], False),
    ("0", [], False),
])
def test_every_condition_is_read(text: str, kinds: list[tuple[str, str]], any_of: bool) -> None:
    found = dependency_of(text, "here")
    assert [(each.kind, each.job_id) for each in found.conditions] == kinds
    assert found.any_of is any_of


def test_minutes_after_a_start_stand_with_each_job() -> None:
    found = dependency_of("after:1+5:2,after:3+10", "here")
    assert found.conditions == (Condition("after", "1", 300.0), Condition("after", "2"),
                                Condition("after", "3", 600.0))


@pytest.mark.parametrize("text", ["afterok", "afterok:", "afterok:x", "afterwards:1", "1;2",
                                  "afterok:1,", "singleton:1", "afterok:1_[5-2]"])
def test_what_is_no_dependency_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"here: (dependency|array) is"):
        dependency_of(text, "here")


def test_tasks_of_arrays_and_how_many_may_run() -> None:
    assert array_of("0-3", "here") == ([0, 1, 2, 3], -1)
    assert array_of("1,3,5-9:2%4", "here") == ([1, 3, 5, 7, 9], 4)
    assert array_of("1-2%0", "here") == ([1, 2], -1)  # as scontrol has it: no limit
    for text in ("", "4-1", "1-", "1-5:0", "a", "1-9999999999"):
        with pytest.raises(InputError):
            array_of(text, "here")


def test_submissions_wait_for_all_that_they_name(tmp_path: Path) -> None:
    text = (submit("-J j_1 -n 1") + submit("-J j_2 -n 1", 1) + submit(
        "-J j_3 -n 1 -d afterok:1,afterany:2", 2) + submit("-J j_4 -n 1 -d after:1+5", 3)
        + submit("-J j_5 -n 1 -d afternotok:1?afterok:2", 4))
    found = site(tmp_path, text)
    assert conditions(found) == [(2, AFTEROK, [0]), (2, AFTERANY, [1]), (3, AFTER, [0]),
                                 (4, AFTERNOTOK, [0]), (4, AFTEROK, [1])]
    asked = found.made.requests.dependencies
    assert asked is not None
    assert asked.delay_s.tolist() == [0.0, 0.0, 300.0, 0.0, 0.0]
    assert asked.any_of.tolist() == [False] * 4 + [True]


def test_an_array_is_one_line_and_at_most_so_many_of_its_tasks_run(tmp_path: Path) -> None:
    """Five tasks of a minute, two at a time; job 2 waits for all of them."""
    text = submit("-J j_1 -n 1 -a 0-4%2", 0, 60) + submit("-J j_2 -n 1 -d afterok:1", 1, 60)
    found = site(tmp_path, text)
    asked = found.made.requests
    assert asked.job_ids == ("1_0", "1_1", "1_2", "1_3", "1_4", "2")
    assert asked.array.tolist() == [0] * 5 + [-1]
    assert asked.array_limit.tolist() == [2] * 5 + [-1]
    assert conditions(found) == [(5, AFTEROK, [0, 1, 2, 3, 4])]
    done = simulate_shared(found.machine, asked, found.rules)
    running = [int(np.sum((done.start_s[:5] <= at) & (at < done.end_s[:5])))
               for at in done.start_s[:5]]
    assert max(running) == 2
    assert done.start_s[5] >= done.end_s[:5].max()


def test_tasks_that_correspond(tmp_path: Path) -> None:
    text = submit("-J j_1 -n 1 -a 0-2") + submit("-J j_2 -n 1 -a 1-3 -d aftercorr:1", 1)
    assert conditions(site(tmp_path, text)) == [
        (3, AFTEROK, [1]), (4, AFTEROK, [2]), (5, AFTEROK, [0, 1, 2])]


def test_arrays_without_names_of_their_own_stay_apart(tmp_path: Path) -> None:
    found = site(tmp_path, submit("-J x_1 -n 1 -a 1-2%1") + submit("-J y_1 -n 1 -a 1-2%1"))
    assert found.made.requests.job_ids == ("1_1", "1_2", "2_1", "2_2")
    assert found.made.requests.array.tolist() == [0, 0, 1, 1]


def test_jobs_that_are_to_be_alone_have_user_and_name_in_common(tmp_path: Path) -> None:
    text = (submit("-J a -n 1 -d singleton", 0) + submit("-J a -n 1", 1) + submit(
        "-J b -n 1 -d singleton", 2) + submit("-J c -n 1", 3))
    found = site(tmp_path, text)
    asked = found.made.requests.dependencies
    assert asked is not None
    assert asked.namesakes.tolist() == [0, 0, 1, -1]
    assert conditions(found) == [(0, SINGLETON, []), (2, SINGLETON, [])]


@pytest.mark.parametrize(("setting", "option", "kill"), [
    ("", "", False), ("DependencyParameters=kill_invalid_depend\n", "", True),
    ("DependencyParameters=kill_invalid_depend\n", "--kill-on-invalid-dep=no", False),
    ("", "--kill-on-invalid-dep=yes", True)])
def test_the_cluster_or_the_job_says_whether_it_is_cancelled(
    tmp_path: Path, setting: str, option: str, kill: bool
) -> None:
    text = submit("-J j_1 -n 1") + submit(f"-J j_2 -n 1 -d afternotok:1 {option}", 1)
    asked = site(tmp_path, text, CONF + setting).made.requests.dependencies
    assert asked is not None
    assert asked.kill[1] == kill


def test_what_is_not_followed_is_said(tmp_path: Path) -> None:
    text = submit("-J j_1 -n 1") + submit("-J j_2 -n 1 -d afterburstbuffer:1", 1) + submit(
        "-J j_3 -n 1 -d expand:1", 2) + submit("-J j_4 -n 1 -d afterok:99?afterok:1", 3)
    found = site(tmp_path, text)
    said = "\n".join(found.lists.not_modelled)
    assert "1 job: its dependency 'afterburstbuffer': burst buffers are not modelled" in said
    assert "1 job: its dependency 'expand'" in said
    assert "waits for a job that is not in the log" in found.made.filled[0]
    assert conditions(found) == [(1, AFTERANY, [0])]  # one of two would have been enough


def test_accounting_has_dependencies_in_the_line_that_submitted_the_job(tmp_path: Path) -> None:
    """The time at which job 7 became eligible is then that of the jobs it waits for."""
    later = {"Eligible": f"{DAY}08:10:11", "Start": f"{DAY}08:10:12", "End": f"{DAY}08:20:12"}
    found = accounting(tmp_path, row("5"), row("6"),
                       row("7", "sbatch -d afterok:5:6 -n 1 x.sh", **later),
                       row("8", "sbatch --dependency=afterok:4 -n 1 x.sh", **later),
                       row("9", "sbatch -d afterok:5 --begin=now+60 -n 1 x.sh", **later))
    assert conditions(found) == [(2, AFTEROK, [0]), (2, AFTEROK, [1])]
    assert found.made.requests.begin_s.tolist() == [0.0, 0.0, 0.0, 611.0, 611.0]
    assert any("not in the log" in line for line in found.made.filled)


def test_what_the_log_contradicts_holds_nobody_up(tmp_path: Path) -> None:
    found = accounting(tmp_path, row("5", State="FAILED"), row("7", "sbatch -d afterok:5 x.sh"))
    assert conditions(found) == []
    assert any("ended otherwise" in line for line in found.made.filled)


def test_accounting_has_the_limit_of_an_array_in_its_line(tmp_path: Path) -> None:
    line = "sbatch --array=1-3%2 -n 1 x.sh"
    found = accounting(tmp_path, row("5_1", line), row("5_2", line), row("5_3", line), row("9", ""))
    assert found.made.requests.array.tolist() == [0, 0, 0, -1]
    assert found.made.requests.array_limit.tolist() == [2, 2, 2, -1]


def test_accounting_has_singletons_by_the_job_name(tmp_path: Path) -> None:
    found = accounting(tmp_path, row("5"), row("6", "sbatch -d singleton x.sh"),
                       row("7", "sbatch -d singleton x.sh", JobName=""))
    assert conditions(found) == [(1, SINGLETON, [])]
    assert any("no JobName" in line for line in found.made.filled)


def test_accounting_as_json_has_the_line_and_the_limit_too(tmp_path: Path) -> None:
    def job(number: int, task: int, line: str, running: int) -> dict[str, Any]:
        return {
            "job_id": number, "array": {"job_id": 40 if task else 0, "task_id": task or None,
                                        "limits": {"max": {"running": {"tasks": running}}}},
            "user": "ada", "account": "phys", "partition": "batch", "qos": "normal",
            "name": "work", "nodes": "n1", "state": {"current": ["COMPLETED"]},
            "submit_line": line, "time": {"submission": 1741075200, "eligible": 1741075200,
                                          "start": 1741075210, "end": 1741075810,
                                          "limit": {"set": True, "number": 30}}}

    jobs = [job(41, 1, "", 3), job(42, 2, "", 3), job(43, 0, "sbatch -d afterok:40_2 x.sh", 0)]
    found = site(tmp_path, json.dumps({"jobs": jobs}), kind="sacct")
    assert found.made.requests.array_limit.tolist() == [3, 3, -1]
    assert conditions(found) == [(2, AFTEROK, [1])]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 3, 0, 1), (1, 3, 0, 2)])
def test_the_order_of_lines_in_accounting_changes_nothing(
    tmp_path: Path, order: tuple[int, ...],
) -> None:
    """All were submitted in one second; ids say which came first."""
    lines = [row("5_1"), row("5_2"), row("5_10"), row("20", "sbatch -d afterok:5 x.sh")]
    found = accounting(tmp_path, *(lines[at] for at in order))
    assert found.made.requests.job_ids == ("5_1", "5_2", "5_10", "20")
    assert conditions(found) == [(3, AFTEROK, [0, 1, 2])]
    assert not any("not held up" in line for line in found.made.filled)


def test_who_waits_for_a_requeued_job_waits_for_its_last_run(tmp_path: Path) -> None:
    found = accounting(
        tmp_path,
        row("12", Submit=f"{DAY}08:00:00", Start=f"{DAY}08:00:05", End=f"{DAY}08:01:00",
            State="NODE_FAIL"),
        row("12", Submit=f"{DAY}08:01:00", Start=f"{DAY}08:02:00", End=f"{DAY}08:10:00"),
        row("13", "sbatch -d afterok:12 x.sh", Submit=f"{DAY}08:00:01",
            Start=f"{DAY}08:10:01", End=f"{DAY}08:11:00"))
    assert found.made.requests.job_ids == ("12/1", "13", "12")
    assert conditions(found) == [(1, AFTEROK, [2])]
    assert not any("not held up" in line for line in found.made.filled)
    done = simulate_shared(found.machine, found.made.requests, found.rules)
    assert done.start_s[1] >= done.end_s[2]


def test_a_run_after_the_waiting_job_began_is_not_what_it_waited_for(tmp_path: Path) -> None:
    found = accounting(
        tmp_path, row("12", End=f"{DAY}08:01:00"),
        row("12", Submit=f"{DAY}09:00:00", Start=f"{DAY}09:02:00", End=f"{DAY}09:10:00",
            State="FAILED"),
        row("13", "sbatch -d afterok:12 x.sh", Submit=f"{DAY}08:00:01",
            Start=f"{DAY}08:01:01", End=f"{DAY}08:11:00"))
    assert found.made.requests.job_ids == ("12/1", "13", "12")
    assert conditions(found) == [(1, AFTEROK, [0])]


def test_tasks_that_correspond_are_found_by_their_runs_too(tmp_path: Path) -> None:
    line = "sbatch -a 1-2 -d aftercorr:5 x.sh"
    again = {"Submit": f"{DAY}08:20:00", "Start": f"{DAY}08:21:00", "End": f"{DAY}08:22:00"}
    later = {"Submit": f"{DAY}08:00:01", "Start": f"{DAY}08:10:20", "End": f"{DAY}08:11:00"}
    found = accounting(tmp_path, row("5_1"), row("5_2"), row("6_1", line, **later),
                       row("6_1", line, **again), row("6_2", line, **later))
    assert found.made.requests.job_ids == ("5_1", "5_2", "6_1/1", "6_2", "6_1")
    assert conditions(found) == [(2, AFTEROK, [0]), (3, AFTEROK, [1]), (4, AFTEROK, [0])]


def test_a_job_that_was_submitted_later_holds_nobody_up_which_is_said(tmp_path: Path) -> None:
    text = submit("-J j_1 -n 1 -d afterok:2", 0) + submit("-J j_2 -n 1", 0)
    found = site(tmp_path, text)
    assert conditions(found) == []
    assert found.made.filled == (
        "1 job: waits for a job that was submitted after it: not held up by it (1)",)


def test_an_array_and_a_job_of_one_number_are_called_by_their_place(tmp_path: Path) -> None:
    text = submit("-J a_7 -n 1", 0, 20) + submit("-J b_7 -n 1 -a 1-2", 0, 200) + submit(
        "-J c_9 -n 1 -d afterok:2", 1, 20)
    found = site(tmp_path, text)
    assert found.made.requests.job_ids == ("1", "2_1", "2_2", "3")
    assert conditions(found) == [(3, AFTEROK, [1, 2])]
