"""Until when a job runs at the latest: its limit, and the next look at limits after it.

slurm.conf: OverTimeLimit. Limits are looked at every so often, and a job past its limit is killed
only then.
"""

from __future__ import annotations

import numpy as np

from wattline.model.kernel import kernel_part
from wattline.shared_nodes.state import Books
from wattline.shared_nodes.waking import next_on_grid


@kernel_part
def last_boot_s(st: Books, start_s: float) -> float:
    """When the nodes of a job that gets them then are seen to be up at the latest."""
    rules = st.rules[0]
    if rules.suspend_time_s < 0.0:
        return float(start_s)
    return next_look(st, start_s + rules.resume_timeout_s)


@kernel_part
def killed_at(st: Books, job: int, booted_s: float) -> float:
    """When a job is killed that goes on for ever, on nodes that are up from `booted_s`.

    What it ran before it was suspended is part of its limit.

    Slurm knows whole seconds only: a job that starts behind such a look, in the same second, is
    over with the look that comes when its limit does, not with the one after.
    """
    rules = st.rules[0]
    kill_s = booted_s + st.ask[job].limit_s - st.live[job].held_s + rules.over_limit_s
    if st.ask[job].reservation >= 0:
        kill_s = min(kill_s, st.resv[st.ask[job].reservation].kill_s)
    return limit_look(st, kill_s)


@kernel_part
def limit_look(st: Books, time_s: float) -> float:
    """When a limit that ends then, in Slurm's whole seconds, is looked at."""
    rules = st.rules[0]
    if rules.kill_late_s <= 0.0:
        return float(time_s)
    return next_look(st, np.floor(time_s + rules.unix_s) - rules.unix_s)


@kernel_part
def next_look(st: Books, time_s: float) -> float:
    """The first look at running jobs from a time on: past their limits, or on nodes that are up."""
    rules = st.rules[0]
    if rules.kill_late_s <= 0.0:
        return float(time_s)
    return float(next_on_grid(time_s, rules.phase_s, 2.0 * rules.kill_late_s))
