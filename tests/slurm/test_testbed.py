"""A real Slurm with emulated power: what jobs draw is what Slurm and the emulator count."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wattline.controller.testbed.bed import bring_up, status, take_down
from wattline.controller.testbed.daemons import missing_programs
from wattline.controller.testbed.layout import Bed

if missing_programs() or os.geteuid() != 0:
    pytest.skip("needs root and the Debian packages of Slurm: " + ", ".join(missing_programs()),
                allow_module_level=True)


@pytest.fixture(scope="module")
def bed() -> Iterator[Bed]:
    folder = Path(tempfile.mkdtemp(prefix="bed"))
    folder.rmdir()
    made = bring_up(folder, nodes=4)
    yield made
    take_down(folder)
    shutil.rmtree(folder, ignore_errors=True)


def slurm(bed: Bed, *command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30,
                          env={**os.environ, **bed.environment})
    return done.stdout.strip()


def submit(bed: Bed, seconds: float, watts: float, *options: str) -> str:
    return slurm(bed, "sbatch", "--parsable", "-o", "/dev/null", *options,
                 str(bed.folder / "job.sh"), str(seconds), str(watts))


def until(ready: Callable[[], bool], within_s: float = 30.0) -> None:
    until_s = time.monotonic() + within_s
    while not ready():
        assert time.monotonic() < until_s, "it did not happen"
        time.sleep(0.1)


def state(bed: Bed, job: str) -> str:
    return slurm(bed, "sacct", "-n", "-X", "-P", "-j", job, "-o", "State").split(" ")[0]


def runs(bed: Bed, job: str) -> bool:
    """By the controller, which knows at once; accounting may be seconds late."""
    return slurm(bed, "squeue", "-h", "-j", job, "-o", "%T") == "RUNNING"


def truth(bed: Bed, job: str) -> dict:
    lines = (bed.logs / "emulator.jsonl").read_text().splitlines()
    found = [said for said in map(json.loads, lines) if said.get("job") == f"{job}.0"]
    return found[0] if found else {}


def test_slurm_counts_the_joules_that_the_emulator_lets_jobs_draw(bed: Bed) -> None:
    jobs = [submit(bed, 5.0, 250.0, "-N", "2"), submit(bed, 3.0, 350.0, "-N", "1")]
    until(lambda: all(state(bed, job) == "COMPLETED" for job in jobs))
    for job, expected_j in zip(jobs, (2 * 5.0 * 250.0, 3.0 * 350.0), strict=True):
        counted_j = float(slurm(bed, "sacct", "-n", "-X", "-P", "-j", job, "-o",
                                "ConsumedEnergyRaw"))
        assert truth(bed, job)["energy_j"] == pytest.approx(expected_j, rel=0.05)
        # Slurm reads the counters every other second, and once at the end.
        assert counted_j == pytest.approx(truth(bed, job)["energy_j"], rel=0.15)


def test_a_cancelled_job_draws_no_more(bed: Bed) -> None:
    job = submit(bed, 600.0, 300.0, "-N", "3")
    until(lambda: runs(bed, job))
    slurm(bed, "scancel", job)
    until(lambda: bool(truth(bed, job)))
    assert not truth(bed, job)["done"]
    until(lambda: (bed.logs / "emulator.jsonl").read_text().splitlines()[-1].find(
        '"power_w": 360.0') >= 0)


def test_a_suspended_job_makes_no_progress(bed: Bed) -> None:
    job = submit(bed, 6.0, 200.0, "-N", "1")
    until(lambda: runs(bed, job))
    until((bed.work / f"{job}.0").exists)
    time.sleep(1.0)
    slurm(bed, "scontrol", "suspend", job)
    time.sleep(7.0)
    assert not truth(bed, job)
    slurm(bed, "scontrol", "resume", job)
    until(lambda: state(bed, job) == "COMPLETED")
    assert truth(bed, job)["end_s"] - truth(bed, job)["start_s"] > 11.0


def test_the_status_of_a_bed_says_what_is_gone(bed: Bed) -> None:
    assert status(bed.folder).up
    assert len(status(bed.folder).nodes) == 4
    assert status(bed.folder).daemons["slurmctld"]
