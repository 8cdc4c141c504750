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
    if rules.kill_late_s > 0.0:
        kill_s = np.floor(kill_s + rules.unix_s) - rules.unix_s
    return next_look(st, kill_s)


@kernel_part
def next_look(st: Books, time_s: float) -> float:
    """The first look at running jobs from a time on: past their limits, or on nodes that are up."""
    rules = st.rules[0]
    if rules.kill_late_s <= 0.0:
        return time_s
    return next_on_grid(time_s, rules.phase_s, 2.0 * rules.kill_late_s)
