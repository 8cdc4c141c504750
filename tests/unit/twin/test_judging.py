"""A twin is held to what real runs do, and to no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from wattline.model.errors import InputError
from wattline.twin.judging import Distance, judge
from wattline.twin.real_runs import RealRun, read_run, read_runs


def run(name: str, starts_s: dict[str, float]) -> RealRun:
    groups = {"account": {job: job[0] for job in starts_s}}
    return RealRun(name, starts_s, starts_s, (), groups)


REAL = [run("1", {"a1": 10.0, "a2": 20.0, "b1": 100.0}),
        run("2", {"a1": 14.0, "a2": 20.0, "b1": 120.0})]


def test_runs_judged_by_themselves_pass() -> None:
    found = judge(REAL, REAL[:1], by=["account"])
    assert found.passes
    assert [row.group for row in found.waits] == ["", "a", "b"]
    assert found.between_runs.median_s == 4.0


def test_a_mean_outside_the_range_passes_only_within_five_percent() -> None:
    near = judge(REAL, [run("t", {"a1": 12.0, "a2": 20.0, "b1": 124.0})], by=["account"])
    far = judge(REAL, [run("t", {"a1": 12.0, "a2": 20.0, "b1": 131.0})], by=["account"])
    b_near, b_far = near.waits[2], far.waits[2]
    assert b_near.error == pytest.approx(14 / 110)
    assert not b_near.passes  # 124 is above 120, and more than 5 % above 110
    assert near.starts_pass  # 0, 0, 2, 2, 4 and 24 s from the runs, which are 0, 4 and 20 s apart
    assert not near.passes
    close = judge(REAL, [run("t", {"a1": 12.0, "a2": 20.0, "b1": 115.0})], by=["account"])
    assert close.waits[2].passes
    assert not b_far.passes
    assert not far.passes


def test_five_percent_of_the_mean_help_where_runs_agree() -> None:
    agreeing = [run("1", {"a1": 100.0}), run("2", {"a1": 101.0})]
    assert judge(agreeing, [run("t", {"a1": 105.0})], by=[]).waits[0].passes
    assert not judge(agreeing, [run("t", {"a1": 106.0})], by=[]).waits[0].passes


def test_starts_fail_that_are_further_from_the_runs_than_the_runs_from_each_other() -> None:
    # The same mean waits, other jobs first.
    swapped = run("t", {"a1": 20.0, "a2": 12.0, "b1": 110.0})
    found = judge(REAL, [swapped], by=["account"])
    assert all(row.passes for row in found.waits)
    assert not found.starts_pass
    assert found.to_twin.median_s > found.widest_runs.median_s


def test_starts_are_held_against_the_pair_of_runs_that_is_furthest_apart() -> None:
    """Of three runs pairs are 10, 20 and 30 s apart: 20 s in the middle of all, 30 s at most."""
    runs = [run(name, {"a1": at_s, "a2": at_s}) for name, at_s in (
        ("1", 0.0), ("2", 10.0), ("3", 30.0))]
    found = judge(runs, [run("t", {"a1": 10.0, "a2": 10.0})], by=[])
    assert found.between_runs == Distance(20.0, 30.0)
    assert found.widest_runs == Distance(30.0, 30.0)
    assert found.to_twin == Distance(10.0, 20.0)
    assert found.starts_pass


def test_jobs_that_are_left_out_on_purpose_are_not_said_to_be_missing() -> None:
    found = judge(REAL, REAL[:1], by=[], without={"b1"})
    assert (found.jobs, found.left_out) == (2, ())


def test_jobs_that_did_not_start_everywhere_are_named_and_counted_nowhere() -> None:
    short = RealRun("t", {"a1": 12.0, "a2": 20.0}, {"a1": 12.0, "a2": 20.0}, ("b1",), {})
    found = judge(REAL, [short], by=["account"])
    assert found.left_out == ("b1",)
    assert found.jobs == 2


def test_one_real_run_is_no_truth() -> None:
    with pytest.raises(InputError, match="1 real runs"):
        judge(REAL[:1], REAL)


def test_a_run_is_read_from_csv_and_from_sacct(tmp_path: Path) -> None:
    (tmp_path / "run1.csv").write_text(
        "job,account,submit_s,start_s,tasks,asks\nj1,x,0.0,3.0,12,mem=9\nj2,y,1.0,nan,1,\n")
    (tmp_path / "run2.txt").write_text(
        "JobName|Account|Submit|Start\nj1|x|2026-01-01T00:00:05|2026-01-01T00:00:09\n"
        "j2|y|2026-01-01T00:00:06|Unknown\n")
    first, second = read_runs(tmp_path)
    assert first.start_s == {"j1": 3.0}
    assert first.unstarted == ("j2",)
    assert first.groups["asks"]["j1"] == "mem=9"
    assert second.wait_s == {"j1": 4.0}
    assert second.groups == {"account": {"j1": "x", "j2": "y"}}


def test_two_jobs_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("job,submit_s,start_s\na,0,1\na,0,2\n")
    with pytest.raises(InputError, match="repeat the name"):
        read_run(tmp_path / "run.csv")


def test_a_run_without_starts_is_refused_with_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("job,submit_s\na,0\n")
    with pytest.raises(InputError, match="no column start_s"):
        read_run(tmp_path / "run.csv")


def test_a_folder_with_one_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two are needed"):
        read_runs(tmp_path)
