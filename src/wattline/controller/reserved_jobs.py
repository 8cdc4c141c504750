"""Jobs for a reservation of Slurm's (`--reservation`): Slurm starts them on its nodes.

For the books such nodes take no jobs, and neither do they know whose they are; a twin's rules are
not asked either. So these jobs stand in no queue: each is released once its reservation holds,
enough of its nodes, or of their CPUs, are free and the cap has room for its watts. Slurm alone
decides which nodes it gets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from wattline.controller.beginning import Obstacle
from wattline.controller.nodes_seen import NodesSeen
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import WAITING, WATTS, SlurmJob

if TYPE_CHECKING:
    from wattline.controller.controller import Controller
    from wattline.controller.watching import Watcher


def kept_by_reservation(watcher: NodesSeen, job: SlurmJob) -> Obstacle | None:
    """What a job waits for that has a reservation, beside watts; None: nothing."""
    names = job.reservation.split(",")
    known = [each for each in watcher.reservations if each.name in names]
    if not known:
        return Obstacle("reservation", f"it is for the reservation {job.reservation}, which Slurm "
                        "does not have: change that (scontrol update, ReservationName=)")
    now = [each for each in known if each.holds(watcher.looked_s)]
    if not now:
        at = datetime.fromtimestamp(min(each.start_s for each in known), UTC)
        return Obstacle("reservation", f"its reservation {job.reservation} begins at "
                        f"{at:%Y-%m-%d %H:%M:%S} UTC")
    nodes = frozenset().union(*(each.nodes for each in now))
    lacks = watcher.lacks(job, nodes) if nodes else ""
    return Obstacle("nodes", f"it waits for nodes: {lacks}") if lacks else None


def coming_w(watcher: Watcher) -> float:
    """What jobs for reservations will add that were released and do not run yet: no books have
    it."""
    return sum(watcher.adds_w(job) for job in watcher.seen
               if job.reservation and job.state in WAITING and not job.held
               and job.label in watcher.freed)


def let_in(controller: Controller, jobs: Sequence[SlurmJob], left_w: float) -> list[str]:
    """Release those of these jobs for which the cap has room; what is said of it.

    `left_w` is what the cap leaves above all that runs, or was told to.
    """
    said: list[str] = []
    watcher = controller.watcher
    room_w = left_w - coming_w(watcher) if jobs else 0.0
    for job in jobs:
        adds_w = watcher.adds_w(job)
        if adds_w > room_w:
            watcher.obstacles[job.label] = Obstacle(
                "watts", f"it waits for watts: on the nodes of its reservation {job.reservation} "
                f"it adds {adds_w:,.0f} W, and the cap leaves {max(room_w, 0.0):,.0f} W")
            continue
        room_w -= adds_w
        watcher.obstacles[job.label] = Obstacle(
            "reservation", f"Slurm is to start it on nodes of its reservation {job.reservation}")
        said += _release(controller, job)
    return said


def _release(controller: Controller, job: SlurmJob) -> list[str]:
    if not controller.act:
        said_before = (controller.watcher.kept_before.get(job.label)
                       == controller.watcher.obstacles[job.label])
        return [] if said_before else [f"would let Slurm start {job.label} in its reservation "
                                       f"{job.reservation}"]
    slurm, watcher = controller.slurm, controller.watcher
    try:
        if controller.hands.licences and WATTS not in job.licenses:
            slurm.license(job, math.ceil(watcher.all_w(job) - 1e-9))
        slurm.release(job.label, anywhere=watcher.names_nodes(job))
    except SlurmError as error:  # the next look tells whether it is still held
        return [str(error)]
    watcher.freed.add(job.label)
    return [f"job {job.label} goes to Slurm: it is for the reservation {job.reservation}"]
