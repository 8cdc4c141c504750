"""Nodes for a job where parts of the machine have limits: those of a full part are passed over.

Nodes are chosen as ever. Where a part would pass its limit with one of them, that one and those of
the part on which the job would draw the same, but for those chosen before it, are taken out and the
choice is made anew, until it is within all limits or there is none. So a job finds a place in
another rack, if one has room; where limits cross, other choices might do and are not looked for.
"""

from __future__ import annotations

from wattline.model.kernel import kernel, kernel_part
from wattline.shared_nodes.bounds import place_over_bounds
from wattline.shared_nodes.by_class import place_by_class
from wattline.shared_nodes.cap import cap_allows
from wattline.shared_nodes.joules import joules_allow
from wattline.shared_nodes.offers import offers_now
from wattline.shared_nodes.state import Books

OVER_PART = 23
"""Row of REASONS in outcome.py."""
NOW = -1
"""In place of how many jobs are over: none, nodes are taken as they are."""


@kernel_part
def power_allows(
    st: Books, job: int, start_s: float, held: int, freed_w: float, bank: int
) -> bool:
    """Whether the cap, the limits of parts and a budget let the job start on the picked nodes.

    A budget is asked for now, whatever the start: nobody asks here for a later one.
    """
    rules = st.rules[0]
    if rules.capped != 0 and not cap_allows(st, job, start_s, held, freed_w, bank):
        return False
    if rules.budgeted != 0 and not joules_allow(st, job, freed_w, bank):
        return False
    return bool(rules.bounded == 0 or place_over_bounds(st, job, start_s, held, bank) < 0)


@kernel_part
def place_within(
    st: Books, entry: int, ended: int, start_s: float, held: int, bank: int
) -> bool:
    """Choose nodes within the limits of parts: now, after ends (`ended`), or in the copy."""
    clock = st.clock[0]
    found = place_by_class(st, entry, ended, bank)
    if st.rules[0].bounded == 0 or not found:
        return found
    clock.barred = 0
    masked = clock.masked
    if ended != NOW:
        for place in range(masked):
            st.all_open[place] = st.open_nodes[place]
    over = place_over_bounds(st, st.entry[entry].job, start_s, held, bank)
    while found and over >= 0:
        _bar(st, over)
        if ended != NOW:
            _close_barred(st)
        found = place_by_class(st, entry, ended, bank)
        if found:
            over = place_over_bounds(st, st.entry[entry].job, start_s, held, bank)
    for index in range(clock.barred):
        st.mask[st.barred[index]] = True
    if ended != NOW:
        for place in range(masked):
            st.open_nodes[place] = st.all_open[place]
        clock.masked = masked
    return found


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
