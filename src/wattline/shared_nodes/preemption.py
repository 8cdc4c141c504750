"""Jobs that give way to others.

slurm.conf: PreemptType (preempt/qos, preempt/partition_prio), PreemptMode, GraceTime; sacctmgr:
Preempt, PreemptMode and GraceTime of a QOS. Running jobs are taken by the priority of their QOS, or
the tier of their partition, lowest first, then those on fewer nodes, then in the order of their
submission (preempt_qos.c, preempt_partition_prio.c), until the job fits; those that would not have
been needed stay. A job that is requeued or cancelled leaves at once, or at the next look at limits
after its grace; a requeued one may begin again only when its old credential has expired. For one
that is suspended see suspending.py.

A job that started or went on at this very instant does not give way in it, so that each starts at
most once in an instant. QOS that preempt each other are none: see preempt_loops.py.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.arriving import send_back
from wattline.shared_nodes.limits import may_have, may_run, may_run_there
from wattline.shared_nodes.machine import CANCEL, KEEP, SUSPEND
from wattline.shared_nodes.outcome import PREEMPTED
from wattline.shared_nodes.overtime import limit_look
from wattline.shared_nodes.queueing import BY_QOS, may_preempt_by_qos
from wattline.shared_nodes.starting import picked_tres
from wattline.shared_nodes.state import GRACE, RUNNING, Books
from wattline.shared_nodes.suspending import suspend_job
from wattline.shared_nodes.timers import add_timer
from wattline.shared_nodes.within_bounds import NOW, place_within, power_allows


@kernel_part
def make_room(st: Books, entry: int) -> bool:
    """Let jobs give way, so that this one may be tried again; whether any did at once.

    None goes unless the job could then start: with nodes, under the cap, and within its limits.
    """
    count = _find_victims(st, entry)
    if count == 0:
        return False
    _copy_all(st)
    needed = _take_until_it_fits(st, entry, count)
    found = needed > 0 and _within_limits(st, entry)
    for place in range(count):
        if st.victims[place] >= 0:
            st.live[st.victims[place]].leaves = 0
    return _let_go(st, needed) if found else False


@kernel_part
def _take_until_it_fits(st: Books, entry: int, count: int) -> int:
    """How many of `victims` go, those that stay as -1 among them; 0 where all are not enough."""
    needed = 0
    freed_w = 0.0
    fits = _fits_in_copy(st, entry, freed_w)
    while needed < count and not fits:
        freed_w += _change_copy(st, st.victims[needed], 1)
        needed += 1
        fits = _fits_in_copy(st, entry, freed_w)
    if not fits:
        return 0
    for place in range(needed - 2, -1, -1):
        # Does it fit without this one leaving?
        freed_w += _change_copy(st, st.victims[place], -1)
        if _fits_in_copy(st, entry, freed_w):
            st.victims[place] = -1
        else:
            freed_w += _change_copy(st, st.victims[place], 1)
    _fits_in_copy(st, entry, freed_w)  # what the last try picked may be less
    return needed


@kernel_part
def _fits_in_copy(st: Books, entry: int, freed_w: float) -> bool:
    now_s = st.clock[0].now_s
    return bool(place_within(st, entry, NOW, now_s, 0, 1)
                and power_allows(st, st.entry[entry].job, now_s, 0, freed_w, 1))


@kernel_part
def _within_limits(st: Books, entry: int) -> bool:
    """Whether limits let the job have what was picked; Slurm asks before any job gives way."""
    if st.rules[0].enforce_limits == 0:
        return True
    picked_tres(st, entry)
    return may_have(st, entry) and may_run(st, entry) and may_run_there(st, entry)


@kernel_part
def _find_victims(st: Books, entry: int) -> int:
    """Running jobs that this one may take the nodes of, in the order in which they go."""
    count = 0
    if not _takes_from_any(st, entry):
        return 0
    for place in range(st.clock[0].running):
        other = st.running[st.clock[0].first_running + place]
        if st.live[other].stretch_s >= st.clock[0].now_s:
            continue
        if _mode(st, entry, other) == KEEP or not _shares_nodes(st, entry, other):
            continue
        index = count
        while index > 0 and _goes_first(st, other, st.victims[index - 1]):
            st.victims[index] = st.victims[index - 1]
            index -= 1
        st.victims[index] = other
        count += 1
    return count


@kernel_part
def _takes_from_any(st: Books, entry: int) -> bool:
    """Whether there are partitions whose jobs give way to this one's; by QOS there may be."""
    tier = st.part[st.entry[entry].partition].tier
    found = st.rules[0].preempt == BY_QOS
    for partition in range(st.rules[0].partitions):
        part = st.part[partition]
        found |= part.tier < tier and part.preempt_mode != KEEP
    return bool(found)


