"""The rules of shared nodes without what saves time: every node is looked at for every job.

Plain functions that take the place of those that are quick, in a process with plain kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.shared_parts_slowly import place_within_parts, rounded
from wattline.shared_nodes.by_devices import see_devices
from wattline.shared_nodes.cap import ROUNDING_W, over_at
from wattline.shared_nodes.choosing import choose
from wattline.shared_nodes.fitting import cpus_for, gather_copies, list_near
from wattline.shared_nodes.in_partition import ask_as_in_partition
from wattline.shared_nodes.later import copy_node, let_row_end
from wattline.shared_nodes.licence_plan import plans_licences
from wattline.shared_nodes.power import picked_watts, woken_watts
from wattline.shared_nodes.room import SLACK_W
from wattline.shared_nodes.spans import add_span
from wattline.shared_nodes.state import NEVER_S

WINDOW_S = 30.0


def gather(st: Any, entry: int) -> bool:
    row = st.entry[entry]
    for place in range(st.class_first[row.nodes], st.class_first[row.nodes + 1]):
        node = st.class_nodes[place]
        st.avail[node] = cpus_for(st, row.job, row.partition, 0, node)
    if not list_near(st, entry):
        return False
    if st.ask[row.job].by_devices:
        see_devices(st, entry, 0)
    return True


def place_now(st: Any, entry: int) -> bool:
    return gather(st, entry) and choose(st, st.entry[entry].job)


def offers_now(st: Any, entry: int) -> bool:
    """Enough for all that is known; a job asks for what it does in the partition of the entry."""
    ask_as_in_partition(st, entry)
    return True


def will_run(st: Any, entry: int, held: int, until_s: float) -> float:
    """Let running jobs end one after the other, and try the job after each group."""
    clock = st.clock[0]
    job = st.entry[entry].job
    from_s = clock.open_from_s
    if _least_fits(st, entry, from_s, held) and _place(st, entry, gather, from_s, held) and (
            _watts_fit(st, job, from_s, held)):
        return float(from_s)
    for node in range(st.rules[0].nodes):
        copy_node(st, node)
    window_s, edge_s, place = WINDOW_S, -1.0, 0
    while place < clock.running:
        last_s = -1.0
        while place < clock.running:
            end_s = st.live[_running(st, place)].limit_end_s
            if end_s > until_s and (last_s < 0.0 or any(
                    _is_on_masked(st, later) for later in range(place, clock.running))):
                return NEVER_S
            place += 1
            if not _is_on_masked(st, place - 1):
                continue
            _let_end(st, _running(st, place - 1))
            if edge_s < 0.0:
                edge_s = end_s + WINDOW_S - (end_s + st.rules[0].unix_s) % WINDOW_S
            last_s = end_s
            if _next_end_s(st, place) > edge_s + window_s:
                break
        if last_s < 0.0:
            return NEVER_S
        window_s *= 2.0
        while NEVER_S > _next_end_s(st, place) > edge_s + window_s:
            window_s *= 2.0
        start_s = max(last_s, clock.now_s + 1.0, from_s)
        if _least_fits(st, entry, start_s, held) and _place(
                st, entry, gather_copies, start_s, held) and _watts_fit(st, job, start_s, held):
            return float(start_s)
    return NEVER_S


def _place(
    st: Any, entry: int, gather_nodes: Callable[[Any, int], bool], start_s: float, held: int
) -> bool:
    if st.rules[0].bounded:
        return place_within_parts(st, entry, gather_nodes, start_s, held)
    return gather_nodes(st, entry) and choose(st, st.entry[entry].job)


def _running(st: Any, place: int) -> int:
    return int(st.running[st.clock[0].first_running + place])


def _next_end_s(st: Any, place: int) -> float:
    if place >= st.clock[0].running:
        return NEVER_S
    return float(st.live[_running(st, place)].limit_end_s)


def _rows(st: Any, job: int) -> range:
    return range(st.ask[job].first_row, st.ask[job].first_row + st.live[job].nodes)


def _is_on_masked(st: Any, place: int) -> bool:
    return any(st.mask[st.row_node[row]] for row in _rows(st, _running(st, place)))


def _let_end(st: Any, job: int) -> None:
    for row in _rows(st, job):
        let_row_end(st, row)


def _planned_end_s(st: Any, job: int, start_s: float) -> float:
    return max(rounded(st, start_s + st.ask[job].limit_s),
               rounded(st, start_s) + st.rules[0].bf_resolution_s)


def _least_fits(st: Any, entry: int, start_s: float, held: int) -> bool:
    """Return whether the fewest watts of the job would fit, as far ahead as the room is looked
    at."""
    ask_as_in_partition(st, entry)
    job, least_w = st.entry[entry].job, st.entry[entry].least_w
    return not st.rules[0].capped or _fit(
        st, job, start_s, held, least_w - SLACK_W, st.clock[0].room_until_s)


def _watts_fit(st: Any, job: int, start_s: float, held: int) -> bool:
    if not st.rules[0].capped:
        return True
    watts = picked_watts(st, job, 0) + woken_watts(st)
    return _stays_under_cap(st, job, start_s, watts) and _fit(
        st, job, start_s, held, watts, NEVER_S)


def _fit(
    st: Any, job: int, start_s: float, held: int, watts: float, known_until_s: float
) -> bool:
    """Return whether there is room at every time of the job at which there may be less than
    before."""
    now_s = st.clock[0].now_s
    drawn_w = st.clock[0].power_w + st.clock[0].booting_w
    if start_s <= now_s and drawn_w + watts > _cap_w(st, now_s) + ROUNDING_W:
        return False
    begin_s = max(start_s, now_s + 1e-6)
    end_s = start_s + st.ask[job].limit_s  # one that starts now does not last into a plan
    if start_s > now_s:
        end_s = _planned_end_s(st, job, start_s)
    end_s = min(end_s, known_until_s)
    running = [st.live[_running(st, place)] for place in range(st.clock[0].running)]
    times_s = [begin_s, *st.cap_s, *st.held_begin[:held]]
    return all(
        drawn_w - sum(live.watts for live in running if rounded(st, live.limit_end_s) <= time_s)
        + sum(st.held_w[row] for row in range(held)
              if st.held_begin[row] <= time_s < st.held_end[row])
        + watts <= _cap_w(st, time_s) + ROUNDING_W
        for time_s in times_s if begin_s <= time_s < end_s)


def _stays_under_cap(st: Any, job: int, start_s: float, watts: float) -> bool:
    """Return whether a job that starts now keeps the cap beside all that may still run then."""
    now_s = st.clock[0].now_s
    if start_s > now_s:
        return True
    drawn_w = st.clock[0].power_w + st.clock[0].booting_w + watts
    return all(drawn_w - freed_watts(st, time_s) <= _cap_w(st, time_s) + ROUNDING_W
               for time_s in st.cap_s if now_s < time_s < over_at(st, job, now_s))


def _cap_w(st: Any, time_s: float) -> float:
    return float(st.cap_w[max(sum(st.cap_s <= time_s) - 1, 0)])


def rank_that_is_enough(st: Any, job: int, least: int) -> int:
    """Weight by weight, until the nodes up to it are enough together."""
    free = [node for node in st.near[: st.clock[0].near]
            if st.chosen[node] == 0 and st.avail[node] > least]
    rank_of = st.near_rank if st.ask[job].by_devices else st.node_weight
    for node in free:
        st.rank_nodes[rank_of[node]] = 1
    ranks = sorted({int(rank_of[node]) for node in free})
    choices = st.rules[0].choices
    for rank in ranks:
        upto = [node for node in free if rank_of[node] <= rank]
        if len(upto) >= st.ask[job].min_nodes - st.clock[0].picked and (
                sum(st.avail[node] for node in upto) >= st.clock[0].missing) and (
                not st.ask[job].by_devices or all(
                    st.got[choice] + sum(st.has[node * choices + choice] for node in upto)
                    >= st.own_job[job * choices + choice] for choice in range(choices))):
            return rank
    return ranks[-1] if ranks else -1


def freed_watts(st: Any, time_s: float) -> float:
    """Of every running job that is past its limit and killed by then."""
    running = [st.live[_running(st, place)] for place in range(st.clock[0].running)]
    return float(sum(live.watts for live in running
                     if live.limit_end_s <= time_s and live.latest_s <= time_s))


def try_from(st: Any, entry: int) -> float:
    """From now on; where power counts from the try that found a start for another of the same.

    There it may be one more try: the node that was free from then on may be held on end by now,
    and there may be room for watts where no node comes free.
    """
    ask, now_s = st.entry[entry].ask, float(st.clock[0].now_s)
    power_counts = st.rules[0].capped or st.rules[0].bounded
    if power_counts and st.hint_cycle[ask] == st.clock[0].backfills and (
            not plans_licences(st, st.entry[entry].job)):
        return max(now_s, float(st.hint_s[ask]))
    return now_s


def hold_picked(st: Any, begin_s: float, end_s: float) -> None:
    """And look for open nodes anew, also for the next job that asks for the same."""
    for place in range(st.clock[0].picked):
        add_span(st, st.pick[place], begin_s, end_s)
    st.clock[0].open_ask = -1


QUICK = {
    "backfill._last_that_may_start": lambda st, place: place,
    "backfill._try_from": try_from,
    "backfill.first_room_s": lambda st, entry, from_s: float(from_s),
    "backfill.first_try": lambda st, entry, from_s: from_s,
    "backfill.hold_picked": hold_picked,
    "backfill.will_run": will_run,
    "cap.freed_watts": freed_watts,
    "attempt.offers_now": offers_now,
    "placing.place_now": place_now,
    "tree._rank_that_is_enough": rank_that_is_enough,
    "within_bounds._parts_may_serve": lambda st, entry, ended, start_s, held: True,
    "within_bounds.is_for_one_on_tree": lambda st, job: False,
}
"""Savings of time, by its place in `wattline.shared_nodes`, and the plain rule instead."""
