"""Units that are in order, when some are not, and entries that need more of them."""

from __future__ import annotations

from wattline.model.kernel import kernel, kernel_part
from wattline.policies.contract import Composition, least_units
from wattline.policies.state import State


@kernel
def units_in_order(st: State) -> int:
    """Units that are not out of order now: on, off or between; jobs may still hold broken ones."""
    clock = st.clock[0]
    return int(clock.units - clock.down)


@kernel
def units_to_count_on(st: State) -> int:
    """Units that jobs can have before any is repaired: those that fail under a job go with it."""
    clock = st.clock[0]
    return int(clock.units - clock.down - clock.down_owed)


@kernel_part
def lacks_units(st: State, policy: Composition, position: int) -> bool:
    """Say whether a queue entry needs more units than are in order: only a repair lets it start."""
    clock = st.clock[0]
    if clock.down + clock.down_owed == 0:
        return False
    entry = st.queue[position]
    least = least_units(st, policy.configuration, entry.job, entry.units)
    return bool(least > units_to_count_on(st))
