"""What the machine would draw, against the cap."""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.policies.state import State

TOLERANCE = 1e-9
"""Relative slack in comparisons with a cap, for sums of many floats."""


@kernel
def within_cap(st: State, job: int) -> bool:
    """Whether the machine stays under the cap with this job at the current level."""
    clock = st.clock[0]
    live = st.live[job]
    added_w = live.watts * clock.power_factor - live.units * clock.idle_w
    return bool(clock.power_w + added_w <= clock.cap_w * (1.0 + TOLERANCE))
