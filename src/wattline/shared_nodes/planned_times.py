"""The times for which a job that is planned holds nodes, licences and watts.

slurm.conf: bf_resolution. Times of plans are rounded down to it. A running job gives back what it
has at its limit, rounded alike: a plan that takes over from it, or from a plan, does not count
beside it.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import Books

LARGEST_WHOLE_S = 2.0**52
"""Up to here times are rounded as integers."""
JUST_AFTER_S = 1e-6
"""What is past its limit now draws power now; plans count it as over right after."""


@kernel_part
def rounded_down(st: Books, time_s: float) -> float:
    """To the resolution; seconds since 1970 are whole below it where it is, which is quicker."""
    step_s = st.rules[0].bf_resolution_s
    unix_s = st.rules[0].unix_s
    step = int(step_s)
    if step == step_s and 0.0 <= time_s + unix_s < LARGEST_WHOLE_S:
        return float(int(time_s + unix_s) // step * step_s - unix_s)
    return float((time_s + unix_s) // step_s * step_s - unix_s)


@kernel_part
def step_after(st: Books, time_s: float) -> float:
    """The next step of the resolution: limits before it are over by this time in plans."""
    return rounded_down(st, time_s) + st.rules[0].bf_resolution_s


@kernel_part
def planned_end(st: Books, start_s: float, limit_s: float) -> float:
    """Until when a job that starts then is planned to last: one step of the resolution at least."""
    return max(rounded_down(st, start_s + limit_s), step_after(st, start_s))


@kernel_part
def counted_until(st: Books, start_s: float, limit_s: float) -> float:
    """Until when a job that starts then must find room for its watts.

    One that starts now must not last into a plan, not even by less than the resolution.
    """
    if start_s <= st.clock[0].now_s:
        return start_s + limit_s
    return planned_end(st, start_s, limit_s)


@kernel_part
def is_held(st: Books, node: int, begin_s: float, end_s: float, first: int) -> bool:
    """Whether the node is held within these times; spans before `first` do not count."""
    span = st.span_head[node]
    while span >= 0 and st.span_begin[span] < end_s:
        if st.span_end[span] > begin_s and span >= first:
            return True
        span = st.span_next[span]
    return False


@kernel_part
def overlaps(st: Books, entry: int, start_s: float) -> bool:
    """Whether a node that was picked is held by another job at that time.

    Times of the site's own reservations are not rounded, and were kept to in the choice. The times
    that were looked at are kept for who holds the nodes.
    """
    clock = st.clock[0]
    clock.held_start_s = start_s
    clock.held_begin_s = rounded_down(st, start_s)
    clock.held_end_s = planned_end(st, start_s, st.entry[entry].limit_s)
    found = False
    for place in range(clock.picked):
        found |= is_held(
            st, st.pick[place], clock.held_begin_s, clock.held_end_s, clock.reserved)
    return found
