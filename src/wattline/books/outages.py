"""Units that are out of order, and come back."""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.policies.state import NODE_BLOCK, PLAN_STALE, State


@kernel
def units_down(st: State, node: int, units: int) -> None:
    """Units are out of order; those that jobs hold will be when the jobs have ended.

    `node` is the one that it is about where nodes are chosen, else -1 and `units` counts them.
    """
    clock = st.clock[0]
    clock.replan = PLAN_STALE
    clock.examined = 0
    if node < 0:
        clock.down_owed += units
        pay_down(st)
    elif not st.node_down[node]:
        st.node_down[node] = 1
        clock.down_owed += 1
        pay_down(st)


@kernel
def units_up(st: State, node: int, units: int) -> None:
    clock = st.clock[0]
    clock.replan = PLAN_STALE
    clock.examined = 0
    if node < 0:
        busy = min(units, clock.down_owed)
        clock.down_owed -= busy
        _come_back(st, units - busy, clock.idle_w)
    elif st.node_down[node]:
        st.node_down[node] = 0
        if st.node_out[node]:
            st.node_out[node] = 0
            st.node_free[node] = 1
            st.free_in_block[node // NODE_BLOCK] += 1
            _come_back(st, 1, _idle_w(st, node))
            if clock.down_owed > 0:
                pay_down(st)  # others failed while reservations had all that was free
        else:
            clock.down_owed -= 1  # a job holds it still


@kernel
def pay_down(st: State) -> None:
    """Take free units out that are out of order."""
    clock = st.clock[0]
    clock.replan = PLAN_STALE
    if st.nodes.size == 0:
        units = min(clock.free, clock.down_owed)
        _go_out(st, units, clock.idle_w)
        return
    for node in range(st.node_down.size):
        if st.node_down[node] and st.node_free[node] and clock.free > 0:
            st.node_free[node] = 0
            st.node_out[node] = 1
            st.free_in_block[node // NODE_BLOCK] -= 1
            _go_out(st, 1, _idle_w(st, node))


@kernel
def _idle_w(st: State, node: int) -> float:
    if st.kinds.size < 2:
        return float(st.clock[0].idle_w)
    return float(st.kinds[st.nodes[node].kind].idle_w)


@kernel
def _go_out(st: State, units: int, idle_w: float) -> None:
    clock = st.clock[0]
    clock.free -= units
    clock.down += units
    clock.down_owed -= units
    clock.power_w += units * (clock.off_w - idle_w)


@kernel
def _come_back(st: State, units: int, idle_w: float) -> None:
    clock = st.clock[0]
    clock.free += units
    clock.down -= units
    clock.power_w += units * (idle_w - clock.off_w)