@kernel_part
def _goes_first(st: Books, one: int, other: int) -> bool:
    first, second = _rank(st, one), _rank(st, other)
    if first != second:
        return first < second
    if st.live[one].nodes != st.live[other].nodes:
        return bool(st.live[one].nodes < st.live[other].nodes)
    return one < other


@kernel_part
def _rank(st: Books, job: int) -> int:
    if st.rules[0].preempt == BY_QOS:
        return int(st.qos_rank[st.ask[job].qos])
    return int(st.part[st.entry[st.live[job].entry].partition].tier)


@kernel_part
def _mode(st: Books, entry: int, other: int) -> int:
    """What becomes of a running job for this one's sake."""
    row = st.entry[entry]
    held_by = st.live[other].entry
    if st.rules[0].preempt == BY_QOS:
        if not may_preempt_by_qos(st, row.job, other):
            return KEEP
        return int(st.qos_mode[st.ask[other].qos])
    theirs = st.entry[held_by].partition
    if st.part[row.partition].tier <= st.part[theirs].tier:
        return KEEP
    return int(st.part[theirs].preempt_mode)


@kernel_part
def _grace_s(st: Books, job: int) -> float:
    if st.rules[0].preempt == BY_QOS:
        return float(st.qos_grace[st.ask[job].qos])
    return float(st.part[st.entry[st.live[job].entry].partition].grace_s)


@kernel_part
def _shares_nodes(st: Books, entry: int, other: int) -> bool:
    """Whether it is on a node that is open to the job."""
    partition = st.entry[entry].partition
    first = st.ask[other].first_row
    found = False
    for index in range(first, first + st.live[other].nodes):
        node = st.row_node[index]
        found |= bool(st.mask[node] and st.part_nodes[partition * st.rules[0].nodes + node])
    return found


@kernel_part
def _copy_all(st: Books) -> None:
    nodes = st.rules[0].nodes
    kinds = st.rules[0].kinds
    for node in range(nodes):
        st.cpus_free[nodes + node] = st.cpus_free[node]
        st.memory_free[nodes + node] = st.memory_free[node]
        st.jobs_on[nodes + node] = st.jobs_on[node]
        st.user_on[nodes + node] = st.user_on[node]
        st.own_on[nodes + node] = st.own_on[node]
    for index in range(nodes * kinds):
        st.gres_free[nodes * kinds + index] = st.gres_free[index]


@kernel_part
def _change_copy(st: Books, job: int, sign: int) -> float:
    """Take a job out of the copy (`sign` 1), or put it back (-1); the watts that this frees."""
    rules = st.rules[0]
    st.live[job].leaves = 1 if sign > 0 else 0
    first = st.ask[job].first_row
    for index in range(first, first + st.live[job].nodes):
        place = rules.nodes + st.row_node[index]
        st.cpus_free[place] += sign * st.row_cpus[index]
        st.memory_free[place] += sign * st.row_memory[index]
        st.jobs_on[place] -= sign
        st.own_on[place] -= sign * st.ask[job].own_user
        for kind in range(rules.kinds):
            st.gres_free[place * rules.kinds + kind] += (
                sign * st.row_gres[index * rules.kinds + kind])
    return float(sign * st.live[job].watts)


@kernel_part
def _let_go(st: Books, needed: int) -> bool:
    """Send the victims away, or begin their grace; whether all of them left at once."""
    at_once = True
    for place in range(needed):
        job = st.victims[place]
        if job >= 0 and _grace_s(st, job) > 0.0:
            at_once = False
    for place in range(needed):
        job = st.victims[place]
        if job < 0:
            continue
        if at_once:
            _send_away(st, job)
        elif st.live[job].preempted == 0:
            st.live[job].preempted = 1
            end_s = limit_look(st, st.clock[0].now_s + _grace_s(st, job))
            add_timer(st, end_s, GRACE, job, st.live[job].generation)
    return at_once


@kernel_part
def _send_away(st: Books, job: int) -> None:
    live = st.live[job]
    mode = st.part[st.entry[live.entry].partition].preempt_mode
    if st.rules[0].preempt == BY_QOS:
        mode = st.qos_mode[st.ask[job].qos]
    if mode == SUSPEND:
        suspend_job(st, job)
    else:
        send_back(st, job, bool(mode != CANCEL and st.ask[job].requeue != 0), PREEMPTED)


@kernel_part
def grace_is_over(st: Books, job: int) -> None:
    """A victim's grace has passed."""
    if st.live[job].phase == RUNNING:
        _send_away(st, job)
