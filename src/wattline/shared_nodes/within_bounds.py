"""Nodes for a job where parts of the machine have limits: those of a full part are passed over.

Nodes are chosen as ever. Where a part would pass its limit with one of them, that one and those of
the part on which the job would draw the same, but for those chosen before it, are taken out and the
choice is made anew, until it is within all limits or there is none. So a job finds a place in
another rack, if one has room; where limits cross, other choices might do and are not looked for.
"""

from __future__ import annotations

from wattline.model.kernel import kernel, kernel_part
from wattline.shared_nodes.bounds import forget_left, left_for, place_over_bounds
from wattline.shared_nodes.by_class import place_by_class
from wattline.shared_nodes.cap import cap_allows
from wattline.shared_nodes.joules import joules_allow
from wattline.shared_nodes.offers import cpus_needed, offers_now, slot_of
from wattline.shared_nodes.one_on_tree import choose_one_on_tree, is_for_one_on_tree
from wattline.shared_nodes.part_room import SLACK_W
from wattline.shared_nodes.state import Books

OVER_PART = 23
"""Row of REASONS in outcome.py."""
NOW = -1
"""In place of how many jobs are over: none, nodes are taken as they are."""


@kernel_part
def power_allows(
    st: Books, job: int, start_s: float, held: int, freed_w: float, bank: int
) -> bool:
    """Whether the cap and a budget let the job start on the picked nodes.

    Limits of parts were kept to as they were picked. A budget is asked for now, whatever the start:
    nobody asks here for a later one.
    """
    rules = st.rules[0]
    if rules.capped != 0 and not cap_allows(st, job, start_s, held, freed_w, bank):
        return False
    return bool(rules.budgeted == 0 or joules_allow(st, job, freed_w, bank))


@kernel_part
def place_within(
    st: Books, entry: int, ended: int, start_s: float, held: int, bank: int
) -> bool:
    """Choose nodes within the limits of parts: now, after ends (`ended`), or in the copy."""
    if st.rules[0].bounded == 0:
        return place_by_class(st, entry, ended, bank)
    forget_left(st)
    if bank == 0 and not _parts_may_serve(st, entry, ended, start_s, held):
        return False
    return place_by_class(st, entry, ended, bank) and _stay_within(
        st, entry, ended, start_s, held, bank)


@kernel_part
def chosen_within(st: Books, entry: int, start_s: float, held: int) -> bool:
    """Whether the node that was picked from `near`, or another of it, is within the limits then.

    Of a job for one node on a tree (one_on_tree.py).
    """
    forget_left(st)
    return _stay_within(st, entry, NOW, start_s, held, 0)


@kernel_part
def _parts_may_serve(st: Books, entry: int, ended: int, start_s: float, held: int) -> bool:
    """Whether as many nodes as the job needs, with enough for it, are in parts with room for the
    fewest watts that it draws on one."""
    row = st.entry[entry]
    missing = st.ask[row.job].min_nodes
    first = slot_of(st, entry) * st.rules[0].nodes
    if ended == NOW:
        needed = cpus_needed(st, row.job)
        for place in range(st.class_first[row.nodes], st.class_first[row.nodes + 1]):
            node = st.class_nodes[place]
            if st.mask[node] and st.offer[first + node] >= needed and has_watts(
                    st, entry, node, start_s, held):
                missing -= 1
                if missing <= 0:
                    return True
        return False
    last_s = st.running_end[ended - 1]
    for place in range(st.clock[0].masked):
        node = st.open_nodes[place]
        if st.ready[first + node] <= last_s and has_watts(st, entry, node, start_s, held):
            missing -= 1
            if missing <= 0:
                return True
    return False


@kernel_part
def has_watts(st: Books, entry: int, node: int, start_s: float, held: int) -> bool:
    """Whether the parts of a node may have room for the job from then on; see `forget_left`."""
    row = st.entry[entry]
    for index in range(st.node_parts[node], st.node_parts[node + 1]):
        left_w = left_for(st, row.job, st.part_bound[index], start_s, held, 0)
        if left_w < row.node_least_w * st.part_share[index] - SLACK_W:
            return False
    return True


