"""Several sites that bid together: each chooses among the bids it tried, the sum is offered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from wattline.demand_response.case import Case
from wattline.demand_response.choosing import choose, problem_of
from wattline.demand_response.reference import uncontrolled_w
from wattline.demand_response.run import ContractRun, run_contract
from wattline.demand_response.settling import settled
from wattline.grid.bidding import Decision
from wattline.grid.market import Bid, Contract, Settlement
from wattline.grid.qos import met_as_judged
from wattline.grid.sites import JointBid, join, options_of, summed
from wattline.model.errors import InputError
from wattline.model.signal import Signal
from wattline.scenario.contract_section import ContractSection

OF_THE_FIRST = ("signal", "signal_start", "programme", "prices", "rounds", "forecast", "hold",
                "check")
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
        quality = [each for run in taking_part for each in run.quality]
        fails = [each.name for each in quality if not each.met]
        return met_as_judged(fails if self.bill.tracking.met else ["tracking", *fails], quality)

    @property
    def cost_apart(self) -> float:
        """What the participating sites would pay for these bids under contracts of their own."""
        return sum(
            run.settlement.cost for name, run in self.runs.items()
            if self.joint.parts[name].reserve_w > 0
        )


def unused_of(contract: ContractSection, first: ContractSection) -> list[str]:
    """What a site says that is taken from the first one, where the first says something else."""
    return [name for name in OF_THE_FIRST if name in contract.model_fields_set
            and getattr(contract, name) != getattr(first, name)]


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
    for number, (name, case) in enumerate(cases.items()):
        if case.limit_w is not None:
            raise InputError(f"site '{name}': beside a curtailment or the caps of events no bid is "
                             "chosen")
        if (case.duration_s, case.warmup_s) != (first.duration_s, first.warmup_s):
            raise InputError(f"site '{name}': sites that bid together need the same duration")
        # What may be offered goes with the programme: above the average, below it, or both.
        load = replace(case.workload, product=first.workload.product)
        shared[name] = replace(case, workload=load, signal=first.signal, prices=first.prices,
                               programme=first.programme, credited=first.credited)
        decisions[name] = choose(
            shared[name], methods[name], rounds=rounds, **planning,
            progress=lambda part, done=number: progress((done + part) / len(cases)),  # type: ignore[misc]
        )
        problem = problem_of(shared[name])
        options[name] = options_of(
            decisions[name].trials, uncontrolled_w(shared[name]), problem.energy_price,
            hours=problem.hours,
        )
    joint = join(options, reserve_w_least)
    runs = {name: run_contract(case, joint.parts[name].bid) for name, case in shared.items()}
    return Together(joint, decisions, runs, joint_bill(first, joint, runs))


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
