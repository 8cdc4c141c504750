"""A real Slurm with emulated power: what jobs draw is what Slurm and the emulator count."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request

import pytest

from tests.slurm.bedside import runs, slurm, state, submit, truth, until
from tests.slurm.test_serving import drawn_w
from wattline.controller.testbed.bed import status
from wattline.controller.testbed.daemons import Daemons
from wattline.controller.testbed.layout import Bed


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
    until(lambda: drawn_w(bed) == 3 * 300.0 + 3 * 90.0)  # the emulator has seen it
    slurm(bed, "scancel", job)
    until(lambda: bool(truth(bed, job)))
    assert not truth(bed, job)["done"]
    until(lambda: (bed.logs / "emulator.jsonl").read_text().splitlines()[-1].find(
        '"power_w": 540.0') >= 0)


def test_a_suspended_job_makes_no_progress(bed: Bed) -> None:
    """It is as much later as it was suspended; what it draws says when the emulator knows of it."""
    work_s, aside_s = 12.0, 4.0
    job = submit(bed, work_s, 200.0, "-N", "1")
    until(lambda: drawn_w(bed) == 200.0 + 5 * 90.0)
    slurm(bed, "scontrol", "suspend", job)
    until(lambda: drawn_w(bed) == 6 * 90.0)
    assert not truth(bed, job), "it was suspended before its work was done"
    time.sleep(aside_s)
    slurm(bed, "scontrol", "resume", job)
    until(lambda: state(bed, job) == "COMPLETED")
    assert truth(bed, job)["done"]
    assert truth(bed, job)["end_s"] - truth(bed, job)["start_s"] >= work_s + aside_s


def test_the_status_of_a_bed_says_what_is_gone(bed: Bed) -> None:
    assert status(bed.folder).up
    assert len(status(bed.folder).nodes) == 6
    assert status(bed.folder).daemons["slurmctld"]


def test_slurms_rest_interface_answers_who_has_a_token(bed: Bed) -> None:
    if not Daemons(bed).has_rest:
        pytest.skip("needs the Debian package slurmrestd, and the machine's own Slurm")
    token = slurm(bed, "scontrol", "token", "lifespan=60").removeprefix("SLURM_JWT=")
    asked = urllib.request.Request(
        f"http://127.0.0.1:{bed.rest_port}/slurm/v0.0.38/nodes",
        headers={"X-SLURM-USER-NAME": "root", "X-SLURM-USER-TOKEN": token})
    with urllib.request.urlopen(asked, timeout=20) as answer:
        said = json.load(answer)
    assert said["errors"] == []
    assert {node["name"] for node in said["nodes"]} == set(bed.names)
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(asked.full_url, timeout=20)
