"""Nodes that a policy has switched off: known over restarts, and switched on again at a stop.

A controller that is gone switches nothing on, and whoever comes after it should find the machine as
it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from pathlib import Path

from wattline.controller.kept_names import keep_names, kept_names
from wattline.live.slurm.client import Slurm

FILE = "off.json"
WAIT_S = 60.0
"""So long nodes may take to go down that were told to: before, Slurm does not switch them on."""
LOOK_S = 0.5
OFF, GOING = "powered_down", frozenset({"powering_down", "power_down"})


def keep_off(folder: Path, names: Collection[str]) -> None:
    """Note which nodes are off because of us."""
    keep_names(folder / FILE, names)


def kept_off(folder: Path) -> set[str]:
    return kept_names(folder / FILE)


def hand_back(
    slurm: Slurm, names: Collection[str], *, within_s: float = WAIT_S,
    sleep: Callable[[float], None] = time.sleep,
) -> set[str]:
    """Switch these nodes on where they are off; which of them were still going down at the end."""
    left, until_s = set(names), time.monotonic() + within_s
    while left:
        states = {node.name: set(node.states) for node in slurm.look().nodes}
        off = sorted(name for name in left if OFF in states.get(name, ()))
        if off:
            slurm.power(off, on=True)
        left = {name for name in left - set(off) if GOING & states.get(name, set())}
        if time.monotonic() >= until_s:
            break
        if left:
            sleep(LOOK_S)
    return left
