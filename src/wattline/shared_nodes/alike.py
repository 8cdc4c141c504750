"""A job that asks for the same as the one planned just before it, for one node.

The nodes that are open to it are those that were, less the one that the other got. So will_run.py
comes to the same group of ends, unless one of those by which it went there was on that node alone;
and there every node has what it had. Before it there is nothing for the one where there was nothing
for the other. Two in five of such plans find a node there, with a look at the few that had CPUs
instead of one at all that are open; for the others will_run.py goes on from there.

Under a cap or limits of parts this holds for jobs that draw the same on all their nodes: what is
left for them only becomes less in the course of a cycle.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.one_on_tree import choose_one_on_tree, is_for_one_on_tree
from wattline.shared_nodes.room import watts_fit
from wattline.shared_nodes.running import touches
from wattline.shared_nodes.state import NEVER_S, Books
from wattline.shared_nodes.within_bounds import chosen_within


@kernel_part
def forget_plan(st: Books) -> None:
    """Other nodes are open, or another plan is looked for, which uses `step` and `avail`."""
    st.clock[0].kept_steps = 0


@kernel_part
def keep_plan(st: Books, entry: int, steps: int, place: int, window_s: float) -> None:
    """Keep how the job was planned: by the ends in `step`, on one of the nodes of `near`.

    The last group of ends began at this place, and was as long as this.
    """
    clock = st.clock[0]
    rules = st.rules[0]
    row = st.entry[entry]
    power_counts = rules.capped != 0 or rules.bounded != 0
    if steps > len(st.step) or not is_for_one_on_tree(st, row.job) or (
            power_counts and row.same_w == 0) or st.ask[row.job].options > 0:
        return
    clock.kept_steps = steps
    clock.kept_place = place
    clock.kept_window_s = window_s
    clock.kept_moved = clock.moved
    clock.kept_nodes = clock.near
    near, kept_node = st.near, st.kept_node
    for index in range(clock.near):
        kept_node[index] = near[index]


@kernel_part
def goes_as_before(st: Books, entry: int) -> bool:
    """Whether the job comes to the group of ends by which the one before it was planned."""
    clock = st.clock[0]
    if clock.kept_steps == 0 or clock.kept_moved != clock.moved or (
            clock.open_ask != st.entry[entry].ask):
        return False
    for index in range(clock.kept_steps):
        place = st.step[index]
        node = st.running_node[place]
        if not (st.mask[node] if node >= 0 else touches(st, place)):
            return False
    return True


@kernel_part
def plan_as_before(st: Books, entry: int, held: int, until_s: float) -> float:
    """When a job that goes as before could start there; NEVER_S: to be looked for."""
    clock = st.clock[0]
    job = st.entry[entry].job
    last_s = st.running_end[st.step[clock.kept_steps - 1]]
    if last_s > until_s or not _lists_enough(st, job):
        return NEVER_S
    choose_one_on_tree(st, job)
    start_s = float(max(last_s, clock.now_s + 1.0, clock.open_from_s))
    if st.rules[0].bounded != 0 and not chosen_within(st, entry, start_s, held):
        return NEVER_S
    if st.rules[0].capped != 0 and not watts_fit(st, job, start_s, held):
        return NEVER_S
    return start_s


@kernel_part
def _lists_enough(st: Books, job: int) -> bool:
    """List the nodes that were near and are open; whether one of them has enough."""
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
