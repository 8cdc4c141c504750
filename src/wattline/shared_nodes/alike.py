"""A job that asks for the same as the one planned just before it, for one node.

The nodes that are open to it are those that were, less the one that the other got. Three things
follow, as every node that is still open has what it had:

- Where the other found no node, or no watts, this one finds none: it is not tried now.
- will_run.py comes to the same groups of ends, up to the first whose last end was on that node
  alone. Where that is the group by which the other was planned, or none is, it goes on from there.
- The list of nodes with CPUs after a group is that of the other, less its node; and after a later
  group with those on which jobs end in between, the only ones that have more then.

Under a cap or limits of parts this holds for jobs that draw the same on all their nodes: what is
left for them only becomes less in the course of a cycle.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.offers import cpus_after, slot_of
from wattline.shared_nodes.one_on_tree import choose_one_on_tree, is_for_one_on_tree
from wattline.shared_nodes.placing import list_near_after
from wattline.shared_nodes.room import watts_fit
from wattline.shared_nodes.running import touches
from wattline.shared_nodes.state import NEVER_S, Books
from wattline.shared_nodes.within_bounds import chosen_within


@kernel_part
def forget_plan(st: Books) -> None:
    """Other nodes are open, or another plan is looked for, which uses `step` and `avail`."""
    st.clock[0].kept_steps = 0
    st.clock[0].kept_ended = 0


@kernel_part
def may_be_kept(st: Books, entry: int) -> bool:
    """Whether the plan of this job is of use to one that asks for the same."""
    rules = st.rules[0]
    row = st.entry[entry]
    power_counts = rules.capped != 0 or rules.bounded != 0
    return bool(is_for_one_on_tree(st, row.job) and (not power_counts or row.same_w != 0)
                and st.ask[row.job].options == 0 and row.dear == 0)


@kernel_part
def keep_plan(st: Books, steps: int, place: int, window_s: float) -> None:
    """Keep how the job was planned: by the ends in `step`, on one of the nodes of `kept_node`.

    The last group of ends began at this place, and was as long as this.
    """
    clock = st.clock[0]
    if steps > len(st.step):
        return
    clock.kept_steps = steps
    clock.kept_place = place
    clock.kept_window_s = window_s
    clock.kept_moved = clock.moved


@kernel_part
def is_plan_kept(st: Books, entry: int) -> bool:
    """Whether the plan of the job before this one is kept, and of use to it."""
    clock = st.clock[0]
    return bool(clock.kept_steps > 0 and clock.kept_moved == clock.moved
                and clock.open_ask == st.entry[entry].ask)


@kernel_part
def steps_as_before(st: Books) -> int:
    """Of the ends by which the job before was planned, how many are on open nodes, up to one."""
    count = 0
    while count < st.clock[0].kept_steps:
        place = st.step[count]
        node = st.running_node[place]
        if not (st.mask[node] if node >= 0 else touches(st, place)):
            break
        count += 1
    return count


@kernel_part
def plan_as_before(st: Books, entry: int, held: int, until_s: float) -> float:
    """When a job that goes as before could start there; NEVER_S: to be looked for."""
    clock = st.clock[0]
    job = st.entry[entry].job
    last_s = st.running_end[st.step[clock.kept_steps - 1]]
    start_s = float(max(last_s, clock.now_s + 1.0, clock.open_from_s))
    if last_s > until_s or not place_from_list(st, entry, clock.kept_ended, start_s, held):
        return NEVER_S
    if st.rules[0].capped != 0 and not watts_fit(st, job, start_s, held):
        return NEVER_S
    return start_s


@kernel_part
def place_from_list(st: Books, entry: int, ended: int, start_s: float, held: int) -> bool:
    """Choose an open node, as it is when running jobs before the place `ended` are over.

    From the list of those with CPUs, which is made if there is none, or one for a later place; for
    a start then, where parts have limits.
    """
    clock = st.clock[0]
    job = st.entry[entry].job
    if clock.kept_ended == 0 or ended < clock.kept_ended:
        list_near_after(st, entry, ended)
        _keep_near(st)
    else:
        _list_ends_up_to(st, entry, ended)
    clock.kept_ended = ended
    return _lists_enough(st, job) and choose_one_on_tree(st, job) and (
        st.rules[0].bounded == 0 or chosen_within(st, entry, start_s, held))


@kernel_part
def _keep_near(st: Books) -> None:
    near, kept_node = st.near, st.kept_node
    for index in range(st.clock[0].near):
        kept_node[index] = near[index]
    st.clock[0].kept_nodes = st.clock[0].near


@kernel_part
def _list_ends_up_to(st: Books, entry: int, ended: int) -> None:
    """Look again at the open nodes on which jobs end between the place of the list and this one."""
    slot = slot_of(st, entry)
    running_node, mask = st.running_node, st.mask
    for place in range(st.clock[0].kept_ended, ended):
        node = running_node[place]
        if node >= 0:
            if mask[node]:
                _list_node(st, node, cpus_after(st, entry, slot, node, ended))
            continue
        job = st.running[place]
        first = st.ask[job].first_row
        for row in range(first, first + st.live[job].nodes):
            node = st.row_node[row]
            if mask[node]:
                _list_node(st, node, cpus_after(st, entry, slot, node, ended))


@kernel_part
def _list_node(st: Books, node: int, cpus: int) -> None:
    """Write down what a node has then, which is no less than before; nodes are in order."""
    if cpus == 0:
        return
    st.avail[node] = cpus
    kept_node = st.kept_node
    low, high = 0, st.clock[0].kept_nodes
    while low < high:
        middle = (low + high) // 2
        if kept_node[middle] < node:
            low = middle + 1
        else:
            high = middle
    if low < st.clock[0].kept_nodes and kept_node[low] == node:
        return
    for place in range(st.clock[0].kept_nodes, low, -1):
        kept_node[place] = kept_node[place - 1]
    kept_node[low] = node
    st.clock[0].kept_nodes += 1


@kernel_part
def _lists_enough(st: Books, job: int) -> bool:
    """Leave open nodes alone in the list, which becomes `near`; whether one of them has enough."""
    clock = st.clock[0]
    asked = st.ask[job].cpus
    mask, near, kept_node, avail = st.mask, st.near, st.kept_node, st.avail
    count, most = 0, 0
    for place in range(clock.kept_nodes):
        node = kept_node[place]
        if mask[node]:
            kept_node[count] = node
            near[count] = node
            count += 1
            most = max(most, avail[node])
    clock.near = count
    clock.kept_nodes = count
    return bool(most >= asked)
