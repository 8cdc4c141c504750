"""Several sites that bid together: each chooses among the bids it tried, the sum is offered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from wattline.demand_response.case import Case
from wattline.demand_response.choosing import choose, planned_case, problem_of
from wattline.demand_response.credit import least_offer_words
from wattline.demand_response.hours import has_other_hours, planned_on_forecasts
from wattline.demand_response.reading import contract_of
from wattline.demand_response.reference import uncontrolled_w
from wattline.demand_response.run import ContractRun, run_contract
from wattline.demand_response.settling import settled
from wattline.grid.bidding import Decision
from wattline.grid.market import Bid, Contract, Settlement, saved_share
from wattline.grid.qos import met_as_judged
from wattline.grid.sites import JointBid, Option, join, options_of, summed
from wattline.model.errors import InputError
from wattline.model.signal import Signal
from wattline.scenario.contract_section import ContractSection
from wattline.scenario.model import Scenario

OF_THE_FIRST = ("signal", "signal_start", "programme", "prices", "events", "rounds", "forecast",
                "hold", "check")
"""Of the contract, which is one for all sites, and of how it is planned."""


@dataclass(frozen=True, eq=False)
class Together:
    """The joint bid, what each site got from it, and the bill of the sum."""

    joint: JointBid
    decisions: Mapping[str, Decision]
    runs: Mapping[str, ContractRun]
    """Of every site, under its part; a site that stays out is run without a bid."""
    bill: Settlement | None
    """Of the participating sites as one; None where none participates."""

    @property
    def participates(self) -> bool:
        return self.bill is not None

    @property
    def constraints_met(self) -> bool | None:
        """Whether the joint bid is kept and the jobs of all that take part get their due."""
        if self.bill is None:
            return None
        taking_part = [run for name, run in self.runs.items() if self.joint.parts[name].bid]
        return met_as_judged(self.fails, [each for run in taking_part for each in run.quality])

    @property
    def fails(self) -> list[str]:
        """Constraints of the joint bid that fail: of its tracking, and of each site's jobs."""
        assert self.bill is not None
        tracking = [] if self.bill.tracking.met else ["tracking"]
        return tracking + [f"QoS of {each.name} at {name}" for name, run in self.runs.items()
                           if self.joint.parts[name].bid for each in run.quality if not each.met]

    @property
    def least_offer(self) -> str:
        """That the programme takes no such offer, in words; empty where it does."""
        terms = next(iter(self.runs.values())).case.programme
        return least_offer_words(terms, self.joint.reserve_w if self.participates else None)

    @property
    def cost(self) -> float:
        """What all sites pay in the contract: the joint bid, and what those draw that stay out."""
        if self.bill is None:
            return self.cost_apart
        out = [run for name, run in self.runs.items() if self.joint.parts[name].bid is None]
        return self.bill.cost + sum(run.settlement.cost for run in out)

    @property
    def cost_apart(self) -> float:
        """What all sites would pay with these bids under contracts of their own."""
        return sum(run.settlement.cost for run in self.runs.values())

    @property
    def saving_against_uncontrolled(self) -> float:
        """The share by which the bill of all sites is lower than it would be without contracts."""
        return saved_share(self.cost, sum(run.outcome.cost_uncontrolled
                                          for run in self.runs.values()))


def unused_of(contract: ContractSection, first: ContractSection) -> list[str]:
    """What a site says that is taken from the first one, where the first says something else."""
    return [name for name in OF_THE_FIRST if name in contract.model_fields_set
            and getattr(contract, name) != getattr(first, name)]


def without_events_of_others(sites: Mapping[str, Scenario]) -> dict[str, Scenario]:
    """The sites, of which only the first keeps its events: the prices of one hold for all."""
    first, *others = sites
    no_events = {"events": None, "events_begin": None, "events_cap": None}
    return {first: sites[first]} | {
        name: sites[name].model_copy(update={
            "contract": contract_of(sites[name]).model_copy(update=no_events)})
        for name in others}


def same_arrivals(sites: Mapping[str, Scenario]) -> list[tuple[str, str]]:
    """Sites whose jobs are the same at the same moments, so that no error of theirs cancels."""
    return [(name, other) for (name, one), (other, two) in combinations(sites.items(), 2)
            if one.trace == two.trace and one.machine == two.machine
            and contract_of(one).trace_start == contract_of(two).trace_start]


def planned_together(sites: Sequence[Scenario]) -> Scenario:
    """The first site, planned on hours that might come where all sites have such."""
    first = sites[0]
    return planned_on_forecasts(first) if all(map(has_other_hours, sites)) else first


def choose_together(
    cases: Mapping[str, Case],
    methods: Mapping[str, str],
    *,
    reserve_w_least: float = 0.0,
    rounds: int = 200,
    progress: Callable[[float], None] = lambda fraction: None,
    **planning: Any,
) -> Together:
    """Choose the parts of all sites; signal, prices and programme are those of the first."""
    first = next(iter(cases.values()))
    decisions: dict[str, Decision] = {}
    options = {}
    shared: dict[str, Case] = {}
    _check_together(cases)
    for number, (name, case) in enumerate(cases.items()):
        # What may be offered goes with the programme: above the average, below it, or both.
        load = replace(case.workload, product=first.workload.product)
        shared[name] = replace(case, workload=load, signal=first.signal, prices=first.prices,
                               programme=first.programme, credited=first.credited)
        # What averages alone lead to is tried too: only bids that were can be parts.
        decisions[name] = choose(
            shared[name], methods[name], rounds=rounds, verify=True, **planning,
            progress=lambda part, done=number: progress((done + part) / len(cases)),  # type: ignore[misc]
        )
        options[name] = _options(planned_case(shared[name], planning.get("forecast", 0)),
                                 decisions[name])
    joint = join(options, reserve_w_least)
    runs = {name: run_contract(case, joint.parts[name].bid) for name, case in shared.items()}
    return Together(joint, decisions, runs, joint_bill(first, joint, runs))


def _check_together(cases: Mapping[str, Case]) -> None:
    """Before the bids of any site are searched, which may take minutes."""
    first = next(iter(cases.values()))
    for name, case in cases.items():
        if case.limit_w is not None:
            raise InputError(f"site '{name}': beside a curtailment or the caps of events no bid is "
                             "chosen")
        if (case.duration_s, case.warmup_s) != (first.duration_s, first.warmup_s):
            raise InputError(f"site '{name}': sites that bid together need the same duration")


def _options(case: Case, decision: Decision) -> list[Option]:
    """What the site can do; staying out is priced for the same time as the bids that were tried."""
    problem, alone_w = problem_of(case), decision.power_w_alone
    return options_of(decision.trials, uncontrolled_w(case) if alone_w is None else alone_w,
                      problem.energy_price, hours=problem.hours)


def joint_bill(
    first: Case, joint: JointBid, runs: Mapping[str, ContractRun]
) -> Settlement | None:
    """The bill of the participating sites as one, by the terms of the first; None for none."""
    bids: list[Bid] = []
    powers: list[Signal] = []
    for name, part in joint.parts.items():
        if part.bid is not None:
            bids.append(part.bid)
            powers.append(runs[name].actual_w)
    if not bids:
        return None
    joined = Bid(sum(bid.average_w for bid in bids), sum(bid.reserve_w for bid in bids))
    total_w = summed(powers, first.judged_s, first.end_s)
    return settled(first, total_w, Contract.fixed(joined))
