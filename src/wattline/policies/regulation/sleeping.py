"""Servers that sleep: what the machine draws without its jobs, and who is switched off and on.

An idle server draws half of what a busy one does. Those that not even the highest target of the
hour, or a limit that is near, can feed are switched off; they boot again when it rises.
"""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.policies.in_order import units_in_order
from wattline.policies.regulation.desk import Desk
from wattline.policies.starting import note
from wattline.policies.state import ACT_DOWN, ACT_UP, State

SPARE = 1
"""Servers that may be missing before any boots: the mix of jobs changes all the time."""


@kernel
def floor_w(st: State) -> float:
    """Power of the machine with all its jobs gone: servers that idle, sleep, or change."""
    clock = st.clock[0]
    idle = clock.units - clock.off - clock.changing
    return float(idle * clock.idle_w + clock.off * clock.off_w + clock.changing_w)


@kernel
def switch_servers(st: State, desk: Desk, cycle: int, power_w: float) -> None:
    """Switch off what cannot be fed, and on what can; `power_w` is what is drawn from now on."""
    clock = st.clock[0]
    control = desk.control[0]
    if control.sleep == 0 or clock.changing > 0:
        return
    on = units_in_order(st) - clock.off
    wanted = _wanted(st, desk, cycle)
    if on > wanted and clock.free > 0:
        note(st, ACT_DOWN, -1, float(min(on - wanted, clock.free)), 0.0)
    elif clock.off > 0 and (on < wanted - SPARE or (on < wanted and wanted >= clock.units)):
        units = min(wanted - on, clock.off)
        more_w = max(clock.boot_w, clock.idle_w) - clock.off_w
        if control.limit_w < float("inf") and more_w > 0.0:
            units = min(units, int(max(0.0, control.limit_w - power_w) / more_w))
        if units > 0:
            note(st, ACT_UP, -1, float(units), 0.0)


@kernel
def _wanted(st: State, desk: Desk, cycle: int) -> int:
    """How many servers the highest power that is allowed soon can keep busy."""
    clock = st.clock[0]
    control = desk.control[0]
    highest_w = control.highest_w
    last = min(cycle + int(clock.halt_s / control.cycle_s) + 1, desk.limit.size - 1)
    for ahead in range(cycle, last + 1):
        highest_w = min(highest_w, desk.limit[ahead])
    if highest_w == float("inf"):
        return int(clock.units)
    servers = 0.0
    watts = 0.0
    most_w = clock.idle_w
    widest = 1
    for kind in range(desk.types.size):
        entry = desk.types[kind]
        lowered = 1.0 - control.start_share
        each_w = entry.power_w_max - lowered * (entry.power_w_max - entry.power_w_min)
        most_w = max(most_w, each_w)
        if kind == control.standby:
            continue
        count = (entry.running + entry.waiting) * entry.servers
        servers += count
        watts += count * each_w
        if entry.running + entry.waiting > 0:
            widest = max(widest, entry.servers)
    busy_w = watts / servers if servers > 0.0 else most_w
    if busy_w <= clock.off_w:
        return int(clock.units)
    fed = (highest_w - clock.units * clock.off_w) / (busy_w - clock.off_w)
    return int(min(max(fed, float(widest)), float(clock.units)))
