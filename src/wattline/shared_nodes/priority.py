"""The priority of waiting jobs.

priority_multifactor.html: the sum of weights times factors for age (slurm.conf: PriorityMaxAge),
fair-share, job size, partition, QOS, association and TRES, less nice. What never changes is worked
out once (priority_factors.py). Priorities are renewed every PriorityCalcPeriod; a job that is
submitted between gets its own at once. With priority/basic each submission has one less than the
one before it, less nice: a nice of 3 lets three later ones pass.
"""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.fairshare import share_fairly
from wattline.shared_nodes.queueing import set_key_of, sort_queue
from wattline.shared_nodes.state import QUEUED, Books
from wattline.shared_nodes.usage import decay


@kernel_part
def set_priority(st: Books, job: int) -> None:
    """Give a job that waits and is eligible the priority of now."""
    rules = st.rules[0]
    ask = st.ask[job]
    if rules.multifactor == 0:
        st.live[job].priority = ask.factor
        return
    age = 0.0
    if rules.max_age_s > 0.0:
        waited_s = st.clock[0].now_s - st.live[job].age_from_s
        age = min(max(waited_s / rules.max_age_s, 0.0), 1.0)
    total = ask.factor + rules.age * age
    if ask.association >= 0:
        total += rules.fairshare * st.assoc_factor[ask.association]
    st.live[job].priority = total


@kernel_part
def renew_priorities(st: Books) -> bool:
    """Decay usage, work out all priorities; whether the order of the queue changed."""
    clock = st.clock[0]
    decay(st)
    clock.last_priority_s = clock.now_s
    period_s = st.rules[0].calc_period_s
    phase_s = st.rules[0].phase_s
    clock.priority_s = phase_s + (
        np.floor((clock.now_s - phase_s) / period_s) + 1.0) * period_s
    if clock.priority_s <= clock.now_s:  # the grid is rounded: it may give this very time again
        clock.priority_s += period_s
    share_fairly(st)
    _renew_queue(st)
    return sort_queue(st)


@kernel_part
def _renew_queue(st: Books) -> None:
    """Priorities of those that wait; others are taken out of the queue, as by `sweep_queue`."""
    queue = st.queue
    kept = 0
    for place in range(st.clock[0].queue):
        entry = queue[place]
        job = st.entry[entry].job
        if st.live[job].phase == QUEUED:
            queue[kept] = entry
            kept += 1
            set_priority(st, job)
            set_key_of(st, entry, job)
    st.clock[0].queue = kept
