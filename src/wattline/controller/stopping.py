"""How a controller is told to stop, and what it leaves behind then, or where it cannot go on."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from wattline.controller.handing_back import hand_back, keep_off, kept_off
from wattline.controller.lease import hand_over, pass_on_all
from wattline.controller.lent_licences import restore_lent
from wattline.controller.licences import LicenceNet, unattended_w
from wattline.controller.node_power import NodePower
from wattline.controller.passing import turns_of
from wattline.controller.resting import all_nodes_cap_w
from wattline.controller.sharing.licences import allowed_above_w
from wattline.controller.status import note_stop
from wattline.live.slurm.commands import SlurmError
from wattline.model.errors import WattlineError
from wattline.model.units import counted

if TYPE_CHECKING:
    from wattline.controller.configuration import SiteConfig
    from wattline.controller.controller import Controller
    from wattline.controller.modes import ModeKeeper
    from wattline.live.slurm.reading import SlurmJob


@contextmanager
def told_to_stop() -> Iterator[Callable[[], bool]]:
    """Whether a signal asked to stop: the cycle that runs is finished before."""
    asked: list[int] = []
    before = {each: signal.signal(each, lambda number, frame: asked.append(number))
              for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield lambda: bool(asked)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def switch_on(folder: Path, controller: Controller) -> None:
    """Nodes that are off because of us come on again, or are left to Slurm's own power saving."""
    off = controller.watcher.off | kept_off(folder)
    if not off:
        return
    try:
        left = hand_back(controller.slurm, off)
    except SlurmError as error:
        controller.notes.append(f"nodes that were switched off stay off: {error}")
        return
    keep_off(folder, left)
    controller.notes.append(f"{len(off - left)} nodes that were switched off are on again"
                            + (f"; {','.join(sorted(left))} still go down, and Slurm switches them "
                               "on when a job needs them" if left else ""))


def leave(site: SiteConfig, controller: Controller, modes: ModeKeeper) -> None:
    """What becomes of waiting jobs, and of licences, which go on to keep the cap that holds.

    Nobody follows any more which nodes are idle, in whichever mode it was: so many licences stay as
    keep the cap however jobs come and go.
    """
    hands_over = modes.decides and site.when_stopped == "guard"
    if not hands_over and not site.licences:
        return
    cap_w, net = all_nodes_cap_w(controller.books), LicenceNet(controller.slurm.commands)
    seen = restore_lent(controller.slurm, controller.slurm.look().jobs, controller.watcher.written)
    # The net first: once a job is released Slurm may start it at any moment.
    net.allow(_unattended_w(site, seen, cap_w, controller.books.power_w))
    if hands_over:
        pass_on_all(site, controller.slurm, seen, turns_of(controller.books))
    note_stop(Path(site.folder), net.left(), cap_w)


def _unattended_w(
    site: SiteConfig, seen: Sequence[SlurmJob], cap_w: float, drawn_w: float
) -> float:
    if site.parts is not None:
        return allowed_above_w(site.parts, seen, cap_w, drawn_w)
    return unattended_w(seen, NodePower.of(site), cap_w)


@contextmanager
def leaving_to_slurm(site: SiteConfig, controller: Controller, modes: ModeKeeper) -> Iterator[None]:
    """Where a controller that decides cannot go on, as on a full disk, Slurm gets what waits."""
    try:
        yield
    except (WattlineError, OSError) as error:
        if not controller.act or not modes.decides:
            raise
        raise WattlineError(f"{error}; {_left(site, controller)}") from None


def _left(site: SiteConfig, controller: Controller) -> str:
    cap_w = all_nodes_cap_w(controller.books)
    try:
        labels = hand_over(site, controller.slurm, cap_w, turns_of(controller.books))
    except (SlurmError, OSError) as error:
        return f"waiting jobs stay held until the watchdog, or the next start: {error}"
    return (f"{counted(len(labels), 'waiting job')} left to Slurm, with watts as licences under "
            f"{cap_w:,.0f} W")
