"""Unused watts go to running jobs that gain from them, and come back when a queued job can start.

A running job cannot change its nodes or cores, but its cap can be raised: it moves to the row of
its table with the same nodes and cores and a higher cap. After every decision the spare watts are
handed out one step at a time, each to the job that gains the largest part of its time for each
watt. What was lent counts as available, so no queued job ever waits for it; the books of a job
that starts take it back in the same instant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

from wattline.model.cap_slack import CAP_SLACK
from wattline.model.kernel import implement, kernel, kernel_part
from wattline.policies.admission.power import exceeds_alone, never_fits
from wattline.policies.admission.watts import added_watts
from wattline.policies.committed import committed_w
from wattline.policies.contract import (
    START,
    WAIT,
    Composition,
    admit,
    exceeds,
    may_rise_w,
    power_told,
    refuses,
    sets_aside,
    settle,
    watts_at,
    watts_available,
    watts_of,
)
from wattline.policies.control import settings
from wattline.policies.memory import Memory
from wattline.policies.starting import note
from wattline.policies.state import ACT_SPEED, BLOCK, RUNNING, State


class LendingMemory(Memory):
    """The row of the table that each running job is to have, while loans are worked out."""

    FIELDS = ("row",)
    PER_JOB: ClassVar[Mapping[str, str]] = {"row": "i8"}
    row: Any


class Lending(NamedTuple):
    """Watts as a resource, with loans; the offers say what a higher cap would give.

    With `lends` 0 nothing is lent: the same as plain watts, in the same machine code.
    """

    offers: Any
    memory: LendingMemory
    lends: int = 1
    holds: int = 0
    """1: what jobs hold beside their draw (`held_w` of the offers) is not available."""
    plans: int = 1
    """0: backfilling plans nodes alone, and watts are checked when a job starts."""

    @property
    def axis(self) -> Literal["admission"]:
        return "admission"


@kernel
def _lent_w(st: State) -> float:
    """Watts that running jobs draw above what they were started with."""
    lent_w = 0.0
    for place in range(st.clock[0].blocks):
        first = st.blocks[place].order * BLOCK
        for index in range(first, first + st.blocks[st.blocks[place].order].count):
            live = st.live[st.releases[index].job]
            lent_w += max(live.power_w - max(live.watts, live.idle_w), 0.0)
    return lent_w


@kernel
def _held_w(st: State, offers: Any) -> float:
    """Watts that running jobs hold and do not draw."""
    held_w = 0.0
    for place in range(st.clock[0].blocks):
        first = st.blocks[place].order * BLOCK
        for index in range(first, first + st.blocks[st.blocks[place].order].count):
            held_w += offers.held_w[st.releases[index].job]
    return held_w


@implement(refuses, Lending)
@kernel
def _refuses(st: State, admission: Lending, job: int) -> bool:
    """Asked of jobs whose watts no configuration says."""
    return never_fits(st, job, 1.0, False)


@implement(sets_aside, Lending)
@kernel
def _sets_aside(st: State, admission: Lending) -> bool:
    return True


@implement(exceeds, Lending)
@kernel
def _exceeds(st: State, admission: Lending, job: int, cap_w: float, idle_w: float) -> bool:
    return exceeds_alone(st, job, 1.0, False, cap_w, idle_w)


@implement(watts_available, Lending)
@kernel
def _watts_available(st: State, admission: Lending) -> float:
    lent_w = _lent_w(st) if admission.lends else 0.0
    held_w = _held_w(st, admission.offers) if admission.holds else 0.0
    return float(st.clock[0].cap_w - committed_w(st) + lent_w - held_w)


@implement(watts_at, Lending)
@kernel
def _watts_at(st: State, admission: Lending, time_s: float) -> float:
    return watts_available(st, admission) if admission.plans else float("inf")


@implement(watts_of, Lending)
@kernel
def _watts_of(st: State, admission: Lending, job: int) -> float:
    """A running job gives back what it was started with; a loan is no promise."""
    if not admission.plans:
        return 0.0
    live = st.live[job]
    held_w = admission.offers.held_w[job] if admission.holds else 0.0
    if live.state == RUNNING:
        return float(max(live.watts - live.idle_w, 0.0) + held_w)
    return added_watts(st, job) + held_w


@implement(admit, Lending)
@kernel
def _admit(st: State, admission: Lending, policy: Composition, job: int) -> int:
    clock = st.clock[0]
    available_w = watts_available(st, admission) + clock.cap_w * CAP_SLACK
    held_w = admission.offers.held_w[job] if admission.holds else 0.0
    return START if added_watts(st, job) + held_w <= available_w else WAIT


@implement(settle, Lending)
@kernel
def _settle(st: State, admission: Lending, policy: Composition) -> None:
    """Hand out the spare watts anew."""
    if not admission.lends:
        return
    clock = st.clock[0]
    offers = admission.offers
    rows = admission.memory.row
    for place in range(clock.blocks):
        first = st.blocks[place].order * BLOCK
        for index in range(first, first + st.blocks[st.blocks[place].order].count):
            job = st.releases[index].job
            rows[job] = st.live[job].config - 1
    spare_w = watts_available(st, admission)
    _plan_power(st, policy, offers, rows, 1.0)
    while True:
        job = _most_deserving(st, policy, offers, rows, spare_w)
        if job < 0:
            break
        row = rows[job]
        up = offers.row_up[row]
        cost_w = (offers.row_power_w[up] - offers.row_power_w[row]) * _thirst(st, offers, job)
        spare_w -= cost_w
        power_told(st, policy.placement, job, cost_w)
        rows[job] = up
    _plan_power(st, policy, offers, rows, -1.0)
    _note_changes(st, offers, rows, lowered=True)
    _note_changes(st, offers, rows, lowered=False)


@kernel_part
def _plan_power(
    st: State, policy: Composition, offers: Any, rows: Any, sign: float
) -> None:
    """Tell placement what the rows mean for the power of jobs (sign 1), or take it back (-1).

    Only while loans are worked out: what comes of them, placement is told when it is carried out.
    """
    for place in range(st.clock[0].blocks):
        first = st.blocks[place].order * BLOCK
        for index in range(first, first + st.blocks[st.blocks[place].order].count):
            job = st.releases[index].job
            if rows[job] >= 0:
                power_w = offers.row_power_w[rows[job]] * _thirst(st, offers, job)
                power_told(st, policy.placement, job, sign * (power_w - st.live[job].power_w))


@kernel
def _thirst(st: State, offers: Any, job: int) -> float:
    """What the job's own nodes draw, relative to its table: nodes differ by manufacture."""
    live = st.live[job]
    return float(live.watts / offers.row_power_w[live.config - 1])


