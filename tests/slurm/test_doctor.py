"""The doctor on a real Slurm: content with a bed, and naming what is broken there."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.slurm.bedside import slurm, until
from tests.slurm.pace import Pace
from wattline.controller.configuration import read_configuration
from wattline.controller.doctor import slurm as asked_slurm
from wattline.controller.doctor.asking import doctor
from wattline.controller.serving import serving
from wattline.controller.testbed.layout import Bed
from wattline.model.errors import InputError

SITE = """nodes = "n[0001-0006]"
node_idle_w = 90
node_active_w = 300
cap = 1300
slurm_conf = "{bed}/etc/slurm.conf"
folder = "controller"
"""


@pytest.fixture
def site(bed: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", bed.path)
    file = tmp_path / "site.toml"
    file.write_text(SITE.format(bed=bed.folder))
    return file


def wrong(site: Path, clock: Callable[[], float] = time.time) -> list[str]:
    found = doctor(site, clock=clock)
    assert all(check.mend for check in found if not check.ok)
    return [check.name for check in found if not check.ok and check.must]


@contextmanager
def configured(bed: Bed, old: str, new: str) -> Iterator[None]:
    before = bed.configuration.read_text()
    assert old in before
    try:
        bed.configuration.write_text(before.replace(old, new))
        slurm(bed, "scontrol", "reconfigure")
        yield
    finally:
        bed.configuration.write_text(before)
        slurm(bed, "scontrol", "reconfigure")
        until(lambda: "UP" in slurm(bed, "scontrol", "ping"))


def test_nothing_that_is_needed_is_missing_on_a_bed(site: Path) -> None:
    assert wrong(site) == []


def test_options_that_are_taken_away_are_named(bed: Bed, site: Path) -> None:
    with configured(bed, ",bf_licenses", ""):
        assert wrong(site) == ["backfill by licences"]
    with configured(bed, "Licenses=watts:", "Licenses=matlab:"):
        assert wrong(site) == ["licences of watts"]
    assert wrong(site) == []


def test_a_partition_that_shares_nodes_is_named(bed: Bed, site: Path) -> None:
    slurm(bed, "scontrol", "update", "partitionname=batch", "OverSubscribe=NO")
    try:
        assert wrong(site) == ["whole nodes"]
    finally:
        slurm(bed, "scontrol", "update", "partitionname=batch", "OverSubscribe=EXCLUSIVE")


def test_a_partition_of_slurms_that_shares_our_nodes_is_said(bed: Bed, site: Path) -> None:
    site.write_text(f'{site.read_text()}partitions = ["batch"]\n')
    slurm(bed, "scontrol", "create", "PartitionName=other", "Nodes=n0006", "OverSubscribe=NO")
    try:
        assert wrong(site) == []
        found, = (check.found for check in doctor(site) if check.name == "whole nodes")
        assert found == "jobs share nodes of the site in other, which is left to Slurm"
    finally:
        slurm(bed, "scontrol", "delete", "PartitionName=other")


def test_another_name_than_slurms_is_named_and_keeps_a_controller_from_starting(
    bed: Bed, site: Path
) -> None:
    site.write_text(f'{site.read_text()}cluster = "{bed.cluster}"\n')
    assert wrong(site) == []
    with serving(read_configuration(site), act=True) as here:
        assert not [line for line in here.cycle().remarks if "cluster" in line]
    site.write_text(site.read_text().replace(f'"{bed.cluster}"', '"other"'))
    assert wrong(site) == ["cluster"]
    with (pytest.raises(InputError, match=f"Slurm's ClusterName is '{bed.cluster}'"),
          serving(read_configuration(site), act=True)):
        pass


def test_clocks_that_differ_are_named(site: Path) -> None:
    assert wrong(site, clock=lambda: time.time() - 60) == ["clocks"]


def test_an_accounting_that_gives_no_answer_is_named(
    bed: Bed, site: Path, monkeypatch: pytest.MonkeyPatch, pace: Pace
) -> None:
    # Nobody else is waited for as long.
    monkeypatch.setattr(asked_slurm, "PATIENCE_S", 4.0 * pace.now)
    pid = int((bed.pids / "slurmdbd").read_text())
    os.kill(pid, signal.SIGSTOP)
    try:
        assert wrong(site) == ["slurmdbd"]
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_munge_that_is_gone_is_named(
    bed: Bed, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slurm's own commands need it too, so a program in its place says that it cannot sign."""
    broken = tmp_path / "munge"
    broken.write_text("#!/bin/sh\necho 'munge: Error: failed to connect' >&2\nexit 6\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{bed.path}")
    assert wrong(site) == ["munge"]
