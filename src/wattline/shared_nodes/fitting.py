"""How many CPUs of a node a job could have.

slurm.conf: SelectTypeParameters (CR_Core_Memory and the like: cores, memory and GRES are consumed),
MaxCPUsPerNode, OverSubscribe=EXCLUSIVE, ExclusiveUser; sbatch: --ntasks-per-node, --mem-per-cpu,
--gres, --exclusive, --exclusive=user.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.by_devices import see_devices
from wattline.shared_nodes.state import Books


@kernel_part
def cpus_for(st: Books, job: int, partition: int, bank: int, node: int) -> int:
    """CPUs that this node could give to the job, 0 where it lacks something else."""
    rules = st.rules[0]
    ask = st.ask[job]
    place = bank * rules.nodes + node
    cpus = st.cpus_free[place]
    if ask.exclusive != 0:
        if st.jobs_on[place] != 0:
            return 0
    elif cpus < max(ask.cpus_per_task, ask.gpu_cpus):
        return 0
    if st.jobs_on[place] != 0:
        alone = ask.own_user != 0 or st.own_on[place] != 0
        if alone and st.user_on[place] != ask.user:
            return 0
    most = st.part[partition].max_cpus_per_node
    if most < st.node_cpus[node]:
        cpus = min(cpus, most - st.part_cpus[partition * rules.nodes + node])
    if rules.memory_counts != 0:
        free = st.memory_free[place]
        if ask.whole_memory != 0:
            if free < st.node_memory[node] or free == 0:
                return 0
        elif ask.memory_cpu > 0:
            # It holds all CPUs of the node, whatever MaxCPUsPerNode leaves for it to use.
            if ask.exclusive != 0 and ask.memory_cpu * st.node_cpus[node] > free:
                return 0
            threads = st.node_threads[node]  # it has memory for every thread of its cores
            cpus = min(cpus, free // ask.memory_cpu // threads * threads)
        elif max(ask.memory_node, ask.gpu_memory) > free:
            return 0
    if ask.any_gres != 0:
        cpus = _with_devices(st, job, place, cpus)
    return _in_tasks(st, job, cpus)


@kernel_part
def _with_devices(st: Books, job: int, place: int, cpus: int) -> int:
    """The CPUs that can be used with the node's free devices."""
    rules = st.rules[0]
    for choice in range(rules.choices):
        each = st.need[job * rules.choices + choice]
        per_task = st.need_task[job * rules.choices + choice]
        if each == 0 and per_task == 0:
            continue
        free = 0
        for kind in range(rules.kinds):
            if st.choice_kind[choice * rules.kinds + kind]:
                free += st.gres_free[place * rules.kinds + kind]
        if free < each:
            return 0
        if per_task > 0:
            cpus = min(cpus, (free - each) // per_task * st.ask[job].cpus_per_task)
    return cpus


@kernel_part
def _in_tasks(st: Books, job: int, cpus: int) -> int:
    """Rounded down to whole tasks, and to the tasks that the job wants on each node."""
    ask = st.ask[job]
    wanted = ask.tasks_per_node * ask.cpus_per_task
    if cpus < max(wanted, 1):
        return 0
    if ask.exclusive != 0:
        return int(cpus)
    if wanted > 0:
        return int(wanted)
    return int(cpus - cpus % ask.cpus_per_task)


@kernel_part
def gather(st: Books, entry: int) -> bool:
    """List the nodes of `mask` that could serve now; whether they may be enough.

    `offer` must be up to date.
    """
    row = st.entry[entry]
    class_nodes, offer, avail = st.class_nodes, st.offer, st.avail
    first = row.form % len(st.slot_form) * st.rules[0].nodes
    for place in range(st.class_first[row.nodes], st.class_first[row.nodes + 1]):
        node = class_nodes[place]
        avail[node] = offer[first + node]
    if not list_near(st, entry):
        return False
    if st.ask[row.job].by_devices != 0:
        see_devices(st, entry, 0)
    return True


@kernel_part
def gather_copies(st: Books, entry: int) -> bool:
    """The same on the copies of the nodes (bank 1)."""
    row = st.entry[entry]
    for place in range(st.class_first[row.nodes], st.class_first[row.nodes + 1]):
        node = st.class_nodes[place]
        if st.mask[node]:
            st.avail[node] = cpus_for(st, row.job, row.partition, 1, node)
    if not list_near(st, entry):
        return False
    if st.ask[row.job].by_devices != 0:
        see_devices(st, entry, 1)
    return True


@kernel_part
def list_near(st: Books, entry: int) -> bool:
    """List the nodes of `mask` with CPUs in `avail`; whether they may be enough."""
    row = st.entry[entry]
    ask = st.ask[row.job]
    count = 0
    total = 0
    most = 0
    class_nodes, avail, mask, near = st.class_nodes, st.avail, st.mask, st.near
    for place in range(st.class_first[row.nodes], st.class_first[row.nodes + 1]):
        node = class_nodes[place]
        cpus = avail[node]
        if cpus > 0 and mask[node]:
            near[count] = node
            count += 1
            total += cpus
            most = max(most, cpus)
    st.clock[0].near = count
    return enough(st, row.job, count, total, most) and bool(
        ask.required < 0 or has_required(st, row.job))


@kernel_part
def enough(st: Books, job: int, count: int, total: int, most: int) -> bool:
    """Whether so many nodes with so many CPUs may serve: necessary, not sufficient."""
    ask = st.ask[job]
    return bool(count >= ask.min_nodes and (ask.exclusive != 0 or total >= ask.cpus)
                and most * ask.max_nodes >= ask.cpus)


@kernel_part
def has_required(st: Books, job: int) -> bool:
    """Whether every node that the job must have could serve (sbatch: --nodelist)."""
    first = st.ask[job].required * st.rules[0].nodes
    found = 0
    for place in range(st.clock[0].near):
        if st.required[first + st.near[place]]:
            found += 1
    return bool(found >= st.ask[job].required_nodes)
