"""Jobs that are over and that Slurm has not forgotten yet.

slurm.conf: MaxJobCount is about all jobs in memory, also those that ended less than MinJobAge ago.
slurmctld looks for older ones once a minute, so that it may remember them for up to that longer.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import Books


@kernel_part
def remember(st: Books) -> None:
    """A job is over now."""
    clock = st.clock[0]
    st.ended_s[clock.ended] = clock.now_s
    clock.ended += 1


@kernel_part
def has_room_for(st: Books, jobs: int) -> bool:
    """Whether so many more may be submitted: with them there are fewer than MaxJobCount, as the
    log of Slurm 22.05.8 has it."""
    clock = st.clock[0]
    rules = st.rules[0]
    while clock.forgotten < clock.ended and (
            st.ended_s[clock.forgotten] + rules.min_job_age_s <= clock.now_s):
        clock.forgotten += 1
    return bool(clock.pending + clock.ended - clock.forgotten + jobs < rules.max_job_count)
