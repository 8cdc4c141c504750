"""What associations have used, decaying.

slurm.conf: PriorityDecayHalfLife, PriorityCalcPeriod, PriorityUsageResetPeriod; sacctmgr:
UsageFactor of a QOS; slurm.conf: TRESBillingWeights. Usage is billed CPU seconds (or the weighted
sum), charged as time passes.

Not of Slurm: with `by_joules` usage is what jobs draw, with their part of their nodes' idle power.
"""

from __future__ import annotations

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import Books


@kernel_part
def change_rate(st: Books, entry: int, sign: int) -> None:
    """From now on the job's association is (or is no longer) charged for it."""
    if st.rules[0].multifactor == 0:
        return
    row = st.entry[entry]
    association = st.ask[row.job].association
    if association < 0:
        return
    settle(st, association)
    billed = _drawn_w(st, row.job) if st.rules[0].by_joules != 0 else _billed(st, entry)
    st.assoc_rate[association] += sign * billed * st.usage_factor[st.ask[row.job].qos]


@kernel_part
def _drawn_w(st: Books, job: int) -> float:
    """A job whose nodes boot draws their idle power alone."""
    live = st.live[job]
    return float(live.idle_w + (live.watts if live.boots == 0 else 0.0))


@kernel_part
def _billed(st: Books, entry: int) -> float:
    row = st.entry[entry]
    resources = st.rules[0].resources
    billed = 0.0
    for resource in range(resources):
        billed += (st.billing[row.partition * resources + resource]
                   * st.job_tres[row.job * resources + resource])
    return billed


@kernel_part
def settle(st: Books, association: int) -> None:
    now_s = st.clock[0].now_s
    st.assoc_pending[association] += (
        st.assoc_rate[association] * (now_s - st.assoc_since[association]))
    st.assoc_since[association] = now_s


@kernel_part
def decay(st: Books) -> None:
    """Charge what was used since the last time, after what was used before has decayed."""
    clock = st.clock[0]
    count = len(st.assoc_parent)
    left = 1.0
    if st.rules[0].half_life_s > 0.0:
        left = 0.5 ** ((clock.now_s - clock.last_priority_s) / st.rules[0].half_life_s)
    for association in range(count):
        st.assoc_usage[association] *= left
    for association in range(count):
        settle(st, association)
        charged = st.assoc_pending[association]
        st.assoc_pending[association] = 0.0
        above = association
        while charged > 0.0 and above >= 0:
            st.assoc_usage[above] += charged
            above = st.assoc_parent[above]
    while clock.next_reset < len(st.reset_s) and st.reset_s[clock.next_reset] <= clock.now_s:
        clock.next_reset += 1
        for association in range(count):
            st.assoc_usage[association] = 0.0
