"""When nodes of a machine with shared nodes take no jobs: down, drained, in maintenance."""

from __future__ import annotations

from dataclasses import dataclass

from wattline.shared_nodes.machine import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Outages:
    """One row per node and span of time, in order of `start_s`."""

    node: IntArray
    """Row of the machine's nodes."""
    start_s: FloatArray
    end_s: FloatArray
    """inf for a node that does not come back."""
    drain: BoolArray
    """Whether what runs there may end (drained); else it is lost at once (down)."""
