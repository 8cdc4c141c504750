"""Nodes that are put to sleep when idle and woken for a job.

slurm.conf: SuspendTime, ResumeTimeout, SuspendExcNodes. A node that has been idle for SuspendTime
draws nothing from then on; a job that gets it starts when it has booted, which is taken to last
ResumeTimeout, and booting draws idle power. All nodes are idle at the beginning, and those of a
cloud asleep.

Slurm, job_mgr.c (job_config_fini): start and limit of such a job are set anew when its nodes are
up, which is seen where limits are looked at, every 30 s.

Slurm, node_scheduler.c: nodes that sleep are avoided where possible. Whatever their own Weight,
they share one that is above all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.machine import BoolArray
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.state import ASLEEP, AWAKE, NODE_SLEEPS, Books
from wattline.shared_nodes.timers import add_timer
from wattline.shared_nodes.waking import something_changed


def let_idle_nodes_sleep(
    clock: Any, timers: Any, sleepers: BoolArray, names: Sequence[str], rules: Rules
) -> None:
    """Put the first sleep of every node into a heap of timers that is still empty."""
    if rules.suspend_time_s < 0.0:
        return
    wait_s = np.where(np.isin(np.array(names), np.array(rules.asleep_first)), 0.0,
                      rules.suspend_time_s)
    nodes = np.flatnonzero(sleepers)
    nodes = nodes[np.argsort(wait_s[nodes], kind="stable")]
    # Times in their order, equal ones in the order of nodes, are a heap as they stand.
    first = timers[: nodes.size]
    first["time_s"] = clock["now_s"][0] + wait_s[nodes]
    first["kind"], first["job"], first["generation"] = NODE_SLEEPS, nodes, 0
    clock["timers"] = nodes.size


@kernel_part
def node_taken(st: Books, node: int) -> float:
    """A job comes onto a node: when the node is ready for it."""
    clock = st.clock[0]
    st.node_generation[node] += 1
    if st.node_power[node] == ASLEEP:
        st.node_power[node] = AWAKE
        st.node_weight[node] = st.own_weight[node]
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
        st.node_weight[node] = st.rules[0].ranks - 1
        st.clock[0].power_w -= st.node_idle_w[node]
        if st.clock[0].queued > 0:
            something_changed(st)  # other nodes are planned for, and watts are free that were not
