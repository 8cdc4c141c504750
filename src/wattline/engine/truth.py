"""What only a simulated world knows: how much work a job is, and how it answers to a cap.

Policies decide by what they believe; these say what then happens.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from wattline.books.keeping import correct
from wattline.books.log import NO_JOB, RATE, log_event
from wattline.books.record import Record
from wattline.model.kernel import implement, kernel, kernel_part, slot
from wattline.policies.configuration.claimed import Claimed, chosen
from wattline.policies.configuration.moldable import Moldable
from wattline.policies.contract import Composition
from wattline.policies.regulation.cycle import answer_of
from wattline.policies.state import State

SAME = 1e-9
"""Relative: a power that differs by less is the one that was expected."""


class AsLogged(NamedTuple):
    """A job is the work that its log says, or what its configuration's table says."""


class AsAsked(NamedTuple):
    """A job runs at the rate and power that it was started or set to."""


_EQUAL = np.ones(1)


class TrueClaims(NamedTuple):
    """Of each option of the claims what is true, and of each job how many times that it is."""

    true_s: Any
    true_w: Any
    time_factor: Any
    """One entry holds for all jobs; NaN: it runs as long as logged, whatever it was given."""
    watts_factor: Any = _EQUAL
    """One entry holds for all jobs."""


class TrueTypes(NamedTuple):
    """The type that each job really is of, whatever it is believed to be, and how many times that
    type's power it draws."""

    types: Any
    kind: Any
    watts_factor: Any = _EQUAL
    """One entry holds for all jobs."""


@slot(1)
def true_work_s(st: State, work: Any, policy: Composition, job: int) -> float:
    """Seconds at full speed that the job takes in the configuration that was chosen."""
    raise AssertionError


@slot(1, default=True)
def configured_work_s(st: State, configuration: Any, job: int) -> float:
    """The same, as far as it follows from the log and the configuration's own table."""
    return float(st.jobs[job].run_s)


@slot(2, default=True)
def answer_caps(
    st: State, record: Record, answers: Any, world: Any, policy: Composition
) -> None:
    """Correct the rate and power of jobs that answer otherwise than was expected."""
    return


@implement(true_work_s, AsLogged)
@kernel_part
def _as_logged(st: State, work: AsLogged, policy: Composition, job: int) -> float:
    return configured_work_s(st, policy.configuration, job)


@implement(configured_work_s, Moldable)
@kernel
def _of_table(st: State, configuration: Moldable, job: int) -> float:
    row = st.live[job].config - 1
    if row < 0:
        return float(st.jobs[job].run_s)
    return float(configuration.offers.row_time_s[row])


@implement(true_work_s, TrueClaims)
@kernel_part
def _claimed_work_s(st: State, work: TrueClaims, policy: Composition, job: int) -> float:
    factor = work.time_factor[job if work.time_factor.size > 1 else 0]
    if math.isnan(factor):
        return float(st.jobs[job].run_s)
    return float(work.true_s[_option(st, policy.configuration, job)] * factor)


@slot(1)
def _option(st: State, configuration: Any, job: int) -> int:
    """The row of the option that a job was given; -1 where nothing is claimed of it."""
    raise AssertionError


@implement(_option, Claimed)
@kernel
def _claimed_option(st: State, configuration: Claimed, job: int) -> int:
    return chosen(st, configuration, job)


@implement(answer_caps, TrueClaims)
@kernel_part
def _answer_claimed(
    st: State, record: Record, answers: TrueClaims, world: Any, policy: Composition
) -> None:
    for index in range(st.clock[0].running):
        job = st.running[index]
        live = st.live[job]
        row = _option(st, policy.configuration, job)
        if row >= 0 and live.updated_s == st.clock[0].now_s:
            power_w = answers.true_w[row]
            power_w *= answers.watts_factor[job if answers.watts_factor.size > 1 else 0]
            power_w *= st.clock[0].power_factor
            if abs(power_w - live.power_w) > SAME * power_w:
                correct(st, record, world, policy, job, live.rate, power_w)


@implement(answer_caps, TrueTypes)
@kernel_part
def _answer_typed(
    st: State, record: Record, answers: TrueTypes, world: Any, policy: Composition
) -> None:
    changed = 0
    for index in range(st.clock[0].running):
        job = st.running[index]
        live = st.live[job]
        if live.updated_s != st.clock[0].now_s or live.cap_w == float("inf"):
            continue
        speed, server_w = answer_of(answers.types[answers.kind[job]], live.cap_w)
        rate, power_w = speed / live.stretch, server_w * live.units
        power_w *= answers.watts_factor[job if answers.watts_factor.size > 1 else 0]
        if rate != live.rate or power_w != live.power_w:
            correct(st, record, world, policy, job, rate, power_w)
            changed += 1
    if changed > 0 and st.clock[0].together:
        log_event(st, record, RATE, NO_JOB, 0.0)
