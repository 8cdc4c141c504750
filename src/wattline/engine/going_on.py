"""Where a run ahead begins and where it ends: the world hears what runs, we hear what became."""

from __future__ import annotations

import math
from typing import Any

from wattline.books.deciding import decide
from wattline.books.keeping import bring_up_to_date, integrate
from wattline.books.record import Record
from wattline.books.world import begun
from wattline.engine.loop import apply_due
from wattline.engine.world import Simulated
from wattline.model.kernel import kernel
from wattline.model.signal import FloatArray
from wattline.policies.contract import Composition
from wattline.policies.state import REFUSED, State


@kernel
def suppose(
    st: State, before: Any, run_s: FloatArray, done_s: FloatArray, left_s: FloatArray
) -> None:
    """Let jobs stand as they did `before`, with these run times and the work that follows from
    them and from what is done.

    Of jobs whose work is known, `left_s` says what is left of it; it is NaN of all others.
    """
    for job in range(run_s.size):
        st.live[job] = before[job]
        st.jobs[job].run_s = run_s[job]
        known_s = left_s[job]
        st.live[job].work_s = (
            max(run_s[job] - done_s[job], 0.0) if math.isnan(known_s) else known_s
        )


@kernel
def go_on(
    st: State, record: Record, world: Simulated, policy: Composition, took_over: bool
) -> None:
    """Let the world know what runs, and let a policy that took over decide.

    The one that is there has decided after the last event, and decides again after the next.
    """
    for place in range(st.clock[0].running):
        job = st.running[place]
        left_s = st.live[job].work_s
        bring_up_to_date(st, job)
        st.live[job].work_s = left_s  # as supposed: it counts from now on
        begun(st, world, policy, job, True)
    if took_over:
        apply_due(st, record, world, policy)
        decide(st, record, world, policy)


@kernel
def come_to_rest(
    st: State, record: Record, until_s: float, start_s: FloatArray, end_s: FloatArray, refused: Any
) -> None:
    """Let time pass up to the end of a run ahead, and write down what became of its jobs."""
    integrate(st, record, until_s)
    for job in range(start_s.size):
        live = st.live[job]
        start_s[job] = live.start_s if live.start_s <= until_s else float("nan")
        end_s[job] = live.end_s if live.end_s <= until_s else float("nan")
        refused[job] = live.state == REFUSED
