"""A reservation for a wide job that is due and does not fit, in the manner of backfilling.

Without it narrow jobs take every server that comes free, and a wide one waits for ever. From the
time at which enough servers will be free on, they are kept for it; until then others may use them,
and those that it does not need at any time.
"""

from __future__ import annotations

from wattline.model.kernel import kernel
from wattline.policies.regulation.desk import Desk
from wattline.policies.regulation.quality import shortest_s, work_left
from wattline.policies.state import State

HALVINGS = 40


@kernel
def remaining_s(st: State, job: int) -> float:
    """How long a running job goes on at the speed that it has."""
    rate = st.live[job].rate
    if rate <= 0.0:
        return float("inf")
    return float(work_left(st, job) * st.jobs[job].run_s / rate)


@kernel
def _free_by(st: State, desk: Desk, free: int, wait_s: float) -> int:
    """Servers that are free after so long, where nothing further starts."""
    for index in range(desk.control[0].known):
        job = st.running[index]
        if remaining_s(st, job) <= wait_s:
            free += st.live[job].units
    return int(free)


@kernel
def reserve(st: State, desk: Desk, servers: int, free: int) -> tuple[float, int]:
    """After how long so many servers are free, and how many are left beside them then.

    Infinite where the running jobs do not leave as many.
    """
    longest_s = 0.0
    for index in range(desk.control[0].known):
        longest_s = max(longest_s, remaining_s(st, st.running[index]))
    if longest_s == float("inf") or _free_by(st, desk, free, longest_s) < servers:
        return float("inf"), free
    low_s = 0.0
    high_s = longest_s
    for _ in range(HALVINGS):
        middle_s = 0.5 * (low_s + high_s)
        if _free_by(st, desk, free, middle_s) >= servers:
            high_s = middle_s
        else:
            low_s = middle_s
    return high_s, _free_by(st, desk, free, high_s) - servers


@kernel
def ends_by(st: State, desk: Desk, job: int, wait_s: float) -> bool:
    """Whether a job that starts now is surely gone by then, with its caps down all the time."""
    entry = desk.types[st.jobs[job].kind]
    return bool(shortest_s(st, desk, job) * entry.time_s_max / entry.time_s_min <= wait_s)
