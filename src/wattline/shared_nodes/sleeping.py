"""Nodes that are put to sleep when idle and woken for a job.

slurm.conf: SuspendTime, SuspendTimeout, ResumeTimeout, SuspendExcNodes. A node that has been idle
for SuspendTime draws nothing from then on; a job that gets it starts when it has booted, which is
taken to last ResumeTimeout, and booting draws idle power.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import ASLEEP, AWAKE, NODE_SLEEPS, Books
from wattline.shared_nodes.timers import add_timer


@kernel_part
def node_taken(st: Books, node: int) -> float:
    """A job comes onto a node: when the node is ready for it."""
    clock = st.clock[0]
    st.node_generation[node] += 1
    if st.node_power[node] == ASLEEP:
        st.node_power[node] = AWAKE
        clock.power_w += st.node_idle_w[node]
        st.node_idle_since[node] = clock.now_s + st.rules[0].resume_timeout_s
    # The time at which the node is up; long past for one that is.
    return float(st.node_idle_since[node])


@kernel_part
def node_was_left(st: Books, node: int) -> None:
    """The last job left a node: it may sleep after a while."""
    if st.rules[0].suspend_time_s < 0.0 or not st.node_sleeper[node]:
        return
    st.node_generation[node] += 1
    add_timer(st, st.clock[0].now_s + st.rules[0].suspend_time_s, NODE_SLEEPS, node,
              st.node_generation[node])


@kernel_part
def node_sleeps(st: Books, node: int) -> None:
    if st.jobs_on[node] == 0 and st.node_power[node] == AWAKE:
        st.node_power[node] = ASLEEP
        st.clock[0].power_w -= st.node_idle_w[node]
