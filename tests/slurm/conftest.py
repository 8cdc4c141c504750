"""One bed for all tests against Slurm of a worker; they skip with the reason where it cannot be."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from tests.slurm.bedside import STARTED, cap_w, runs, slurm, submit, until
from tests.slurm.pace import Pace
from wattline.controller.configuration import read_configuration
from wattline.controller.licences import LicenceNet
from wattline.controller.serving import fleet_of
from wattline.controller.testbed.bed import bring_up, take_down
from wattline.controller.testbed.daemons import Daemons, missing_programs
from wattline.controller.testbed.layout import Bed
from wattline.live.slurm.commands import Commands


@pytest.fixture(scope="session")
def bed() -> Iterator[Bed]:
    missing = missing_programs()
    if missing or os.geteuid() != 0:
        pytest.skip(f"needs root and the Debian packages {', '.join(missing) or 'of Slurm'}")
    # Not pytest's folder: the names of sockets may have 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="bed"))
    folder.rmdir()
    with one_at_a_time():
        made = bring_up(folder, nodes=6, slurm=os.environ.get("WATTLINE_TEST_SLURM", ""))
    os.environ["PATH"] = made.path  # commands that tests start find a Slurm of another version
    yield made
    slurm(made, "scancel", "-p", "batch")  # what the last test left would keep all nodes for long
    running = submit(made, 600, 200, "-N", "1", "-t", "20")
    until(lambda: runs(made, running))
    take_down(folder)
    shutil.rmtree(folder, ignore_errors=True)
    assert not processes_of(folder), "a bed that is taken down leaves no job behind"


@pytest.fixture(scope="session")
def pace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pace]:
    made = Pace(tmp_path_factory.mktemp("pace") / "seconds")
    yield made
    made.close()


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Workers begin in the same second: ports that one has chosen are free until it is up."""
    with Path(tempfile.gettempdir(), "wattline-beds.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def processes_of(folder: Path) -> list[str]:
    """The commands of those that name it."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(place.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return [command for command in found if f"{folder}/" in command]


@pytest.fixture(autouse=True)
def empty(bed: Bed) -> Iterator[None]:
    """Jobs of other tests are gone, and so are their controllers and what these left: the cap, and
    the journal of the bed's own one."""
    slurm(bed, "scancel", "-p", "batch")
    shutil.rmtree(bed.folder / "controller", ignore_errors=True)
    until(lambda: not slurm(bed, "squeue", "-h"))
    # One node that the last test lost is not to fail all that follow; it is told all the same.
    daemons = Daemons(bed)
    for name, said in daemons.resume(bed.names).items():
        warnings.warn(f"{name} was {said}", stacklevel=1)
    until(lambda: not daemons.away())
    yield
    while STARTED:
        process = STARTED.pop()
        process.kill()
        process.communicate()
    LicenceNet(Commands(bed.environment)).lift()
    lift_caps(bed)


def lift_caps(bed: Bed) -> None:
    """Return those that a controller left to its nodes because its jobs needed them."""
    if {cap_w(bed, name) for name in bed.names} == {bed.power.maximum_w}:
        return
    fleet = fleet_of(read_configuration(bed.folder / "site.toml"), act=True)
    assert fleet is not None
    with closing(fleet):
        until(lambda: fleet.connected)
        fleet.restore()
        until(lambda: {cap_w(bed, name) for name in bed.names} == {bed.power.maximum_w})
