"""Power that is spoken for: what the machine draws, and what comes back to it without a decision.

A job that draws less than its units do when they idle lowers the machine's power while it runs.
When it ends, or while its units are still booting, that power comes back, and nobody is asked. So
admission holds the larger of a job's power, at the lowest level to which all jobs may be slowed,
and the idle power of its units.
"""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.policies.state import RUNNING, State


@kernel
def committed_w(st: State) -> float:
    """Return the machine's power, now or once jobs that draw less than idle units have ended."""
    return float(st.clock[0].power_w + st.clock[0].below_idle_w)


@kernel
def held_above_idle_w(st: State, job: int) -> float:
    """Return what a running job draws above its units' idle power: it falls away at its end."""
    return float(max(st.live[job].power_w - st.live[job].idle_w, 0.0))


@kernel
def count_below_idle(st: State, job: int) -> None:
    """Keep account of a job whose power, or whose units, have just changed."""
    clock = st.clock[0]
    live = st.live[job]
    below_w = 0.0
    if live.state == RUNNING:
        drawn_w = live.power_w
        if clock.least_factor < 1.0:
            drawn_w = min(drawn_w, live.watts * clock.least_factor)
        below_w = max(live.idle_w - drawn_w, 0.0)
    clock.below_idle_w += below_w - live.below_idle_w
    live.below_idle_w = below_w


@kernel
def count_all_below_idle(st: State) -> None:
    """The same for all running jobs, from what they draw."""
    for index in range(st.clock[0].running):
        count_below_idle(st, st.running[index])


@kernel
def forget_below_idle(st: State, job: int) -> None:
    """A job gives its units back; it is off the list of those that run."""
    clock = st.clock[0]
    clock.below_idle_w -= st.live[job].below_idle_w
    st.live[job].below_idle_w = 0.0
    if clock.running == 0 and clock.changing == 0:
        clock.below_idle_w = 0.0  # sums of floats drift
