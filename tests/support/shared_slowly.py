"""The rules of shared nodes without what saves time: every node is looked at for every job.

Plain functions that take the place of those that are quick, in a process with plain kernels.
"""

from __future__ import annotations

from typing import Any

from wattline.shared_nodes.by_devices import see_devices
from wattline.shared_nodes.cap import cap_allows
from wattline.shared_nodes.choosing import choose
from wattline.shared_nodes.fitting import cpus_for, gather_copies, list_near
from wattline.shared_nodes.in_partition import ask_as_in_partition
from wattline.shared_nodes.later import copy_node, let_row_end
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
    if gather(st, entry) and choose(st, job) and _watts_fit(st, job, clock.now_s, held):
        return float(clock.now_s)
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
        start_s = max(last_s, clock.now_s + 1.0)
        if gather_copies(st, entry) and choose(st, job):
            killed_s = max(st.live[_running(st, each)].latest_s for each in range(place))
            for time_s in (start_s, max(start_s, killed_s)):
                if _watts_fit(st, job, time_s, held):
                    return float(time_s)
    return NEVER_S


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


def _watts_fit(st: Any, job: int, start_s: float, held: int) -> bool:
    return not st.rules[0].capped or bool(cap_allows(st, job, start_s, held, 0.0, 0))


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


def hold_picked(st: Any, begin_s: float, end_s: float) -> None:
    """And look for open nodes anew, also for the next job that asks for the same."""
    for place in range(st.clock[0].picked):
        add_span(st, st.pick[place], begin_s, end_s)
    st.clock[0].open_ask = -1


QUICK = {
    "backfill._last_that_may_start": lambda st, place: place,
    "backfill._try_from": lambda st, entry: float(st.clock[0].now_s),
    "backfill.first_start_s": lambda st, entry: float(st.clock[0].now_s),
    "backfill.first_try": lambda st, entry, from_s: from_s,
    "backfill.hold_picked": hold_picked,
    "backfill.will_run": will_run,
    "cap.freed_watts": freed_watts,
    "attempt.offers_now": offers_now,
    "by_class.place_now": place_now,
    "tree._rank_that_is_enough": rank_that_is_enough,
}
"""What saves time, by its place in `wattline.shared_nodes`, and the plain rule instead."""
