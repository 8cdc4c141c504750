"""A job that asks for the same as the one planned just before it, for one node.

The nodes that are open to it are those that were, less the one that the other got. So will_run.py
comes to the same group of ends, unless one of those by which it went there was on that node alone;
and there every node has what it had. Two in five of such plans find a node there, with a look at
the few that had CPUs instead of one at all that are open.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.one_on_tree import choose_one_on_tree, is_for_one_on_tree
from wattline.shared_nodes.running import touches
from wattline.shared_nodes.state import NEVER_S, Books


@kernel_part
def forget_plan(st: Books) -> None:
    """Other nodes are open, or another plan is looked for, which uses `step` and `avail`."""
    st.clock[0].kept_steps = 0


@kernel_part
def keep_plan(st: Books, job: int, steps: int) -> None:
    """Keep how the job was planned: by the ends in `step`, on one of the nodes of `near`."""
    clock = st.clock[0]
    rules = st.rules[0]
    if steps > len(st.step) or rules.capped != 0 or rules.bounded != 0 or (
            not is_for_one_on_tree(st, job)) or st.ask[job].options > 0:
        return
    clock.kept_steps = steps
    clock.kept_moved = clock.moved
    clock.kept_nodes = clock.near
    near, kept_node = st.near, st.kept_node
    for place in range(clock.near):
        kept_node[place] = near[place]


@kernel_part
def plan_as_before(st: Books, entry: int, until_s: float) -> float:
    """When the job could start by the plan that was kept; NEVER_S: to be looked for."""
    clock = st.clock[0]
    row = st.entry[entry]
    if clock.kept_steps == 0 or clock.kept_moved != clock.moved or clock.open_ask != row.ask:
        return NEVER_S
    last_s = st.running_end[st.step[clock.kept_steps - 1]]
    if last_s > until_s or not _comes_there(st) or not _lists_enough(st, row.job):
        return NEVER_S
    choose_one_on_tree(st, row.job)
    return float(max(last_s, clock.now_s + 1.0))


@kernel_part
def _comes_there(st: Books) -> bool:
    """Whether the ends by which the plan went are still those of jobs on open nodes."""
    for index in range(st.clock[0].kept_steps):
        place = st.step[index]
        node = st.running_node[place]
        if not (st.mask[node] if node >= 0 else touches(st, place)):
            return False
    return True


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
