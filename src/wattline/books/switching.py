"""Another policy from now on: what waits is ordered anew, what runs goes on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from wattline.books.applying import never_starts, release_dependents
from wattline.books.decision import Decision, refusal
from wattline.books.keeping import set_level, set_speed
from wattline.books.power_states import power_up
from wattline.books.record import Record
from wattline.books.room import make_room
from wattline.books.timers import NODES_AGAIN, NODES_OFF, push_timer
from wattline.model.errors import InputError
from wattline.model.jobs import IntArray
from wattline.model.kernel import kernel
from wattline.model.signal import FloatArray
from wattline.policies.committed import count_all_below_idle
from wattline.policies.contract import (
    Composition,
    cycle_s,
    entry_key,
    holds,
    least_factor,
    occupied,
)
from wattline.policies.control import Control, control_of, switched
from wattline.policies.memory import bound, same
from wattline.policies.set_aside import queue_or_set_aside, set_aside
from wattline.policies.state import ASIDE, HELD, PAUSED, PLAN_STALE, QUEUED, REFUSED, State
from wattline.policies.traits import chooses_nodes, job_levels, regulates, steers_all

if TYPE_CHECKING:
    from wattline.books.books import Books


def under(books: Books, policy: Composition) -> Books:
    """A copy of the books in which this policy decides.

    What a part of it remembers is what it has in `policy`; one that has taken no other's place
    keeps whom it has set aside.
    """
    axes = policy._fields[: policy._fields.index("scope")]
    stays = {axis for axis in axes if same(getattr(policy, axis), getattr(books.policy, axis))}
    if len(stays) == len(axes):
        return books.copy()
    chooses = chooses_nodes(policy.placement)
    if books.state.nodes.size and not chooses:
        raise InputError("these books know which nodes jobs are on; a policy that only counts "
                         "units cannot go on with them")
    if not books.state.nodes.size and chooses:
        raise InputError("these books do not know which nodes jobs are on; a policy that chooses "
                         "nodes cannot go on with them")
    other = books.copy()
    running = int(other.state.clock[0].running)
    other.state, other.record = make_room(other.state, other.record, running, other.keeps_log)
    state = other.state
    other.policy = bound(policy.narrowed(int(state.clock[0].windows)), len(state.jobs))
    if other.roll.jobs:
        other.annotate_all()
    _forget_plans(state)
    keeps_aside = {"admission", "configuration"} <= stays
    if not keeps_aside:
        state.clock[0].aside = 0
    state.clock[0].least_factor = least_factor(state, other.policy.admission)
    count_all_below_idle(state)
    state.live.config[state.running[: state.clock[0].running]] = 0
    occupy_again(state, other.policy.placement)
    _order_anew(other, keeps_aside)
    _run_in_full(other, books.policy)
    _switch_on(other)
    period_s = cycle_s(state, other.policy.regulation)
    other.record.meter[0].next_cycle_s = other.now_s if period_s < np.inf else np.inf
    return other


@kernel
def occupy_again(st: State, placement: Any) -> None:
    """Let a placement know where running jobs are."""
    for place in range(st.clock[0].running):
        occupied(st, placement, st.running[place])


def _switch_on(books: Books) -> None:
    """Units that are off boot, those on the way there will: the next policy may not know how."""
    state, record = books.state, books.record
    off = int(state.clock[0].off)
    if off > 0:
        batch = power_up(state, record, off, False)
        books.untold.append(Decision("up", None, float(off), 0.0, switched(state, batch, off)))
    timers = state.timers[: record.meter[0].timers]
    for timer in timers[timers.kind == NODES_OFF].copy():
        batch = int(timer.arg)
        units = int((state.nodes.power == batch).sum()) if state.nodes.size else batch
        push_timer(state, record.meter[0].timers, float(timer.time_s), NODES_AGAIN, units)
        record.meter[0].timers += 1


def _order_anew(books: Books, keeps_aside: bool) -> None:
    """Queue what waits; refuse what this policy could never start, and let go who waits for it."""
    state, policy = books.state, books.policy
    rows = np.flatnonzero(np.isin(state.live.state, (QUEUED, ASIDE, PAUSED, HELD)))
    _as_submitted(books, rows)
    refused, queued = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.int64)
    keys = np.empty(len(rows))
    count, waiting = part_anew(state, policy, rows, refused, queued, keys, keeps_aside)
    if keeps_aside:
        leave_aside(state)
    # In the order in which they are served each goes to the end: nobody has to make room.
    turns = state.jobs.turn[queued[:waiting]]
    enqueue_all(state, policy, queued[np.lexsort((turns, keys[:waiting]))])
    for row in refused[:count].tolist():
        books.record.meter[0].done += 1
        books.untold.append(refusal(books.roll.key(row)))
    for row in refused[:count].tolist():
        release_dependents(state, books.record, policy, row)


@kernel
def part_anew(
    st: State, policy: Composition, rows: IntArray, refused: IntArray, queued: IntArray,
    keys: FloatArray, keeps_aside: bool,
) -> tuple[int, int]:
    """Tell jobs that another policy could never start from those that it queues, with their keys;
    how many there are of both. What it holds is set aside; who is aside may stay there."""
    count = 0
    waiting = 0
    for place in range(rows.size):
        job = rows[place]
        if never_starts(st, policy, job):
            st.live[job].state = REFUSED
            refused[count] = job
            count += 1
        elif keeps_aside and st.live[job].state == ASIDE:
            continue
        elif holds(st, policy.admission, job):
            set_aside(st, job)
        elif st.live[job].state != HELD:
            queued[waiting] = job
            keys[waiting] = entry_key(st, policy.backfill, policy, job)
            waiting += 1
    return count, waiting


@kernel
def leave_aside(st: State) -> None:
    """Close the gaps of those aside that were refused."""
    clock = st.clock[0]
    kept = 0
    for place in range(clock.aside):
        if st.live[st.aside[place].job].state == ASIDE:
            st.aside[kept] = st.aside[place]
            kept += 1
    clock.aside = kept


@kernel
def enqueue_all(st: State, policy: Composition, rows: IntArray) -> None:
    for place in range(rows.size):
        queue_or_set_aside(st, policy, rows[place])


def _run_in_full(books: Books, before: Composition) -> None:
    """Take back what the last policy slowed down and the next would leave so for ever."""
    state, policy = books.state, books.policy
    clock = state.clock[0]
    slowed = clock.speed != 1.0 or clock.power_factor != 1.0
    if slowed and not steers_all(policy.admission):
        full_level(state, books.record, books.world)
        clock.latency_s = 0.0
        books.untold.append(Decision("level", None, 1.0, 1.0, Control(frequency_share=1.0)))
    levels = job_levels(policy.admission)
    levels_stay = levels is not None and levels.same(job_levels(before.admission))
    caps_stay = regulates(policy.regulation)
    rows = state.running[: clock.running].copy()
    live = state.live[rows]  # a copy: most of thousands of jobs need nothing
    slowed_ones = ((live.slowdown != 1.0) | (live.dynamic != 1.0)) & (not levels_stay)
    capped_ones = (live.cap_w < np.inf) & (not caps_stay)
    if not levels_stay:
        state.live.level[rows] = -1 if levels is None else levels.full
    for place in np.flatnonzero(slowed_ones | capped_ones):
        _speed_up(books, rows[place])
        _say_full(books, rows[place], bool(slowed_ones[place]), bool(capped_ones[place]))


@kernel
def full_level(st: State, record: Record, world: Any) -> None:
    """All running jobs go on at full speed and power."""
    set_level(st, record, world, 1.0, 1.0, 0)


def _speed_up(books: Books, row: Any) -> None:
    """A running job goes on at full speed and power."""
    state, clock, live = books.state, books.state.clock[0], books.state.live[row]
    above_w = live.watts - live.idle_w
    rise_w = above_w / live.dynamic - above_w
    live.watts += rise_w
    clock.running_watts += rise_w
    drawn_w = live.idle_w + (live.power_w - live.idle_w) / live.dynamic
    power_w = float(live.watts * clock.power_factor if live.cap_w < np.inf else drawn_w)
    live.slowdown, live.dynamic = 1.0, 1.0
    rate = float(clock.speed / live.stretch)
    set_speed(state, books.record, books.world, books.policy, row, rate, power_w, np.inf)


def _say_full(books: Books, row: Any, slowed: bool, capped: bool) -> None:
    """The next step says it, and what is to be undone: what is not named stays as it is."""
    control = control_of(books.policy, books.state, int(row))
    if slowed and control.frequency_hz is None and control.frequency_share is None:
        control = replace(control, frequency_share=1.0)
    if capped and control.cap_w is None:
        control = replace(control, cap_w=np.inf)
    live = books.state.live[row]
    books.untold.append(Decision("speed", books.roll.key(int(row)), float(live.rate),
                                 float(live.power_w), control))


def _forget_plans(state: State) -> None:
    """What the last policy had worked out for itself."""
    clock = state.clock[0]
    for name in ("queue_first", "queue_last", "examined", "stopped", "leaders",
                 "sorted_end", "reached", "planned", "step_first", "sifted_cap_w"):
        setattr(clock, name, 0)
    clock.step_last = 1
    state.profile[0].time_s = -np.inf
    state.profile[0].free = clock.units
    clock.shadow_s = np.inf
    clock.smallest = clock.units + 1
    clock.shortest_s = np.inf
    clock.replan = PLAN_STALE
    clock.wake_s = 0.0


def _as_submitted(books: Books, rows: IntArray) -> None:
    live, asked = books.state.live, books.state.jobs
    said_w = books.roll.table_of_all(books.now_s).power_w
    live.units[rows], live.watts[rows] = asked.units[rows], asked.watts[rows]
    live.own_watts[rows] = ~np.isnan(said_w[rows])
    # A job that has started was paused, and what is left of its request counts.
    fresh = rows[np.isnan(live.start_s[rows])]
    live.requested_s[fresh] = asked.requested_s[fresh]
    live.config[rows], live.stretch[rows] = 0, 1.0
    live.level[rows], live.slowdown[rows], live.dynamic[rows] = -1, 1.0, 1.0
