"""The choice of nodes for a job that has an order of nodes of its own.

slurm.conf: select/cons_tres. Of nodes of one Weight those go first that the job's groups have
already, where a limit counts their nodes (limits.py); then, for a job whose devices count (in all,
by task, or all of whole nodes), those that have more GPUs for it free, as many as it asks for at
most, so that few nodes serve it. Where a choice fails, nodes with the fewest CPUs and GPUs together
are left out and it is tried again.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.limits import is_of_its_groups
from wattline.shared_nodes.one_try import choose_above
from wattline.shared_nodes.picking_devices import share_out
from wattline.shared_nodes.state import Books


@kernel_part
def see_devices(st: Books, entry: int, bank: int) -> None:
    """Look at the devices of all nodes of `near`, as they are in a bank."""
    for place in range(st.clock[0].near):
        see_devices_of(st, entry, bank, st.near[place])


@kernel_part
def see_devices_of(st: Books, entry: int, bank: int, node: int) -> None:
    """Write down what a node has free for the job, and where it stands in the order of nodes."""
    job = st.entry[entry].job
    rules = st.rules[0]
    ask = st.ask[job]
    place = bank * rules.nodes + node
    gpus, near = 0, 0
    for choice in range(rules.choices):
        at = job * rules.choices + choice
        in_all = st.own_job[at] + st.own_task[at] * ask.tasks
        free = 0
        if in_all > 0 or st.own_node[at] > 0:
            free = _free_of(st, place, choice)
        if st.choice_is_gpu[choice]:
            if ask.gpu_cpus > 0:
                free = min(free, st.avail[node] // ask.gpu_cpus)
            if ask.gpu_memory > 0 and rules.memory_counts != 0:
                free = min(free, st.memory_free[place] // ask.gpu_memory)
            most = st.own_node[at] if st.own_node[at] > 0 else in_all
            near += free if ask.exclusive != 0 else min(free, most)
            gpus += free
        st.has[node * rules.choices + choice] = free
    st.near_gpus[node] = gpus
    rank = 2 * st.node_weight[node] + (0 if is_of_its_groups(st, entry, node) else 1)
    st.near_rank[node] = (rank + 1) * (rules.most_gpus + 1) - 1 - min(near, rules.most_gpus)


@kernel_part
def _free_of(st: Books, place: int, choice: int) -> int:
    kinds = st.rules[0].kinds
    free = 0
    for kind in range(kinds):
        if st.choice_kind[choice * kinds + kind]:
            free += st.gres_free[place * kinds + kind]
    return free


@kernel_part
def choose_by_devices(st: Books, job: int) -> bool:
    """Choose among the nodes of `near`, the devices of which must have been seen."""
    clock = st.clock[0]
    fewest = st.ask[job].min_nodes
    clock.fewest = 0
    most = 0
    if _try(st, job):
        return True
    for place in range(clock.near):
        most = max(most, _size(st, st.near[place]))
    for size in range(1, most):
        if clock.near <= fewest:
            return False
        if (_leave_small_out(st, job, size, fewest) or size == 1) and _try(st, job):
            return True
    return False


@kernel_part
def _try(st: Books, job: int) -> bool:
    for place in range(st.clock[0].near):
        st.chosen[st.near[place]] = 0
    st.clock[0].picked = 0
    if not choose_above(st, job, 0):
        return False
    share_out(st, job)
    return True


@kernel_part
def _size(st: Books, node: int) -> int:
    return int(st.avail[node] + st.near_gpus[node])


@kernel_part
def _leave_small_out(st: Books, job: int, size: int, fewest: int) -> bool:
    """Take nodes of this size and smaller out of `near`, so that enough are left; whether any."""
    required = st.ask[job].required
    left = st.clock[0].near
    count = 0
    for place in range(st.clock[0].near):
        node = st.near[place]
        named = required >= 0 and st.required[required * st.rules[0].nodes + node]
        if left > fewest and _size(st, node) <= size and not named:
            left -= 1
        else:
            st.near[count] = node
            count += 1
    is_less = count < st.clock[0].near
    st.clock[0].near = count
    return bool(is_less)
