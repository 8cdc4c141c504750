"""Limits of a contract: the caps and prices of events from a file, and a curtailment.

The limit of a curtailment is a share below its baseline. Where that is the load before the event,
the contract is simulated without the event first: what it draws till the notice is the same.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wattline.demand_response.case import Case
from wattline.demand_response.money import currency_given
from wattline.demand_response.reading import contract_of
from wattline.demand_response.run import run_contract
from wattline.grid.curtailment import Curtailment, lower_of
from wattline.grid.event_file import read_events, replay
from wattline.grid.event_values import moment_s
from wattline.grid.market import Bid
from wattline.model.errors import InputError
from wattline.model.signal import Signal
from wattline.scenario.contract_section import ContractSection
from wattline.scenario.model import Scenario


def with_limits(scenario: Scenario, case: Case) -> Case:
    """The case under the events and the curtailment of its contract."""
    contract = contract_of(scenario)
    if contract.events is not None:
        case = _with_events(contract, case)
    if contract.curtailment is None:
        return case
    event = event_of(contract)
    baseline_w = case.workload.power_w_mean
    if case.programme is not None and case.programme.baseline.rule != "mean":
        given = contract.given_bid
        bid = None if given is None else Bid(*given, contract.weights, contract.start_share)
        free = run_contract(replace(case, choose_nodes=False), bid)
        baseline_w, _ = counted_baseline(replace(case, curtailment=event), free.actual_w)
    limit_w = lower_of(case.limit_w, event.limit_w(baseline_w, float("inf")))
    return replace(case, curtailment=event, baseline_w=baseline_w, limit_w=limit_w)


def event_of(contract: ContractSection) -> Curtailment:
    """The curtailment event of a contract that has one; its start counts from the contract's."""
    given = contract.curtailment
    assert given is not None
    event = Curtailment(contract.warmup_s + given.start, given.share, given.duration, given.notice)
    if event.end_s > contract.duration + contract.warmup_s:
        raise InputError(
            f"the curtailment ends {given.start + given.duration:.6g} s after the contract's "
            f"start, and the contract lasts {contract.duration:.6g} s; raise duration")
    return event


def counted_baseline(case: Case, actual_w: Signal) -> tuple[float, str]:
    """The baseline of the curtailment by what was drawn, and how it was found."""
    assert case.curtailment is not None
    mean_w = case.workload.power_w_mean
    if case.programme is None:
        return mean_w, "the mean of the workload"
    told_w = case.programme.told_w(actual_w, case.start_s, case.end_s)
    return case.programme.baseline.counted_w(told_w, case.curtailment, mean_w, case.start_s)


def _with_events(contract: ContractSection, case: Case) -> Case:
    """The case with the caps and the prices that the events of the file ask for."""
    assert contract.events is not None
    if contract.events_begin is None:
        raise InputError("events have times of the clock: say when the contract begins with "
                         "--events-begin, like 2026-07-01T12:00:00Z")
    usual_w = contract.events_cap or case.workload.range.power_w_max
    told = read_events(contract.events, usual_w, currency_given(contract))
    start_s = moment_s(contract.events_begin) - case.warmup_s
    found = replay(told, usual_w, case.prices.energy, start_s, start_s + case.duration_s,
                   warmup_s=case.warmup_s)
    limit_w = found.cap_w
    if limit_w is None and contract.events_cap is not None:
        limit_w = Signal.constant(usual_w, "W")
    elif limit_w is not None and contract.events_cap is None:
        # No usual cap was given: outside of events there is none.
        free = np.where(limit_w.value < usual_w, limit_w.value, np.inf)
        limit_w = Signal(limit_w.time_s, free, "W")
    prices = case.prices if found.price is None else replace(case.prices, energy=found.price)
    return replace(case, limit_w=limit_w, prices=prices, events=found)
