"""A sweep as tasks of a job array on a real Slurm."""

from __future__ import annotations

from pathlib import Path

import pytest

import wattline as wl
from tests.slurm.bedside import slurm, until
from wattline.controller.testbed.layout import Bed

pytest.importorskip("submitit")
SWEEP = {
    "scenario": {"trace": {"generate": "lublin", "jobs": 5}, "machine": {"nodes": 64}},
    "axes": {"machine.nodes": [64, 65, 66, 67, 68], "policy.order": ["fcfs", "sjf"]}}


@pytest.fixture(autouse=True)
def _as_a_user_of_the_bed(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    if bed.root:
        pytest.skip("jobs of the other Slurm see the bed's folder alone, and no Python")
    for name, value in bed.environment.items():
        monkeypatch.setenv(name, value)


def test_points_run_in_few_tasks_of_one_array(
    bed: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATTLINE_PLAIN", "1")
    monkeypatch.setenv("SBATCH_COMMENT", "wattline")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = wl.run_sweep(SWEEP, tmp_path / "sweep", on="slurm", workers=2, cache=False,
                         report=False)
    assert (found.counts.computed, found.counts.failed) == (10, 0)
    tasks = {tuple(file.name.split("_")[:2])
             for file in (tmp_path / "sweep" / "slurm").glob("*_result.pkl")}
    assert len(tasks) == 2
    array, = {job for job, _ in tasks}
    # Slurm's accounting comes to know of them by and by.
    until(lambda: slurm(bed, "sacct", "-n", "-X", "-P", "-j", array, "-o", "State").split()
          == ["COMPLETED"] * 2)
    own = slurm(bed, "scontrol", "show", "partition", "-o").split("MaxTime=")[1].split()[0]
    asked = slurm(bed, "sacct", "-n", "-X", "-P", "-j", array, "-o", "Timelimit").split()
    # Where the partition has no limit either, Slurm writes down a year.
    assert set(asked) <= {own, "Partition_Limit", "365-00:00:00"}
    here = wl.run_sweep(SWEEP, tmp_path / "here", workers=1, cache=False, report=False)
    kept = ["energy_j", "wait_s.mean", "makespan_s"]
    assert found.to_pandas()[kept].equals(here.to_pandas()[kept])


def test_a_sweep_whose_tasks_slurm_refuses_ends_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SBATCH_PARTITION", "nosuch")
    with pytest.raises(wl.WattlineError, match=r"does not take the tasks .*Invalid partition"):
        wl.run_sweep(SWEEP, tmp_path / "sweep", on="slurm", workers=2, cache=False, report=False)
    assert len(list((tmp_path / "sweep" / "slurm").glob("*.sh"))) <= 1
