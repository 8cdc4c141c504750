"""How many units there are when some are out of order."""

from __future__ import annotations

from wattline.model.kernel import kernel
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
