"""Daemons of a bed are ended by their pids, and nobody else is, whoever has their numbers now."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wattline.controller.testbed import daemons as daemons_module
from wattline.controller.testbed.daemons import Daemons
from wattline.controller.testbed.layout import Bed

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    made = Bed(tmp_path, 2, 21_000)
    made.pids.mkdir()
    return made


@pytest.fixture
def start() -> Iterator[Start]:
    """Processes that wait for their end, with this of their environment."""
    begun: list[subprocess.Popen[bytes]] = []

    def begin(*before: str, **more: str) -> subprocess.Popen[bytes]:
        begun.append(subprocess.Popen([*before, "sleep", "60"], env={**os.environ, **more}))
        return begun[-1]

    yield begin
    for process in begun:
        process.kill()
        process.wait()


def end(daemons: Daemons, how: str) -> None:
    {"kill": lambda: daemons.kill("slurmctld"), "halt": lambda: daemons.halt("slurmctld"),
     "stop": daemons.stop}[how]()


@pytest.mark.parametrize("how", ["kill", "halt", "stop"])
@pytest.mark.parametrize("ours", [True, False])
def test_a_number_that_somebody_else_has_now_is_nobodys_of_the_bed(
    bed: Bed, start: Start, how: str, ours: bool
) -> None:
    other = bed.folder.parent / f"{bed.folder.name}-2"
    process = start(SLURM_CONF=f"{bed.folder if ours else other}/etc/slurm.conf")
    (bed.pids / "slurmctld").write_text(f"{process.pid}\n")
    daemons = Daemons(bed)
    assert daemons.running() == {"slurmctld": ours}
    end(daemons, how)
    assert (process.poll() is not None) == ours


@pytest.mark.parametrize("how", ["kill_node", "stop"])
def test_a_node_that_is_made_while_another_ends_stays(
    bed: Bed, start: Start, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would get the number of a namespace that is gone."""
    if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
        pytest.skip("no namespace can be made here")
    apart = ("unshare", "-m", "--propagation", "private")
    gone = start(*apart, SLURM_CONF=str(bed.configuration))
    own = os.readlink("/proc/self/ns/mnt")
    while os.readlink(f"/proc/{gone.pid}/ns/mnt") == own:
        time.sleep(0.01)
    (bed.pids / "slurmd.n0001").write_text(f"{gone.pid}\n")
    made: list[subprocess.Popen[bytes]] = []
    looks: list[int] = []
    pids = daemons_module._pids

    def look() -> list[int]:
        """As soon as the node has ended, one of another bed begins."""
        looks.append(len(looks))
        if not made and (how == "stop" or len(looks) > 1):
            gone.wait()
            made.append(start(*apart))
            while os.readlink(f"/proc/{made[0].pid}/ns/mnt") == own:
                time.sleep(0.01)
        return pids()

    monkeypatch.setattr(daemons_module, "_pids", look)
    daemons = Daemons(bed)
    daemons.stop() if how == "stop" else daemons.kill_node("n0001")
    assert made
    assert gone.returncode is not None
    assert made[0].poll() is None
