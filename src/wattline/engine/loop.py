"""The event loop: one instant after another, all events of an instant, then one decision.

Events of one instant are applied in this order: ends, timers (nodes, reservations, jobs that
become eligible, wake-ups), steps of the cap, submissions, the control cycle. Then the policy
decides once, and what it asked for is carried out. The books do all of this
(`wattline.books`); here is only where the events come from.
"""

from __future__ import annotations

from wattline.books.applying import let_timers_go_off, release_dependents, submit
from wattline.books.deciding import decide
from wattline.books.keeping import bring_up_to_date, end_job, integrate
from wattline.books.record import Record
from wattline.books.reserving import change_cap
from wattline.engine.world import Simulated
from wattline.model.kernel import kernel, kernel_part
from wattline.model.kernel_fetch import fetch_soon
from wattline.policies.contract import Composition
from wattline.policies.state import State

# Why the loop came back to its caller.
FINISHED, GO_ON, LOG_FULL, SPANS_FULL, TIMERS_FULL, TIME_IS_UP = range(6)


@kernel
def run_events(
    st: State, record: Record, world: Simulated, policy: Composition, budget: int
) -> int:
    """Simulate up to `budget` instants; the result says why it stopped."""
    while budget > 0:
        until_s = next_instant(st, record, world)
        reason = _must_stop(st, record, until_s)
        if until_s > world.ends.tally[0].until_s and reason == GO_ON:
            return TIME_IS_UP
        if reason != GO_ON:
            return reason
        budget -= 1
        integrate(st, record, until_s)
        apply_due(st, record, world, policy)
        decide(st, record, world, policy)
    return GO_ON


@kernel
def _must_stop(st: State, record: Record, until_s: float) -> int:
    """Stop when all is done, when nothing more will happen, or when an array is nearly full."""
    meter = record.meter[0]
    if meter.done == st.jobs.size:
        return FINISHED
    if meter.spare_rows < 2 * st.clock[0].running + 64:
        return LOG_FULL
    if 0 < record.spans.size < meter.spans + st.nodes.size + 1 and st.nodes.size > 0:
        return SPANS_FULL
    # At worst every job that is left asks for a wake-up in one instant.
    if st.timers.size - meter.timers < st.jobs.size - meter.done + 128:
        return TIMERS_FULL
    if until_s == float("inf"):
        return FINISHED
    return GO_ON


@kernel_part
def next_instant(st: State, record: Record, world: Simulated) -> float:
    """The time of the next event, infinite when nothing more will happen by itself."""
    meter = record.meter[0]
    ends = world.ends
    tally = ends.tally[0]
    time_s = float("inf")
    if tally.ends > 0:
        time_s = ends.heap[0].time_s
    if meter.arrived < st.jobs.size:
        time_s = min(time_s, st.jobs[meter.arrived].submit_s)
    if meter.timers > 0:
        time_s = min(time_s, st.timers[0].time_s)
    if tally.caps < ends.caps.size:
        time_s = min(time_s, ends.caps[tally.caps].time_s)
    return float(min(time_s, meter.next_cycle_s))


@kernel_part
def apply_due(st: State, record: Record, world: Simulated, policy: Composition) -> None:
    """Apply all events of this instant, in their order."""
    meter = record.meter[0]
    ends = world.ends
    tally = ends.tally[0]
    now_s = st.clock[0].now_s
    while tally.ends > 0 and ends.heap[0].time_s <= now_s:
        job = ends.heap[0].job
        bring_up_to_date(st, job)
        end_job(st, record, world, policy, job, is_completed(st, job))
        if st.jobs[job].first_dependent >= 0:
            release_dependents(st, record, policy, job)
        if tally.ends > 0:  # the next to end, most often after a decision that takes its time
            fetch_soon(st.live, ends.heap[0].job)
            fetch_soon(st.jobs, ends.heap[0].job)
    if meter.timers > 0 or st.clock[0].owed > 0:
        let_timers_go_off(st, record, policy)
    while tally.caps < ends.caps.size and ends.caps[tally.caps].time_s <= now_s:
        change_cap(st, record, ends.caps[tally.caps].cap_w)
        tally.caps += 1
    while meter.arrived < st.jobs.size and st.jobs[meter.arrived].submit_s <= now_s:
        submit(st, record, policy, meter.arrived)
        meter.arrived += 1


@kernel
def is_completed(st: State, job: int) -> bool:
    """Whether a running job, brought up to date, has done its work: a killed one has some left.

    What floats leave of a finished one is far less.
    """
    return bool(st.live[job].work_s <= 1e-6 * max(st.jobs[job].run_s, 1.0))
