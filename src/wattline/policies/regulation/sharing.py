"""QoSG and AQA: generalized processor sharing of the servers that the target allows.

Every type has a weight. The servers that the target can feed are split by the weights; a type
with fewer jobs than servers leaves the rest to the others. The two published policies decide
alike and differ in how weights and bid are chosen.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import Composition, cycle_s, regulate
from wattline.policies.regulation.cycle import (
    add_standby,
    begin_cycle,
    carry_out,
    common_ratio,
    end_cycle,
    free_servers,
    modelled_w,
    under_limit,
)
from wattline.policies.regulation.desk import Desk
from wattline.policies.regulation.preemption import pause_surplus, resume_paused
from wattline.policies.regulation.quality import held_back
from wattline.policies.regulation.sleeping import floor_w
from wattline.policies.regulation.timing import next_cycle_s
from wattline.policies.state import State


class Sharing(NamedTuple):
    """Servers by weights, one cap ratio for all when above the target."""

    desk: Any

    @property
    def axis(self) -> Literal["regulation"]:
        return "regulation"


@implement(regulate, Sharing)
@kernel
def _regulate(st: State, regulation: Sharing, policy: Composition) -> None:
    desk = regulation.desk
    cycle = begin_cycle(st, desk)
    if cycle < 0:
        return
    resume_paused(st, desk)
    share_out(st, desk)
    choose_by_share(st, desk)
    add_standby(st, desk)
    pause_surplus(st, desk)
    carry_out(st, desk, policy, common_ratio(st, desk))
    end_cycle(st, desk, cycle)


@kernel
def planned_w(desk: Desk, kind: int) -> float:
    """Power of a server with a job of this type, at the share of its range that is planned with."""
    entry = desk.types[kind]
    lowered = 1.0 - desk.control[0].start_share
    return float(entry.power_w_max - lowered * (entry.power_w_max - entry.power_w_min))


@kernel
def share_out(st: State, desk: Desk) -> None:
    """Give every type its share of the servers that the target can feed.

    Find the level L with sum over types of min(L weight, demand) times a server's extra watts
    equal to the watts above idle: types whose demand lies below L weight are settled first.
    """
    control = desk.control[0]
    idle_w = st.clock[0].idle_w
    left_w = control.target_w - control.bias_w - floor_w(st)
    for kind in range(desk.types.size):
        desk.types[kind].settled = 1 if kind == control.standby else 0
        desk.types[kind].share = 0.0
    moved = True
    while moved:
        moved = False
        per_level_w = 0.0
        for kind in range(desk.types.size):
            entry = desk.types[kind]
            if entry.settled == 0:
                per_level_w += entry.weight * (planned_w(desk, kind) - idle_w)
        if per_level_w <= 0.0:
            return
        level = max(0.0, left_w / per_level_w)
        for kind in range(desk.types.size):
            entry = desk.types[kind]
            if entry.settled:
                continue
            demand = (entry.running + entry.waiting) * entry.servers
            entry.share = level * entry.weight
            if entry.share >= demand:
                entry.share = demand
                entry.settled = 1
                left_w -= demand * (planned_w(desk, kind) - idle_w)
                moved = True


@kernel
def choose_by_share(st: State, desk: Desk) -> None:
    """Start where the share exceeds what runs, the largest lack first.

    Jobs are whole, shares are not: a lack is rounded to the nearest job, and a smaller lack still
    starts one if that comes nearer to the target than not. What is above the target then, the
    caps take away.
    """
    control = desk.control[0]
    free = free_servers(st, desk)
    left_w = control.target_w - control.bias_w - modelled_w(st, desk, control.start_share)
    for kind in range(desk.types.size):
        desk.types[kind].settled = 0
    while True:
        kind = _most_lacking(st, desk)
        if kind < 0:
            return
        entry = desk.types[kind]
        each_w = entry.servers * (planned_w(desk, kind) - st.clock[0].idle_w)
        wanted = _lack(desk, kind) >= 0.5 or 0.5 * each_w <= left_w
        if entry.servers <= free and wanted and under_limit(st, desk, kind):
            entry.starts += 1
            free -= entry.servers
            left_w -= each_w
        else:
            entry.settled = 1


@kernel
def _lack(desk: Desk, kind: int) -> float:
    """Jobs of this type that its share asks for beyond those that run or are chosen."""
    entry = desk.types[kind]
    return float(entry.share / entry.servers - entry.running - entry.starts)


@kernel
def _most_lacking(st: State, desk: Desk) -> int:
    found = -1
    most = 1e-9
    for kind in range(desk.types.size):
        entry = desk.types[kind]
        if entry.settled or entry.starts >= entry.waiting or kind == desk.control[0].standby:
            continue
        if held_back(st, desk, kind):
            continue
        lack = _lack(desk, kind)
        if lack > most:
            most = lack
            found = kind
    return found


@implement(cycle_s, Sharing)
@kernel
def _cycle_s(st: State, regulation: Sharing) -> float:
    return next_cycle_s(st, regulation.desk)