@kernel_part
def _most_deserving(
    st: State, policy: Composition, offers: Any, rows: Any, spare_w: float
) -> int:
    """The running job whose next step gains most for each watt and can be paid, or -1."""
    best = -1
    best_gain = 0.0
    for place in range(st.clock[0].blocks):
        first = st.blocks[place].order * BLOCK
        for index in range(first, first + st.blocks[st.blocks[place].order].count):
            job = st.releases[index].job
            row = rows[job]
            if row < 0 or offers.row_up[row] < 0:
                continue
            up = offers.row_up[row]
            cost_w = offers.row_power_w[up] - offers.row_power_w[row]
            cost_w *= _thirst(st, offers, job)
            if cost_w > spare_w or cost_w > may_rise_w(st, policy.placement, job):
                continue
            gain = (1.0 - offers.row_time_s[up] / offers.row_time_s[row]) / max(cost_w, 1e-3)
            if gain > best_gain:
                best = job
                best_gain = gain
    return int(best)


@kernel
def _note_changes(st: State, offers: Any, rows: Any, lowered: bool) -> None:
    """Ask for the new rates and powers; what falls is asked for first, so the cap holds."""
    for place in range(st.clock[0].blocks):
        first = st.blocks[place].order * BLOCK
        for index in range(first, first + st.blocks[st.blocks[place].order].count):
            job = st.releases[index].job
            live = st.live[job]
            row = rows[job]
            if row < 0:
                continue
            power_w = offers.row_power_w[row] * _thirst(st, offers, job)
            change_w = power_w - live.power_w
            if abs(change_w) <= 1e-9 * power_w or (change_w < 0.0) != lowered:
                continue
            rate = offers.row_time_s[live.config - 1] / offers.row_time_s[row] / live.stretch
            note(st, ACT_SPEED, job, rate, power_w)


@settings.register
def _settings(axis: Lending, st: State, job: int) -> dict[str, Any]:
    """The row that a running job was lent up to; a job that starts has its own."""
    row = int(axis.memory.row[job])
    lent = axis.lends and st.live[job].begun and row >= 0
    return axis.offers.row_settings(row) if lent else {}
