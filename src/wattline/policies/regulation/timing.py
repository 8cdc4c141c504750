"""When the next control cycle is due."""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.policies.regulation.desk import Desk
from wattline.policies.state import State


@kernel
def next_cycle_s(st: State, desk: Desk) -> float:
    """Seconds to the next cycle; infinite once the contract has ended."""
    control = desk.control[0]
    now_s = st.clock[0].now_s
    if now_s >= control.end_s - 1e-9:
        return float("inf")
    if now_s < control.start_s - 1e-9:
        return float(control.start_s - now_s)
    # Counted from the start, so that a fraction of a second does not pile up.
    done = int((now_s - control.start_s) / control.cycle_s + 0.5)
    return float(control.start_s + (done + 1) * control.cycle_s - now_s)
