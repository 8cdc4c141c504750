"""A run at one time: what the machine drew, and how many of its nodes were off."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from wattline.model.errors import InputError
from wattline.model.run import EventKind, Run


def at_time(run: Run, at_s: float) -> tuple[float, int]:
    """Power at a time of a run, and how many nodes were off then."""
    log = run.events
    place = int(np.searchsorted(log.time_s, at_s, side="right")) - 1
    if place < 0 or at_s > run.end_s:
        raise InputError(f"--at {at_s:g} s lies outside of the run, which goes from "
                         f"{run.start_s:g} s to {run.end_s:g} s")
    node = np.flatnonzero((log.kind == EventKind.NODE) & (np.arange(len(log)) <= place))
    kind = run.machine.groups[0].node_class
    off = nodes_off(zip(log.time_s[node].tolist(), log.value[node].tolist(), strict=True),
                     kind.shutdown_s, kind.boot_s)
    return float(log.power_w[place]), off


def nodes_off(switched: Iterable[tuple[float, float]], shutdown_s: float, boot_s: float) -> int:
    """Nodes that are off after these events: each change is logged as it begins and when done.

    A node counts as off from the end of its shutdown to the beginning of its boot.
    """
    off = 0.0
    ends: dict[bool, list[float]] = {True: [], False: []}
    for time_s, nodes in switched:
        down = nodes < 0
        done = bool(ends[down]) and math.isclose(ends[down][0], time_s, abs_tol=1e-6)
        if done:
            ends[down].pop(0)
        else:
            ends[down].append(time_s + (shutdown_s if down else boot_s))
        if done == down:
            off -= nodes
    return int(off)
