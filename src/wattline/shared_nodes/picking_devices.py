"""Putting nodes into the choice of a job that counts its devices, not its nodes.

sbatch: --gpus (in all), --cpus-per-gpu, --mem-per-gpu. A node that is put into the choice brings
all devices that it has free, as many as its CPUs and its memory serve; the choice is complete once
they are as many as the job asks for. How many it then gets of each node follows from their order:
all that it still lacks, but one for each node to come.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import Books


@kernel_part
def begin_devices(st: Books, job: int) -> None:
    """No device is picked yet."""
    rules = st.rules[0]
    ask = st.ask[job]
    st.clock[0].most_cpus = ask.cpus
    for choice in range(rules.choices):
        st.got[choice] = 0
        if st.choice_is_gpu[choice]:
            by_gpu = ask.gpu_cpus * st.own_job[job * rules.choices + choice]
            st.clock[0].most_cpus = max(st.clock[0].most_cpus, by_gpu)


@kernel_part
def has_devices(st: Books, job: int) -> bool:
    """Whether the nodes that were picked have all devices that the job asks for in all."""
    choices = st.rules[0].choices
    missing = 0
    for choice in range(choices):
        missing += max(st.own_job[job * choices + choice] - st.got[choice], 0)
    return bool(missing == 0)


@kernel_part
def devices_suffice(st: Books, job: int, first: int, last: int) -> bool:
    """Whether the nodes in these places of `near` have what is still missing."""
    choices = st.rules[0].choices
    for choice in range(choices):
        missing = st.own_job[job * choices + choice] - st.got[choice]
        for place in range(first, last + 1):
            node = st.near[place]
            if st.chosen[node] == 0:
                missing -= st.has[node * choices + choice]
        if missing > 0 and st.own_job[job * choices + choice] > 0:
            return False
    return True


@kernel_part
def take_with_devices(st: Books, job: int, node: int) -> bool:
    """Pick a node with all of its devices; a later try finds it with the CPUs it gave in this."""
    rules = st.rules[0]
    ask = st.ask[job]
    clock = st.clock[0]
    cpus = st.avail[node]
    if ask.exclusive == 0:
        to_come = max(ask.min_nodes - clock.picked - 1, 0)
        cpus = max(min(cpus, clock.most_cpus - to_come * ask.cpus_per_task), ask.cpus_per_task)
        st.avail[node] = cpus
    by_gpu = 0
    for choice in range(rules.choices):
        if st.own_job[job * rules.choices + choice] > 0:
            count = st.has[node * rules.choices + choice]
            if ask.gpu_cpus > 0 and st.choice_is_gpu[choice]:
                count = min(count, cpus // ask.gpu_cpus)
                by_gpu = max(by_gpu, count * ask.gpu_cpus)
            st.got[choice] += count
    if ask.exclusive == 0 and by_gpu > 0:
        cpus = by_gpu
    st.pick[clock.picked] = node
    st.pick_cpus[clock.picked] = cpus
    st.chosen[node] = 1
    clock.picked += 1
    clock.missing -= cpus
    clock.most_cpus -= cpus
    return True


@kernel_part
def share_out(st: Books, job: int) -> None:
    """Tasks and devices by node, once the choice is complete: from its first node to its last."""
    ask = st.ask[job]
    clock = st.clock[0]
    choices = st.rules[0].choices
    for choice in range(choices):
        st.got[choice] = st.own_job[job * choices + choice]
    # Nodes that were taken for their devices alone have one task each, and others as many fewer.
    spare = max(ask.cpus - clock.picked * ask.cpus_per_task, 0)
    trims = ask.exclusive == 0 and ask.gpu_cpus == 0 and clock.missing < 0
    last = -1
    for to_come in range(clock.picked - 1, -1, -1):
        place = _place_of_next(st, last)
        last = st.pick[place]
        if trims:
            more = min(st.pick_cpus[place] - ask.cpus_per_task, spare)
            st.pick_cpus[place] = ask.cpus_per_task + more
            spare -= more
        _share_devices(st, job, place, to_come)


@kernel_part
def _place_of_next(st: Books, last: int) -> int:
    """The place in `pick` of the first node behind this one."""
    found = -1
    for place in range(st.clock[0].picked):
        node = st.pick[place]
        if node > last and (found < 0 or node < st.pick[found]):
            found = place
    return found


@kernel_part
def _share_devices(st: Books, job: int, place: int, to_come: int) -> None:
    """What a picked node gives of each choice, with so many nodes behind it."""
    ask = st.ask[job]
    choices = st.rules[0].choices
    node = st.pick[place]
    by_gpu = 0
    for choice in range(choices):
        count = 0
        if st.own_job[job * choices + choice] > 0:
            count = max(min(st.has[node * choices + choice], st.got[choice] - to_come), 0)
            if ask.gpu_cpus > 0 and st.choice_is_gpu[choice]:
                count = min(count, st.pick_cpus[place] // ask.gpu_cpus)
                by_gpu = max(by_gpu, count * ask.gpu_cpus)
        st.pick_devices[place * choices + choice] = count
        st.got[choice] -= count
    if ask.exclusive == 0 and by_gpu > 0:
        st.pick_cpus[place] = max(by_gpu, ask.cpus_per_task)
