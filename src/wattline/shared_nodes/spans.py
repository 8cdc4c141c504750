"""The nodes that a backfill cycle holds for jobs to come: per node a chain of spans of time.

slurm.conf: bf_resolution (times are rounded down to it), bf_window. As in Slurm, a job that is
planned holds its nodes whole, however little of them it asks for.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.alike import forget_plan
from wattline.shared_nodes.offers import ready_on
from wattline.shared_nodes.part_room import find_part_starts, first_in_parts_s
from wattline.shared_nodes.planned_times import is_held
from wattline.shared_nodes.room import first_room_s
from wattline.shared_nodes.state import NEVER_S, UP, Books


@kernel_part
def clear_spans(st: Books) -> None:
    for index in range(st.clock[0].held_nodes):
        st.span_head[st.held_nodes[index]] = -1
    st.clock[0].held_nodes = 0
    st.clock[0].intervals = 0
    st.clock[0].reserved = 0
    st.clock[0].open_ask = -1


@kernel_part
def add_span(st: Books, node: int, begin_s: float, end_s: float) -> None:
    index = st.clock[0].intervals
    st.clock[0].intervals = index + 1
    st.span_begin[index] = begin_s
    st.span_end[index] = end_s
    before = -1
    after = st.span_head[node]
    if after < 0:
        st.held_nodes[st.clock[0].held_nodes] = node
        st.clock[0].held_nodes += 1
    while after >= 0 and st.span_begin[after] < begin_s:
        before = after
        after = st.span_next[after]
    st.span_next[index] = after
    if before < 0:
        st.span_head[node] = index
    else:
        st.span_next[before] = index


@kernel_part
def mask_free_nodes(st: Books, entry: int, begin_s: float) -> None:
    """Mask and list the candidates that nobody holds for as long as the job may last.

    `open_next_s` is when the next node comes free that is held now, which is when to try again.
    """
    clock = st.clock[0]
    row = st.entry[entry]
    end_s = begin_s + row.limit_s
    later_s = NEVER_S
    shut = st.shut
    class_has, first = st.class_has, row.nodes * st.rules[0].nodes
    for index in range(clock.held_nodes):
        node = st.held_nodes[index]
        if not class_has[first + node]:
            continue
        free, free_s = _is_free(st, node, begin_s, end_s)
        later_s = min(later_s, free_s)
        shut[node] = not free
    if st.rules[0].own_users != 0:
        _shut_nodes_of_others(st, row.job, row.nodes)
    _list_open_nodes(st, row.nodes)
    forget_plan(st)
    clock.open_ask = -1
    clock.open_from_s = begin_s
    clock.open_until_s = end_s
    clock.open_next_s = later_s


@kernel_part
def _shut_nodes_of_others(st: Books, job: int, of_class: int) -> None:
    """Where nodes are shared by one user's jobs alone (sbatch: --exclusive=user), those with jobs
    of others are in no plan, whenever these end (filter_by_node_owner of Slurm)."""
    ask = st.ask[job]
    for place in range(st.class_first[of_class], st.class_first[of_class + 1]):
        node = st.class_nodes[place]
        if st.jobs_on[node] > 0 and st.user_on[node] != ask.user and (
                ask.own_user != 0 or st.own_on[node] > 0):
            st.shut[node] = True


@kernel_part
def _is_free(st: Books, node: int, begin_s: float, end_s: float) -> tuple[bool, float]:
    """Whether nobody holds the node from begin to end (included), and when it comes free again.

    The time is NEVER_S where it is held at no time after `begin_s`, or beyond the window.
    """
    span_begin, span_end, span_next = st.span_begin, st.span_end, st.span_next
    free = True
    free_s = NEVER_S
    span = st.span_head[node]
    while span >= 0:
        following = span_next[span]
        if span_end[span] > begin_s:
            if span_begin[span] <= end_s:
                free = False
            if following < 0 or span_begin[following] > span_end[span]:
                if span_end[span] < st.clock[0].now_s + st.rules[0].bf_window_s:
                    free_s = span_end[span]
                break
        span = following
    # A node that is held twice on end is not free between; later spans may still overlap.
    if free and span >= 0:
        free = not is_held(st, node, begin_s, end_s, 0)
    return free, float(free_s)


@kernel_part
def hold_picked(st: Books, begin_s: float, end_s: float) -> None:
    """Hold the nodes that were picked from the open ones, which are those without them then.

    Where a picked node said when to try again and no longer does, that is looked for anew.
    """
    clock = st.clock[0]
    for place in range(clock.picked):
        node = st.pick[place]
        _, known_s = _is_free(st, node, clock.open_from_s, clock.open_until_s)
        add_span(st, node, begin_s, end_s)
        free, free_s = _is_free(st, node, clock.open_from_s, clock.open_until_s)
        if known_s < free_s and known_s == clock.open_next_s:
            clock.open_ask = -1
        clock.open_next_s = min(clock.open_next_s, free_s)
        if not free:
            _shut_node(st, node)


@kernel_part
def _shut_node(st: Books, node: int) -> None:
    """Take a node out of the open ones."""
    open_nodes = st.open_nodes[: st.clock[0].masked]
    low, high = 0, len(open_nodes)  # they are in order
    while low + 1 < high:
        middle = (low + high) // 2
        if open_nodes[middle] > node:
            high = middle
        else:
            low = middle
    behind = open_nodes[low:]  # counted from 0, it is compiled to one move of memory
    for place in range(len(behind) - 1):
        behind[place] = behind[place + 1]
    st.mask[node] = False
    st.clock[0].masked = len(open_nodes) - 1


@kernel_part
def _list_open_nodes(st: Books, of_class: int) -> None:
    """Mask and list the nodes of a class that are up and not shut; none is shut afterwards."""
    class_nodes, node_state, mask = st.class_nodes, st.node_state, st.mask
    open_nodes, shut = st.open_nodes, st.shut
    count = 0
    for place in range(st.class_first[of_class], st.class_first[of_class + 1]):
        node = class_nodes[place]
        is_open = node_state[node] == UP and not shut[node]
        shut[node] = False
        mask[node] = is_open
        open_nodes[count] = node
        count += 1 if is_open else 0
    st.clock[0].masked = count


@kernel_part
def first_try(st: Books, entry: int, from_s: float) -> float:
    """When to try a job first: none of the tries before could find nodes; NEVER_S: no try could.

    Tries are made at `from_s` and whenever a node comes free that was held (`open_next_s`), and
    look until the next one. So they find nothing before the first time at which as many nodes as
    the job needs were held for nobody, as long as the job may last, and had enough for it; nor,
    under a cap or limits of parts, before there may be room for its watts.
    """
    found_s = _when_free(st, entry, from_s)
    if st.rules[0].capped != 0:
        found_s = max(found_s, first_room_s(st, entry, st.clock[0].now_s))
    if found_s > st.clock[0].now_s + st.rules[0].bf_window_s:
        return NEVER_S
    try_s = from_s
    class_has, first = st.class_has, st.entry[entry].nodes * st.rules[0].nodes
    span_begin, span_end, span_next = st.span_begin, st.span_end, st.span_next
    if found_s > from_s:
        for index in range(st.clock[0].held_nodes):
            node = st.held_nodes[index]
            span = st.span_head[node] if class_has[first + node] else -1
            while span >= 0 and span_end[span] < found_s:
                following = span_next[span]
                if following < 0 or span_begin[following] > span_end[span]:
                    try_s = max(try_s, span_end[span])
                span = following
    return float(try_s)


@kernel_part
def _when_free(st: Books, entry: int, from_s: float) -> float:
    """The first time from `from_s` on by which enough nodes were free of others and had enough.

    Of many nodes the first few are waited for.
    """
    row = st.entry[entry]
    limit_s = row.limit_s
    soonest = st.soonest  # the first times among the nodes looked at so far
    count = min(st.ask[row.job].min_nodes, len(soonest))
    for index in range(count):
        soonest[index] = NEVER_S
    first = row.form % len(st.slot_form) * st.rules[0].nodes
    class_nodes, node_state = st.class_nodes, st.node_state
    ready, known = st.ready, st.is_ready_known
    span_head, span_begin = st.span_head, st.span_begin
    span_end, span_next = st.span_end, st.span_next
    found_s = NEVER_S
    bounded = st.rules[0].bounded != 0
    starts = find_part_starts(st, entry) if bounded else 0
    st.clock[0].short_of_watts = 0
    for place in range(st.class_first[row.nodes], st.class_first[row.nodes + 1]):
        node = class_nodes[place]
        if node_state[node] != UP or ready[first + node] >= found_s:
            continue
        free_s = from_s
        if bounded:
            free_s = max(free_s, first_in_parts_s(st, node, starts))
            if free_s > from_s:
                st.clock[0].short_of_watts = 1
        span = span_head[node]
        while span >= 0:
            if span_end[span] > free_s:
                if span_begin[span] > free_s + limit_s:
                    break
                free_s = span_end[span]
            span = span_next[span]
        if free_s >= found_s:
            continue
        ready_s = ready[first + node]
        if not known[first + node]:
            ready_s = ready_on(st, entry, node, found_s)
        time_s = max(free_s, ready_s)
        if time_s >= found_s:
            continue
        index = count - 1
        while index > 0 and soonest[index - 1] > time_s:
            soonest[index] = soonest[index - 1]
            index -= 1
        soonest[index] = time_s
        found_s = soonest[count - 1]
        if found_s <= from_s:
            break
    return float(found_s)
