"""Moldable jobs: which of its configurations a job starts in, by one of four rules.

The rules are in files of their own (fixed, naive, adaptive). They share one type of parameters,
because every type makes the machine code of the scheduler anew, and these differ by a few lines.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from wattline.model.cap_slack import fits
from wattline.model.errors import InputError
from wattline.model.kernel import implement, kernel
from wattline.policies.configuration.adaptive import has_fair_share, row_within
from wattline.policies.configuration.fixed import rung_row
from wattline.policies.configuration.naive import fair_bound_w, fair_row
from wattline.policies.configuration.offers import (
    Offers,
    adopt,
    is_settled,
    most_possible_w,
)
from wattline.policies.contract import (
    Composition,
    chooses_watts,
    configure,
    least_units,
    never_configured,
    waits_for_cap,
    watts_available,
)
from wattline.policies.control import settings
from wattline.policies.in_order import units_to_count_on
from wattline.policies.planning import resizes_when_full
from wattline.policies.state import State

FIXED, NAIVE, ADAPTIVE = range(3)


class Moldable(NamedTuple):
    """A rule, and the offers it chooses from. Make it with one of the functions below."""

    offers: Any
    rule: int
    threshold: float
    holds: int = 0
    """1: a job holds the share that its configuration was chosen for, and not what it draws."""
    least_power: int = 0
    """1: a job without a configuration within its share gets the one that draws least; 0: it waits
    for a cap that gives it a larger share."""

    @property
    def axis(self) -> Literal["configuration"]:
        return "configuration"


def traditional(offers: Offers) -> Moldable:
    """The requested nodes with the cores and the cap of the offers' ladder."""
    return Moldable(offers, FIXED, 0.0)


def naive(offers: Offers, holds: int = 0, least_power: int = 0) -> Moldable:
    """The fastest configuration under the fair share of power."""
    return Moldable(offers, NAIVE, 0.0, holds, least_power)


def adaptive(
    offers: Offers, threshold: float = 0.0, holds: int = 0, least_power: int = 0
) -> Moldable:
    """The same, or what power there is now if that is at most `threshold` slower than asked."""
    if not threshold >= 0:
        raise InputError(f"the threshold is {threshold:g}; write it like 0.1 or 10%")
    return Moldable(offers, ADAPTIVE, float(threshold), holds, least_power)


@implement(configure, Moldable)
@kernel
def _configure(st: State, configuration: Moldable, policy: Composition, position: int) -> bool:
    job = st.queue[position].job
    if is_settled(st, job):
        return True
    offers = configuration.offers
    clock = st.clock[0]
    if offers.code[job] < 0:  # nobody measured its application: it runs as it was requested
        return possible_as_requested(st, job, clock.cap_w)
    row = _row_alone(st, configuration, job, clock.cap_w, units_to_count_on(st))
    if row < 0:
        return False
    starts = True
    given_w = fair_bound_w(st, offers, job, clock.cap_w)
    if configuration.rule == ADAPTIVE and fits(offers.row_power_w[row], given_w):
        available_w = watts_available(st, policy.admission)
        if not has_fair_share(st, offers, job, available_w):
            now = row_within(st, offers, job, clock.free, available_w, configuration.threshold)
            starts = now >= 0
            if starts:
                row = now  # otherwise the fair configuration is what its reservation is for
                given_w = min(given_w, available_w)
    adopt(st, offers, position, row)
    if configuration.holds and configuration.rule != FIXED:
        offers.held_w[job] = max(given_w - offers.row_power_w[row], 0.0)
    return bool(starts)


@kernel
def possible_as_requested(st: State, job: int, cap_w: float) -> bool:
    """Say whether a bound can power a job as it was requested, alone on the machine."""
    live = st.live[job]
    added_w = live.watts - live.units * st.clock[0].idle_w
    return bool(added_w <= most_possible_w(st, cap_w))


@kernel
def _row_alone(st: State, configuration: Moldable, job: int, cap_w: float, units: int) -> int:
    """What the rule gives a job on an idle machine with these units under this cap, or -1."""
    if configuration.rule == FIXED:
        return rung_row(st, configuration.offers, job, cap_w)
    return fair_row(st, configuration.offers, job, cap_w, units, configuration.least_power)


@implement(chooses_watts, Moldable)
@kernel
def _chooses_watts(st: State, configuration: Moldable, job: int) -> bool:
    return bool(configuration.offers.code[job] >= 0)


@implement(resizes_when_full, Moldable)
@kernel
def _resizes_when_full(st: State, configuration: Moldable) -> bool:
    """An adaptive job whose share is no longer there takes less, and may start at once."""
    return configuration.rule == ADAPTIVE


@implement(never_configured, Moldable)
@kernel
def _never_configured(st: State, configuration: Moldable, job: int) -> bool:
    clock = st.clock[0]  # what is out of order will be repaired
    if configuration.offers.code[job] < 0:
        return not possible_as_requested(st, job, clock.cap_w_max)
    return bool(_row_alone(st, configuration, job, clock.cap_w_max, clock.units) < 0)


@implement(waits_for_cap, Moldable)
@kernel
def _waits_for_cap(st: State, configuration: Moldable, job: int) -> bool:
    if is_settled(st, job):
        return False
    if configuration.offers.code[job] < 0:
        return not possible_as_requested(st, job, st.clock[0].cap_w)
    units = units_to_count_on(st)
    return bool(_row_alone(st, configuration, job, st.clock[0].cap_w, units) < 0)


@implement(least_units, Moldable)
@kernel
def _least_units(st: State, configuration: Moldable, job: int, units: int) -> int:
    offers = configuration.offers
    if offers.code[job] < 0:
        return units
    if configuration.rule == ADAPTIVE:
        least = offers.level_nodes[offers.first_level[offers.code[job]]]
        return int(max(least, offers.least[job]))
    row = _row_alone(st, configuration, job, st.clock[0].cap_w, units_to_count_on(st))
    return int(st.live[job].units if row < 0 else offers.row_nodes[row])


@settings.register
def _settings(axis: Moldable, st: State, job: int) -> dict[str, Any]:
    row = int(st.live[job].config) - 1
    return axis.offers.row_settings(row) if row >= 0 else {}
