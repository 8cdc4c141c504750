"""Units that are switched off and on; where nodes are chosen, which ones.

Nodes may be marked in `scratch_nodes` as those that a waiting job is to have: they are switched on
first, and off last. Nodes that begin to boot or to shut down together are a batch. Its number is
that of one of its nodes and one more: a node is in one batch at a time, so no two have the same.
The timer names the batch; where units are only counted, it counts them.
"""

from __future__ import annotations

from wattline.books.log import NO_JOB, NODE, log_event
from wattline.books.outages import pay_down
from wattline.books.record import Record
from wattline.books.timers import NODES_OFF, NODES_ON, push_timer
from wattline.model.kernel import kernel
from wattline.policies.state import ACT_UP, NODE_BLOCK, NODE_OFF, PLAN_STALE, State


@kernel
def power_down(st: State, record: Record, units: int, marked: bool) -> int:
    """Free units begin to shut down; their batch, or 0 where units are only counted."""
    clock = st.clock[0]
    units = min(units, clock.free)
    clock.free -= units
    clock.changing += units
    clock.changing_w += units * clock.halt_w
    clock.power_w += units * (clock.halt_w - clock.idle_w)
    clock.replan = PLAN_STALE
    batch = _last_free(st, units, marked)
    arg = batch if st.nodes.size > 0 else units
    push_timer(st, record.meter[0].timers, clock.now_s + clock.halt_s, NODES_OFF, arg)
    record.meter[0].timers += 1
    log_event(st, record, NODE, NO_JOB, float(-units))
    return batch


@kernel
def power_up(st: State, record: Record, units: int, marked: bool) -> int:
    """Units that are off begin to boot; their batch, or 0 where units are only counted."""
    clock = st.clock[0]
    units = min(units, clock.off)
    clock.off -= units
    clock.changing += units
    clock.changing_w += units * clock.boot_w
    clock.power_w += units * (clock.boot_w - clock.off_w)
    clock.below_idle_w += units * max(clock.idle_w - clock.boot_w, 0.0)
    batch = _first_off(st, units, marked)
    arg = batch if st.nodes.size > 0 else units
    push_timer(st, record.meter[0].timers, clock.now_s + clock.boot_s, NODES_ON, arg)
    record.meter[0].timers += 1
    log_event(st, record, NODE, NO_JOB, float(units))
    return batch


@kernel
def nodes_off(st: State, record: Record, arg: int) -> None:
    """Units have shut down."""
    clock = st.clock[0]
    units = _arrive(st, arg, NODE_OFF) if st.nodes.size > 0 else arg
    clock.changing -= units
    clock.changing_w -= units * clock.halt_w
    clock.off += units
    clock.power_w += units * (clock.off_w - clock.halt_w)
    clock.examined = 0  # power fell: a job that waits for watts may have them now
    log_event(st, record, NODE, NO_JOB, float(-units))


@kernel
def nodes_on(st: State, record: Record, arg: int) -> None:
    """Units have booted."""
    clock = st.clock[0]
    units = _arrive(st, arg, 0) if st.nodes.size > 0 else arg
    clock.changing -= units
    clock.changing_w -= units * clock.boot_w
    clock.free += units
    clock.power_w += units * (clock.idle_w - clock.boot_w)
    clock.below_idle_w -= units * max(clock.idle_w - clock.boot_w, 0.0)
    clock.examined = 0
    clock.replan = PLAN_STALE
    log_event(st, record, NODE, NO_JOB, float(units))
    if clock.down_owed > 0:
        pay_down(st)


@kernel
def nodes_again(st: State, record: Record, units: int) -> None:
    """Units that were still shutting down when another policy took over boot again.

    No decision asks for it, so that it is kept beside those that do.
    """
    units = min(units, st.clock[0].off)
    if units <= 0:
        return
    batch = power_up(st, record, units, False)
    meter = record.meter[0]
    if record.decided.size > 0:
        kept = record.decided[meter.decided]
        kept.kind = ACT_UP
        kept.job = batch
        kept.value = float(units)
        kept.power_w = 0.0
        kept.cap_w = float("inf")
        meter.decided += 1


@kernel
def _last_free(st: State, units: int, marked: bool) -> int:
    """Take the free nodes with the highest numbers: those that are filled last; marked ones last of
    all."""
    batch = 0
    for others in range(2):
        node = st.nodes.size - 1
        while units > 0 and node >= 0:
            chosen = others or not (marked and st.scratch_nodes[node])
            if chosen and st.node_free[node]:
                if batch == 0:
                    batch = node + 1
                st.nodes[node].power = batch
                st.node_free[node] = 0
                st.free_in_block[node // NODE_BLOCK] -= 1
                units -= 1
            node -= 1
    return batch


@kernel
def _first_off(st: State, units: int, marked: bool) -> int:
    """Choose the nodes with the lowest numbers among those that are off, marked ones first."""
    batch = 0
    for others in range(2):
        node = 0
        while units > 0 and node < st.nodes.size:
            chosen = others or (marked and st.scratch_nodes[node])
            if chosen and st.nodes[node].power == NODE_OFF:
                if batch == 0:
                    batch = node + 1
                st.nodes[node].power = batch
                units -= 1
            node += 1
    return batch


@kernel
def _arrive(st: State, batch: int, power: int) -> int:
    """The nodes of a batch are on, or off; how many they are."""
    count = 0
    for node in range(st.nodes.size):
        if batch > 0 and st.nodes[node].power == batch:
            st.nodes[node].power = power
            if power == 0:
                st.node_free[node] = 1
                st.free_in_block[node // NODE_BLOCK] += 1
            count += 1
    return count
