"""Guard mode on shared nodes: jobs that were submitted held get their licences and go to Slurm."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from wattline.controller.sharing.watching import SharedWatcher
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import WATTS, SlurmJob

if TYPE_CHECKING:
    from wattline.controller.controller import Controller


def let_go(controller: Controller, jobs: Iterable[SlurmJob]) -> None:
    """Give held jobs of ours their licences and release them: Slurm starts them when there are
    enough."""
    watcher = controller.watcher
    assert isinstance(watcher, SharedWatcher)
    for job in jobs:
        watts = math.ceil(watcher.asked_w(job) - 1e-9)
        try:
            if WATTS not in job.licenses:
                controller.slurm.license(job, watts)
            controller.slurm.commands.run("scontrol", "release", job.label)
        except SlurmError as error:  # its user may have cancelled it: the next look will tell
            controller.notes.append(str(error))
            continue
        controller.notes.append(f"job {job.label} goes to Slurm with {watts} W as licences")
