"""Limits of QOS and associations: what runs and waits beside a job decides whether it may.

sacctmgr: GrpTRES, GrpJobs, GrpSubmitJobs, MaxTRESPerUser, MaxJobsPerUser, MaxSubmitJobsPerUser,
MaxTRESPerAccount, MaxJobsPerAccount, MaxJobs, MaxSubmitJobs, MaxTRES (of one job, looked at again
with the nodes that were chosen); resource_limits.html says which holds
where several are set: that of the partition's QOS, then the job's QOS, then the associations.

A job is a member of groups: its QOS, the same QOS by user and by account, the partition's QOS
likewise, its association and those above it. Each group counts what its members use; the limit
stands with the membership, because a QOS may lift an association's limit for its own jobs.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
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
            if asked > 0 and used + asked > st.member_tres[place * resources + resource]:
                return False
    return True


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
        for resource in range(resources):
            st.group_tres[group * resources + resource] += (
                sign * st.job_tres[row.job * resources + resource])


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
