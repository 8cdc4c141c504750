"""Records of a real Slurm enter the ledger: its accounting, and its profiles in HDF5."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

import wattline as wl
from tests.slurm.bedside import slurm, state, submit, truth, until
from wattline.controller.testbed.layout import Bed

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
COLUMNS = ("JobID,JobName,State,Start,End,NNodes,NodeList,AllocTRES,ConsumedEnergyRaw,"
           "Account,User,Partition")


def profiled(bed: Bed, seconds: float, watts: float, nodes: int) -> str:
    job = submit(bed, seconds, watts, "-N", str(nodes), "--profile=energy",
                 "--acctg-freq=energy=1")
    until(lambda: state(bed, job) == "COMPLETED")
    return job


def merged(bed: Bed, job: str, path: Path) -> Path:
    """The files of all nodes in one, by Slurm's own tool."""
    slurm(bed, "sh5util", "-j", job, "-o", str(path))
    return path


def test_a_profile_of_slurmd_gives_the_joules_that_the_emulator_let_the_job_draw(
    bed: Bed, tmp_path: Path
) -> None:
    job, store = profiled(bed, 8.0, 250.0, 2), tmp_path / "site.db"
    dump = tmp_path / "sacct.txt"
    # Without Slurm's own sum, which counts where a profile misses more than a twentieth of a job.
    columns = COLUMNS.replace("AllocTRES,ConsumedEnergyRaw,", "")
    dump.write_text(slurm(bed, "sacct", "-P", "-j", job, "-o", columns) + "\n")
    wl.account_import(dump, store=store, zone="UTC", cluster=bed.cluster)
    found = wl.account_import(merged(bed, job, tmp_path / "job.h5"), store=store, zone="UTC",
                              cluster=bed.cluster)
    assert found.to_dict()["rows"] > 0
    shown = wl.account_job(job, store)
    true_j = truth(bed, job)["energy_j"]
    # A second without a sample at either end of eight is what a profile of 1 Hz can miss.
    assert shown.energy_j == pytest.approx(true_j, rel=0.2)
    assert shown.lives[0]["coverage"] > 0.7
    assert shown.lives[0]["source"] == "series"


def test_json_and_text_of_sacct_enter_the_same_joules(bed: Bed, tmp_path: Path) -> None:
    job = submit(bed, 3.0, 300.0, "-N", "2")
    until(lambda: state(bed, job) == "COMPLETED")
    text, told = tmp_path / "sacct.txt", tmp_path / "sacct.json"
    text.write_text(slurm(bed, "sacct", "-P", "-j", job, "-o", COLUMNS) + "\n")
    told.write_text(slurm(bed, "sacct", "-j", job, "--json"))
    joules = []
    for file in (text, told):
        found = wl.account_import(file, store=tmp_path / f"{file.suffix}.db", zone="UTC",
                                  cluster=bed.cluster)
        joules.append((found.to_dict()["jobs"], found.to_dict()["energy_j"]))
    counted_j = float(slurm(bed, "sacct", "-n", "-X", "-P", "-j", job, "-o", "ConsumedEnergyRaw"))
    assert joules == [(1, counted_j)] * 2


def test_nodes_that_scontrol_shows_enter_with_their_watts(bed: Bed, tmp_path: Path) -> None:
    """Two looks some seconds apart at six idle nodes of 90 W; each stands for the time to the next,
    and the last one for as long."""
    looks, store = [], tmp_path / "site.db"
    for name in ("first", "second"):
        time.sleep(5.0 if looks else 0.0)
        shown = tmp_path / f"{name}.txt"
        looks.append(datetime.now(UTC))
        shown.write_text(slurm(bed, "scontrol", "-o", "show", "node") + "\n")
        wl.account_import(shown, store=store, zone="UTC", cluster=bed.cluster,
                          at=looks[-1].isoformat(timespec="seconds"))
    found = wl.energy_metered(store, energy="1kWh", zone="UTC",
                              start=looks[0].isoformat(timespec="seconds"))
    apart_s = (looks[1] - looks[0]).total_seconds()
    # Slurm brings its own figures up to date every other second, or later.
    assert 0 < found.periods[0].drawn_j < 2 * 6 * 120.0 * (apart_s + 2.0)
