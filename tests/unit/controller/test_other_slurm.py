"""A bed with a Slurm of another version: where it lies, and how its programs are found."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.other_slurm import (
    PROGRAMS,
    machine_version,
    remove_traces,
    root_of,
    write_commands,
)
from wattline.model.errors import InputError


def test_a_version_that_is_not_there_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATTLINE_SLURM", str(tmp_path))
    with pytest.raises(InputError, match="scripts/install-slurm24"):
        root_of("24.99")
    assert root_of("") == ""
    if machine_version():
        assert root_of(machine_version()) == ""
    (tmp_path / "slurm-24.99/usr/sbin").mkdir(parents=True)
    (tmp_path / "slurm-24.99/usr/sbin/slurmctld").touch()
    assert root_of("24.99") == str(tmp_path / "slurm-24.99")


def test_its_programs_are_found_before_those_of_the_machine(tmp_path: Path) -> None:
    folder, root = tmp_path / "bed", tmp_path / "root"
    folder.mkdir()
    bed = Bed(folder, 2, 30000, root=str(root))
    write_commands(bed)
    for name in PROGRAMS:
        assert shutil.which(name, path=bed.environment["PATH"]) == str(folder / "bin" / name)
    assert Path(f"{root}{folder}").is_dir()  # where the bed is shown to them
    bed.save()
    assert Bed.open(folder) == bed
    remove_traces(bed)
    assert not Path(f"{root}{folder}").exists()


def test_a_bed_with_the_machines_own_slurm_has_no_programs(tmp_path: Path) -> None:
    bed = Bed(tmp_path, 2, 30000)
    write_commands(bed)
    assert not bed.programs.exists()
    assert "PATH" not in bed.environment
