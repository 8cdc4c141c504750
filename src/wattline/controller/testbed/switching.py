"""Nodes of a bed go off and on: what Slurm's SuspendProgram and ResumeProgram do."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from wattline.controller.testbed.daemons import Daemons
from wattline.controller.testbed.emulator import OFF
from wattline.controller.testbed.layout import Bed
from wattline.model.units import parse_hosts


def switch(folder: Path, on: bool, hosts: str) -> None:
    """Stop or start the slurmd of nodes, and let them draw accordingly."""
    # Slurm runs its programs with signals blocked, and a slurmd would inherit that.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    bed = Bed.open(folder)
    daemons = Daemons(bed)
    for name in parse_hosts(hosts):
        mark = bed.meters / name / OFF
        if on:
            mark.unlink(missing_ok=True)
            daemons.start_node(name)
        else:
            daemons.halt(f"slurmd.{name}")
            mark.touch()


if __name__ == "__main__":
    switch(Path(sys.argv[1]), sys.argv[2] == "up", sys.argv[3])
