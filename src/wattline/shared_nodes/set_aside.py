"""Jobs that the cap has no room for, even alone on the machine: they hold nobody back.

Not a rule of Slurm's, whose main pass stops at a job that cannot start. No end of another job helps
one that a lowered cap leaves no room for: it keeps its place in the queue, is tried there in every
pass, and those behind it are started meanwhile. With backfill, whose plans know the steps of the
cap, that is so of jobs for which no step to come has room either. Without it nothing is planned,
and the cap counts as long as the job would last from now on.

What a job would draw is asked of the nodes that it would get if nothing ran, with all nodes asleep
that may be: as the rest goes to sleep by itself, that is the least the machine can come to.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.by_class import place_by_class
from wattline.shared_nodes.cap import ROUNDING_W, next_step, over_at
from wattline.shared_nodes.later import copy_node, let_row_end
from wattline.shared_nodes.power import least_idle_w, picked_watts
from wattline.shared_nodes.state import UP, Books


@kernel_part
def is_set_aside(st: Books, entry: int) -> bool:
    """Say whether the cap has no room for a job that could not start, even if nothing else ran."""
    rules = st.rules[0]
    if rules.capped == 0:
        return False
    job = st.entry[entry].job
    if not _has_room(st, job, st.entry[entry].least_w + rules.least_idle_w):
        return True
    # That is the least on any of its nodes; on those that it would get it may draw more.
    return _is_placed_alone(st, entry) and not _has_room(
        st, job, picked_watts(st, job, 1) + least_idle_w(st))


@kernel_part
def _has_room(st: Books, job: int, total_w: float) -> bool:
    """Say whether the cap is above so many watts for as long as the job lasts: from now on, or,
    where backfill plans, from some time on."""
    now_s = st.clock[0].now_s
    start_s, has_room = now_s, False
    for step in range(max(next_step(st, now_s) - 1, 0), len(st.cap_s)):
        time_s = max(st.cap_s[step], now_s)
        if st.cap_w[step] + ROUNDING_W < total_w:
            if has_room and over_at(st, job, start_s) <= time_s:
                return True
            if st.rules[0].backfill == 0:
                return False
            has_room = False
        elif not has_room:
            start_s, has_room = time_s, True
    return has_room


@kernel_part
def _is_placed_alone(st: Books, entry: int) -> bool:
    """Pick the nodes that the job would get if nothing ran, in the copy; whether there are any.

    Limits of parts are left out: whom these have no room for on the idle machine was refused.
    """
    rules, clock = st.rules[0], st.clock[0]
    for node in range(rules.nodes):
        st.mask_before[node] = st.mask[node]
        st.mask[node] = st.node_state[node] == UP
        copy_node(st, node)
    for place in range(clock.running):
        job = st.running[clock.first_running + place]
        first = st.ask[job].first_row
        for row in range(first, first + st.live[job].nodes):
            let_row_end(st, row)
    found = place_by_class(st, entry, -1, 1)
    for node in range(rules.nodes):
        st.mask[node] = st.mask_before[node]
    return found
