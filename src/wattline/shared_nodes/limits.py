"""Limits of QOS and associations: what runs and waits beside a job decides whether it may.

sacctmgr: GrpTRES, GrpJobs, GrpSubmitJobs, MaxTRESPerUser, MaxJobsPerUser, MaxSubmitJobsPerUser,
MaxTRESPerAccount, MaxJobsPerAccount, MaxJobs, MaxSubmitJobs, MaxTRES (of one job, looked at again
with the nodes that were chosen); resource_limits.html says which holds
where several are set: that of the partition's QOS, then the job's QOS, then the associations.

A limit on the nodes of several jobs counts a node once, however many of them run on it: only with
the nodes that were picked it is known whether one more job keeps to it. Nodes that its groups have
already come first in the choice for a job (by_devices.py).

A job is a member of groups: its QOS, the same QOS by user and by account, the partition's QOS
likewise, its association and those above it. Each group counts what its members use; the limit
stands with the membership, because a QOS may lift an association's limit for its own jobs.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.machine import NO_LIMIT, NODE
from wattline.shared_nodes.state import Books


@kernel_part
def may_run(st: Books, entry: int) -> bool:
    """Whether all groups of the job have room for what stands in `job_tres`."""
    row = st.entry[entry]
    resources = st.rules[0].resources
    for place in range(st.member_first[row.members], st.member_last[row.members]):
        group = st.member_group[place]
        if st.group_jobs[group] + 1 > st.member_jobs[place]:
            return False
        for resource in range(resources):
            used = st.group_tres[group * resources + resource]
            asked = st.job_tres[row.job * resources + resource]
            most = st.member_tres[place * resources + resource]
            if asked > 0 and used + asked > most and (
                    resource != NODE or st.ask[row.job].min_nodes > most):
                return False
    return True


@kernel_part
def may_run_there(st: Books, entry: int) -> bool:
    """Whether the nodes that were picked leave the groups of the job within their nodes."""
    row = st.entry[entry]
    if not st.class_counts_nodes[row.members]:
        return True
    rules = st.rules[0]
    for place in range(st.member_first[row.members], st.member_last[row.members]):
        group = st.member_group[place]
        first = st.group_row[group] * rules.nodes
        used = st.group_tres[group * rules.resources + NODE]
        most = st.member_tres[place * rules.resources + NODE]
        if first < 0 or most >= NO_LIMIT:
            continue
        for picked in range(st.clock[0].picked):
            used += 1 if st.group_node_jobs[first + st.pick[picked]] == 0 else 0
        if used > most:
            return False
    return True


@kernel_part
def may_be_held(st: Books, entry: int) -> bool:
    """Whether backfill holds nodes for the job: where the groups have room for so many more.

    Slurm does not know then which of them the groups have already.
    """
    row = st.entry[entry]
    if not st.class_counts_nodes[row.members]:
        return True
    resources = st.rules[0].resources
    asked = st.ask[row.job].min_nodes
    for place in range(st.member_first[row.members], st.member_last[row.members]):
        used = st.group_tres[st.member_group[place] * resources + NODE]
        if used + asked > st.member_tres[place * resources + NODE]:
            return False
    return True


@kernel_part
def is_of_its_groups(st: Books, entry: int, node: int) -> bool:
    """Whether jobs are on the node whose nodes a limit of this job counts."""
    row = st.entry[entry]
    if not st.class_counts_nodes[row.members]:
        return False
    rules = st.rules[0]
    for place in range(st.member_first[row.members], st.member_last[row.members]):
        at = st.group_row[st.member_group[place]]
        if at >= 0 and st.member_tres[place * rules.resources + NODE] < NO_LIMIT and (
                st.group_node_jobs[at * rules.nodes + node] > 0):
            return True
    return False


@kernel_part
def may_have(st: Books, entry: int) -> bool:
    """Whether one job may have what stands in `job_tres`: MaxTRES, MaxNodes and the like."""
    row = st.entry[entry]
    resources = st.rules[0].resources
    for resource in range(resources):
        had = st.job_tres[row.job * resources + resource]
        if had > st.alone_tres[row.members * resources + resource]:
            return False
    return True


@kernel_part
def count_running(st: Books, entry: int, sign: int) -> None:
    """Add a job that starts to its groups (`sign` 1), or take one that ends out of them (-1)."""
    row = st.entry[entry]
    resources = st.rules[0].resources
    for place in range(st.member_first[row.members], st.member_first[row.members + 1]):
        group = st.member_group[place]
        st.group_jobs[group] += sign
        nodes = st.group_tres[group * resources + NODE]
        for resource in range(resources):
            st.group_tres[group * resources + resource] += (
                sign * st.job_tres[row.job * resources + resource])
        if st.group_row[group] >= 0:
            st.group_tres[group * resources + NODE] = nodes + _count_nodes(
                st, row.job, st.group_row[group] * st.rules[0].nodes, sign)


@kernel_part
def _count_nodes(st: Books, job: int, first: int, sign: int) -> int:
    """Count a job on its nodes for the group that begins there; how many the group has more."""
    more = 0
    begin = st.ask[job].first_row
    for index in range(begin, begin + st.live[job].nodes):
        at = first + st.row_node[index]
        before = st.group_node_jobs[at]
        st.group_node_jobs[at] = before + sign
        if (before == 0) != (before + sign == 0):
            more += sign
    return more


@kernel_part
def may_submit(st: Books, entry: int, jobs: int) -> bool:
    """Whether all groups of the job have room for so many like it."""
    members = st.entry[entry].members
    for place in range(st.member_first[members], st.member_first[members + 1]):
        if st.group_submit[st.member_group[place]] + jobs > st.member_submit[place]:
            return False
    return True


@kernel_part
def count_submitted(st: Books, entry: int, sign: int) -> None:
    members = st.entry[entry].members
    for place in range(st.member_first[members], st.member_first[members + 1]):
        st.group_submit[st.member_group[place]] += sign
