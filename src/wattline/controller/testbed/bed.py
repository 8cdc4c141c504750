"""A bed goes up, is looked at, and comes down."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wattline.controller.testbed.configuration import write_all
from wattline.controller.testbed.daemons import Daemons, missing_programs
from wattline.controller.testbed.layout import Bed, NodePower, lay_out
from wattline.controller.testbed.other_slurm import remove_traces, root_of, write_commands
from wattline.controller.testbed.own_site import write_site
from wattline.model.errors import InputError, WattlineError

USUAL_FOLDER = Path(tempfile.gettempdir()) / "wattline-bed"


@dataclass(frozen=True)
class BedStatus:
    """What runs of a bed, and what Slurm says of it."""

    bed: Bed
    daemons: dict[str, bool]
    """Whether each runs, by name."""
    nodes: dict[str, str]
    """The state of each node, as Slurm has it; empty where it does not answer."""
    jobs: int | None
    """Jobs in the queue; None where Slurm does not answer."""

    @property
    def up(self) -> bool:
        return bool(self.daemons) and all(self.daemons.values()) and bool(self.nodes)


def bring_up(
    folder: Path, nodes: int, *, cores: int = 32,
    power: NodePower | None = None, slurm: str = "", say: Callable[[str], None] = lambda _: None,
) -> Bed:
    """Make a bed in a folder that is not there yet, and start it; a failed start leaves nothing.

    `slurm` is the version, where it is not to be the machine's own.
    """
    bed = lay_out(folder, nodes, cores=cores, power=power, root=root_of(slurm))
    check_machine()
    write_all(bed)
    write_commands(bed)
    write_site(bed)
    daemons = Daemons(bed)
    try:
        daemons.start(say)
    except (WattlineError, OSError, subprocess.SubprocessError, KeyboardInterrupt):
        daemons.stop()
        raise
    return bed


def take_down(folder: Path = USUAL_FOLDER, *, keep: bool = False) -> list[str]:
    """Stop a bed, and remove its folder unless it is to be kept; which daemons had gone before."""
    bed = Bed.open(folder)
    daemons = Daemons(bed)
    gone = [name for name, runs in daemons.running().items() if not runs]
    daemons.stop()
    remove_traces(bed)
    if not keep:
        shutil.rmtree(bed.folder)
    return gone


def status(folder: Path = USUAL_FOLDER) -> BedStatus:
    bed = Bed.open(folder)
    nodes = dict(line.split()[:2] for line in asked(bed, "sinfo", "-h", "-N", "-o", "%N %T")
                 if len(line.split()) >= 2)
    queue = asked(bed, "squeue", "-h", "-o", "%i") if nodes else None
    return BedStatus(bed, Daemons(bed).running(), nodes, None if queue is None else len(queue))


def asked(bed: Bed, *command: str) -> list[str]:
    """The lines that a command of this bed's Slurm prints; none where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30,
                              env={**os.environ, **bed.environment})
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def check_machine() -> None:
    missing = missing_programs()
    if missing:
        raise InputError(f"a test bed needs the Debian packages {', '.join(missing)}: apt-get "
                         f"install --no-install-recommends {' '.join(missing)}")
    if os.geteuid() != 0:
        raise InputError("a test bed needs root: each of its slurmd has mounts of its own")
