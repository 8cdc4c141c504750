"""The nodes that a backfill cycle holds for jobs to come: per node a chain of spans of time.

slurm.conf: bf_resolution (times are rounded down to it), bf_window. As in Slurm, a job that is
planned holds its nodes whole, however little of them it asks for.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import NEVER_S, UP, Books


@kernel_part
def clear_spans(st: Books) -> None:
    for node in range(st.rules[0].nodes):
        st.span_head[node] = -1
    st.clock[0].intervals = 0


@kernel_part
def add_span(st: Books, node: int, begin_s: float, end_s: float) -> None:
    index = st.clock[0].intervals
    st.clock[0].intervals = index + 1
    st.span_begin[index] = begin_s
    st.span_end[index] = end_s
    before = -1
    after = st.span_head[node]
    while after >= 0 and st.span_begin[after] < begin_s:
        before = after
        after = st.span_next[after]
    st.span_next[index] = after
    if before < 0:
        st.span_head[node] = index
    else:
        st.span_next[before] = index


@kernel_part
def is_held(st: Books, node: int, begin_s: float, end_s: float) -> bool:
    """Whether the node is held for another job within these times."""
    span = st.span_head[node]
    while span >= 0 and st.span_begin[span] < end_s:
        if st.span_end[span] > begin_s:
            return True
        span = st.span_next[span]
    return False


@kernel_part
def mask_free_nodes(st: Books, entry: int, begin_s: float, end_s: float) -> float:
    """Mask the candidates that nobody holds from begin to end (included).

    Returns when the next node comes free that is held now, which is when to try again.
    """
    row = st.entry[entry]
    window_end_s = st.clock[0].now_s + st.rules[0].bf_window_s
    later_s = NEVER_S
    count = 0
    for place in range(st.class_first[row.nodes], st.class_first[row.nodes + 1]):
        node = st.class_nodes[place]
        free = st.node_state[node] == UP
        span = st.span_head[node]
        while span >= 0:
            following = st.span_next[span]
            if st.span_end[span] > begin_s:
                if st.span_begin[span] <= end_s:
                    free = False
                if following < 0 or st.span_begin[following] > st.span_end[span]:
                    if st.span_end[span] < window_end_s:
                        later_s = min(later_s, st.span_end[span])
                    break
            span = following
        # A node that is held twice on end is not free between; later spans may still overlap.
        if free and span >= 0:
            free = not is_held(st, node, begin_s, end_s)
        st.mask[node] = free
        count += 1 if free else 0
    st.clock[0].masked = count
    return later_s
