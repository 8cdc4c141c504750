"""Which classes of node a job chooses among, and when: known before the simulation, of each job.

Those that could run it on the empty machine. Of these it passes over, as long as others are left,
those on which it is known to take longer than its limit, and those on which it would be above the
cap even alone: from when on no later step of the cap has room for it for as long as its limit. Then
those that score worse than the best of the rest by more than the patience. A job of which none
could run all gets nodes of any class.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.kernel import kernel, kernel_part
from wattline.shared_nodes.by_class import place_on_class
from wattline.shared_nodes.cap import ROUNDING_W
from wattline.shared_nodes.machine import FloatArray
from wattline.shared_nodes.offers import offers_now
from wattline.shared_nodes.planned_times import JUST_AFTER_S
from wattline.shared_nodes.power import least_idle_w, picked_watts
from wattline.shared_nodes.state import NEVER_S, Books

NOW = -1


@kernel
def leave_options(st: Books, patience: float) -> None:
    """Leave each job the options that it chooses among, and between which times."""
    for node in range(st.rules[0].nodes):
        st.mask[node] = True
    for job in range(len(st.ask)):
        if st.ask[job].options > 0:
            _leave_fitting(st, job)
            first = st.ask[job].first_option
            last = first + st.ask[job].options
            shortest_s, longest_s = _limits(st, job)
            _keep_up_to(st.option_left[first:last], st.option_claimed_s[first:last], longest_s)
            if st.rules[0].capped != 0:
                _end_under_cap(st, job, shortest_s)
            if patience > 0.0:
                _begin_by_patience(st, job, patience)
            _close_ranks(st, job)


def falls_of(st: Books) -> FloatArray:
    """When jobs cease to choose a class, at which those that wait are looked at again."""
    first, count = np.asarray(st.ask["first_option"]), np.asarray(st.ask["options"])
    shift = np.repeat(first - (np.cumsum(count) - count), count)
    times_s = np.unique(st.option_until_s[shift + np.arange(count.sum())])
    return np.asarray(times_s[times_s < NEVER_S] + JUST_AFTER_S)


@kernel_part
def _limits(st: Books, job: int) -> tuple[float, float]:
    """The shortest and the longest limit of a job in any of its partitions."""
    shortest_s, longest_s = NEVER_S, 0.0
    first = st.ask[job].first_entry
    for entry in range(first, first + st.ask[job].entries):
        shortest_s = min(shortest_s, st.entry[entry].limit_s)
        longest_s = max(longest_s, st.entry[entry].limit_s)
    return shortest_s, longest_s


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
                st.option_alone_w[option] = picked_watts(st, job, 0) + least_idle_w(st)
    ask.node_w = own_w


@kernel_part
def _end_under_cap(st: Books, job: int, limit_s: float) -> None:
    """Until when each option is one: those that have room last stay, come what may."""
    rules = st.rules[0]
    first = st.ask[job].first_option
    last = first + st.ask[job].options
    lasts_s = limit_s + rules.over_limit_s
    if rules.suspend_time_s >= 0.0:
        lasts_s += rules.resume_timeout_s
    last_s = -NEVER_S
    for option in range(first, last):
        until_s = _last_start_s(st, st.option_alone_w[option], lasts_s)
        st.option_until_s[option] = until_s
        if st.option_left[option] != 0:
            last_s = max(last_s, until_s)
    for option in range(first, last):
        if st.option_until_s[option] >= last_s:
            st.option_until_s[option] = NEVER_S


@kernel_part
def _last_start_s(st: Books, watts: float, lasts_s: float) -> float:
    """The last time from which on the cap is above so many watts for so long; NEVER_S: always."""
    end_s = NEVER_S
    for step in range(len(st.cap_s) - 1, -1, -1):
        if st.cap_w[step] + ROUNDING_W < watts:
            end_s = st.cap_s[step]
        elif end_s >= NEVER_S:
            return NEVER_S
        elif step == 0 or end_s - lasts_s >= st.cap_s[step]:
            return float(end_s - lasts_s)
    return -NEVER_S


@kernel_part
def _begin_by_patience(st: Books, job: int, patience: float) -> None:
    """An option that scores worse than another by more than the patience comes after its end."""
    first = st.ask[job].first_option
    last = first + st.ask[job].options
    for option in range(first, last):
        for other in range(first, last):
            if st.option_left[other] != 0 and (
                    st.option_score[other] + patience < st.option_score[option]):
                st.option_after_s[option] = max(
                    st.option_after_s[option], st.option_until_s[other])


@kernel_part
def _keep_up_to(left: Any, value: Any, most: float) -> None:
    """Leave only those with a value of at most so much, where there is one."""
    least = NEVER_S
    for index in range(len(left)):
        if left[index] != 0:
            least = min(least, value[index])
    for index in range(len(left)):
        if least <= most < value[index]:
            left[index] = 0


@kernel_part
def _close_ranks(st: Books, job: int) -> None:
    """Move what is left to the front: of each class the best, as the others have the same nodes."""
    ask = st.ask[job]
    first = ask.first_option
    count = 0
    for option in range(first, first + ask.options):
        until_s = st.option_until_s[option]
        is_new = st.option_left[option] != 0 and until_s > max(
            st.option_after_s[option], ask.submit_s)
        for other in range(first, first + count):
            is_new = is_new and not (st.option_kind[other] == st.option_kind[option]
                                     and st.option_until_s[other] >= until_s)
        if is_new:
            to = first + count
            st.option_kind[to] = st.option_kind[option]
            st.option_row[to] = st.option_row[option]
            st.option_s[to] = st.option_s[option]
            st.option_w[to] = st.option_w[option]
            st.option_after_s[to] = st.option_after_s[option]
            st.option_until_s[to] = until_s
            count += 1
    ask.options = count
