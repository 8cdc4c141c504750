"""`twin judge` of submissions with arrays: the tasks of one are not those of another."""

from __future__ import annotations

from pathlib import Path

import pytest

from wattline.model.errors import InputError
from wattline.twin.held import judge_twin
from wattline.twin.make import make_twin

CONF = """\
NodeName=n[1-4] CPUs=8 RealMemory=8000
PartitionName=p Nodes=ALL Default=YES DefMemPerCPU=500
"""


def judged(folder: Path, names: list[str], options: list[str]) -> tuple[int, tuple[str, ...]]:
    """Jobs compared, and those left out, where real runs have these names."""
    (folder / "slurm.conf").write_text(CONF)
    (folder / "day.events").write_text("".join(
        f"-dt 0 -e submit_batch_job | -sim-walltime 10 -t 1 -n 8 {each} x\n" for each in options))
    runs = folder / "runs"
    runs.mkdir()
    for run in ("r1", "r2"):
        rows = [f"{name},0,{place + 1}" for place, name in enumerate(names)]
        (runs / f"{run}.csv").write_text("\n".join(("job,submit_s,start_s", *rows)) + "\n")
    twin = make_twin(folder / "slurm.conf", events=folder / "day.events")
    found = judge_twin(twin, runs, phases=1, by=())
    return found.jobs, found.left_out


@pytest.mark.parametrize("names", [
    ["11_1", "11_2", "12_1", "12_2"],
    ["jobid_11_1", "jobid_11_2", "jobid_12_1", "jobid_12_02"]])
def test_two_arrays(tmp_path: Path, names: list[str]) -> None:
    assert judged(tmp_path, names, ["-J jobid_11 -a 1-2", "-J jobid_12 -a 1-2"]) == (4, ())


def test_a_task_is_not_the_job_of_its_number(tmp_path: Path) -> None:
    names = ["jobid_0001", "11_1", "11_2"]
    assert judged(tmp_path, names, ["-J jobid_0001", "-J jobid_11 -a 1-2"]) == (3, ())


def test_names_of_one_number_are_refused_still(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="r1: two jobs have names that end with the same number"):
        judged(tmp_path, ["a_1", "b_1"], ["-J a_1", "-J b_2"])