@kernel_part
def _stay_within(
    st: Books, entry: int, ended: int, start_s: float, held: int, bank: int
) -> bool:
    """Whether the nodes that were picked are within the limits, or others are, which are then."""
    clock = st.clock[0]
    job = st.entry[entry].job
    over = place_over_bounds(st, job, start_s, held, bank)
    if over < 0:
        return True
    in_list = bank == 0 and is_for_one_on_tree(st, job) and st.ask[job].options == 0
    clock.barred = 0
    masked = clock.masked
    if ended != NOW and not in_list:
        for place in range(masked):
            st.all_open[place] = st.open_nodes[place]
    found = True
    while found and over >= 0:
        barred = clock.barred
        _bar(st, over)
        if in_list:
            _leave_out_barred(st, barred)
            found = choose_one_on_tree(st, job)
        else:
            if ended != NOW:
                _close_barred(st)
            found = place_by_class(st, entry, ended, bank)
        if found:
            over = place_over_bounds(st, job, start_s, held, bank)
    for index in range(clock.barred):
        st.mask[st.barred[index]] = True
        if in_list:
            st.avail[st.barred[index]] = st.barred_cpus[index]
    if ended != NOW and not in_list:
        for place in range(masked):
            st.open_nodes[place] = st.all_open[place]
        clock.masked = masked
    return found


@kernel_part
def _leave_out_barred(st: Books, first: int) -> None:
    """Let the nodes of `near` that were barred from this one on have no CPUs.

    Of a job of one node: all that were barred stay so.
    """
    for index in range(first, st.clock[0].barred):
        st.barred_cpus[index] = st.avail[st.barred[index]]
        st.avail[st.barred[index]] = 0


@kernel_part
def _bar(st: Books, over: int) -> None:
    """Take the picked node at this place out of `mask`, and its like in the part that is full."""
    clock = st.clock[0]
    at_fault = st.pick[over]
    for index in range(st.bound_parts[clock.full], st.bound_parts[clock.full + 1]):
        node = st.bound_node[index]
        if st.mask[node] and st.node_kind[node] == st.node_kind[at_fault]:
            st.mask[node] = False
            st.barred[clock.barred] = node
            clock.barred += 1
    kept = clock.barred
    for place in range(over):  # these have room
        for index in range(kept):
            if st.barred[index] == st.pick[place]:
                st.mask[st.pick[place]] = True
                kept -= 1
                st.barred[index] = st.barred[kept]
                break
    clock.barred = kept


@kernel_part
def _close_barred(st: Books) -> None:
    """Leave only nodes of `mask` in the list of those that are open."""
    count = 0
    for place in range(st.clock[0].masked):
        node = st.open_nodes[place]
        if st.mask[node]:
            st.open_nodes[count] = node
            count += 1
    st.clock[0].masked = count


@kernel
def refuse_over_bounds(st: Books) -> None:
    """Refuse jobs for which even the idle machine has no room within the limits of its parts."""
    for node in range(st.rules[0].nodes):
        st.mask[node] = True
    now_s = st.clock[0].now_s
    for entry in range(len(st.entry)):
        row = st.entry[entry]
        if row.fits == 0:
            continue
        if st.hint_cycle[row.ask] < 0:
            fits = offers_now(st, entry) and place_within(st, entry, NOW, now_s, 0, 0)
            st.hint_cycle[row.ask] = 1 if fits else 0
        st.entry[entry].fits = st.hint_cycle[row.ask]
    for index in range(len(st.hint_cycle)):
        st.hint_cycle[index] = -1
    for job in range(len(st.ask)):
        first = st.ask[job].first_entry
        fitting = 0
        for entry in range(first, first + st.ask[job].entries):
            fitting += st.entry[entry].fits
        if fitting == 0 and st.ask[job].refused == 0 and st.ask[job].never == 0:
            st.ask[job].refused = OVER_PART
