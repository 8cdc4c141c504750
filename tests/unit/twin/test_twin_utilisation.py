"""Utilisation of a log that was taken while jobs ran: the same time counts on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest

import wattline as wl

CONF = """\
NodeName=n[1-4] CPUs=8 RealMemory=8000
PartitionName=p Nodes=ALL Default=YES DefMemPerCPU=1000
"""
HEAD = "JobID|User|Submit|Start|End|ReqCPUS|NNodes|Timelimit|State\n"
HOUR_S = 3600


def used(folder: Path, *rows: str) -> dict[str, float | None]:
    (folder / "slurm.conf").write_text(CONF)
    (folder / "sacct.txt").write_text(HEAD + "\n".join(rows) + "\n")
    twin = wl.make_twin(folder / "slurm.conf", sacct=folder / "sacct.txt")
    return dict(wl.check_twin(twin, phases=1).utilisation)


def row(job: int, cpus: int, start_h: float, end_h: float | None, limit: str = "1-00:00:00") -> str:
    begin = 1_000_000_020  # a full minute
    end = "Unknown" if end_h is None else f"{begin + end_h * HOUR_S:.0f}"
    state = "RUNNING" if end_h is None else "COMPLETED"
    return "|".join((str(job), "ada", str(begin), f"{begin + start_h * HOUR_S:.0f}", end,
                     str(cpus), str(-(-cpus // 8)), limit, state))


@pytest.mark.parametrize("limit", ["1-00:00:00", "7-00:00:00", "100-00:00:00"])
def test_jobs_that_run_on_count_to_the_end_of_the_log(tmp_path: Path, limit: str) -> None:
    """32 CPUs for ten hours, then 16 and, for longer than the log, 8: 7/8 of all, in both."""
    found = used(tmp_path, row(1, 32, 0, 10), row(2, 16, 10, 20), row(3, 8, 10, None, limit))
    assert found["logged"] == pytest.approx(0.875)
    assert found["simulated"] == pytest.approx(0.875, rel=0.002)


def test_a_start_may_be_the_last_time_of_a_log(tmp_path: Path) -> None:
    found = used(tmp_path, row(1, 32, 0, 10), row(2, 8, 10, None), row(3, 8, 20, None))
    assert found["logged"] == pytest.approx((32 * 10 + 8 * 10) / (32 * 20))


def test_without_such_jobs_each_side_counts_to_its_own_last_end(tmp_path: Path) -> None:
    """Job 2 waited for no reason in the log: the simulation is over ten hours earlier."""
    found = used(tmp_path, row(1, 16, 0, 10), row(2, 16, 10, 20))
    assert found["logged"] == pytest.approx(0.5)
    assert found["simulated"] == pytest.approx(1.0, rel=0.002)


def test_the_log_has_jobs_that_never_ran_in_the_twin(tmp_path: Path) -> None:
    """Job 2 had a fifth node, which the twin has not; of 32 CPUs it used 40 from 10 h to 20 h."""
    found = used(tmp_path, row(1, 16, 0, 10), row(2, 40, 10, 20))
    assert found["logged"] == pytest.approx((16 * 10 + 40 * 10) / (32 * 20))
    assert found["simulated"] == pytest.approx(0.5, rel=0.002)


def test_jobs_of_a_table_that_never_ran_had_whole_nodes(tmp_path: Path) -> None:
    """Four of four nodes for an hour, then five of them, which the twin has not."""
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "jobs.csv").write_text("submit,start,end,nodes\n0,0,3600,4\n0,3600,7200,5\n")
    twin = wl.make_twin(tmp_path / "slurm.conf", sacct=tmp_path / "jobs.csv")
    found = wl.check_twin(twin, phases=1).utilisation
    assert found["logged"] == pytest.approx((4 + 5) / (2 * 4))
