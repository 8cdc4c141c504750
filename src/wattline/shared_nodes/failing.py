"""Nodes that fail, are drained and come back.

scontrol: State=DOWN (jobs on the node are lost, and requeued where they may: sbatch --requeue,
slurm.conf: JobRequeue), State=DRAIN (what runs may end).
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.arriving import send_back
from wattline.shared_nodes.outcome import NODE_FAILED
from wattline.shared_nodes.state import DOWN, DRAINED, UP, Books
from wattline.shared_nodes.waking import something_changed


@kernel_part
def node_fails(st: Books, node: int, drain: bool) -> None:
    clock = st.clock[0]
    something_changed(st)  # who was planned on it is planned elsewhere now, and leaves other nodes
    st.node_out[node] += 1
    if drain:
        if st.node_state[node] == UP:
            st.node_state[node] = DRAINED
    else:
        st.node_state[node] = DOWN
        place = 0
        while place < clock.running:
            job = st.running[clock.first_running + place]
            if _is_on(st, job, node):
                send_back(st, job, bool(st.ask[job].requeue != 0), NODE_FAILED)
            else:
                place += 1


@kernel_part
def node_returns(st: Books, node: int) -> None:
    """A node comes back when the last of its outages is over."""
    st.node_out[node] -= 1
    if st.node_out[node] == 0:
        st.node_state[node] = UP
        something_changed(st)


@kernel_part
def _is_on(st: Books, job: int, node: int) -> bool:
    first = st.ask[job].first_row
    found = False
    for index in range(first, first + st.live[job].nodes):
        found |= bool(st.row_node[index] == node)
    return found
