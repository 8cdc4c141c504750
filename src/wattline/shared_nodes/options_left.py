"""Which classes of node a job chooses among: known before the simulation, of each job.

Those that could run it on the empty machine. Of these it passes over, as long as others are left,
those on which it is known to take longer than its limit, and those on which it would be above the
highest cap even alone. Then those that score worse than the best of the rest by more than the
patience. A job of which none could run all gets nodes of any class.
"""

from __future__ import annotations

from typing import Any

from wattline.model.kernel import kernel, kernel_part
from wattline.shared_nodes.by_class import place_on_class
from wattline.shared_nodes.offers import offers_now
from wattline.shared_nodes.power import picked_watts
from wattline.shared_nodes.state import NEVER_S, Books

NOW = -1
ROUNDING = 1e-9


def most_room_w(st: Books) -> float:
    """Watts that the highest cap has for one job, beside idle nodes unless these may sleep."""
    if st.rules[0].capped == 0:
        return NEVER_S
    asleep = st.rules[0].suspend_time_s >= 0.0
    idle_w = 0.0 if asleep else float(st.node_idle_w.sum())
    return float(st.cap_w.max()) * (1.0 + ROUNDING) - idle_w


@kernel
def leave_options(st: Books, patience: float, room_w: float) -> None:
    """Leave each job the options that it chooses among; `room_w` is `most_room_w`."""
    for node in range(st.rules[0].nodes):
        st.mask[node] = True
    for job in range(len(st.ask)):
        if st.ask[job].options > 0:
            _leave_fitting(st, job)
            first = st.ask[job].first_option
            last = first + st.ask[job].options
            left = st.option_left[first:last]
            _keep_up_to(left, st.option_claimed_s[first:last], _longest_s(st, job))
            _keep_up_to(left, st.option_alone_w[first:last], room_w)
            if patience > 0.0:
                score = st.option_score[first:last]
                _keep_up_to(left, score, _least(left, score) + patience)
            _close_ranks(st, job)


@kernel_part
def _longest_s(st: Books, job: int) -> float:
    longest_s = 0.0
    first = st.ask[job].first_entry
    for entry in range(first, first + st.ask[job].entries):
        longest_s = max(longest_s, st.entry[entry].limit_s)
    return longest_s


@kernel_part
def _leave_fitting(st: Books, job: int) -> None:
    """Leave the options that could run the job in one of its partitions, on the empty machine."""
    ask = st.ask[job]
    own_w = ask.node_w
    for option in range(ask.first_option, ask.first_option + ask.options):
        st.option_left[option] = 0
        for entry in range(ask.first_entry, ask.first_entry + ask.entries):
            if st.option_left[option] == 0 and st.entry[entry].fits != 0 and (
                    offers_now(st, entry) and place_on_class(st, entry, option, NOW, 0)):
                st.option_left[option] = 1
                st.option_alone_w[option] = picked_watts(st, job, 0)
    ask.node_w = own_w


@kernel_part
def _keep_up_to(left: Any, value: Any, most: float) -> None:
    """Leave only those with a value of at most so much, where there is one."""
    if _least(left, value) > most:
        return
    for index in range(len(left)):
        if value[index] > most:
            left[index] = 0


@kernel_part
def _least(left: Any, value: Any) -> float:
    least = NEVER_S
    for index in range(len(left)):
        if left[index] != 0:
            least = min(least, value[index])
    return least


@kernel_part
def _close_ranks(st: Books, job: int) -> None:
    """Move what is left to the front: of each class the best, as the others have the same nodes."""
    ask = st.ask[job]
    first = ask.first_option
    count = 0
    for option in range(first, first + ask.options):
        is_new = st.option_left[option] != 0
        for other in range(first, first + count):
            is_new = is_new and st.option_kind[other] != st.option_kind[option]
        if is_new:
            to = first + count
            st.option_kind[to] = st.option_kind[option]
            st.option_row[to] = st.option_row[option]
            st.option_s[to] = st.option_s[option]
            st.option_w[to] = st.option_w[option]
            count += 1
    ask.options = count
