"""The offer of a contract: the bid as given or searched for, under which rule, and what would help.

With the rule `auto` several are searched with, each as it is by itself and by a descent too. Where
no bid meets all constraints, the search is made again with what would help, one thing at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wattline.demand_response.advising import with_standby
from wattline.demand_response.bidders import method_of
from wattline.demand_response.building import (
    AUTO,
    case_of,
    rule_of,
    sleep_words,
    sleeping_node,
)
from wattline.demand_response.case import Case
from wattline.demand_response.choosing import choose, choose_day
from wattline.demand_response.hours import planning_of
from wattline.demand_response.limit_figures import limit_excess, limit_violations
from wattline.demand_response.pooling import simulator
from wattline.demand_response.reading import contract_of
from wattline.demand_response.run import ContractRun, run_contract
from wattline.grid.bidding import Decision
from wattline.grid.market import Bid
from wattline.model.progress import Stages
from wattline.scenario.model import Scenario

AUTO_RULES = ("aqa", "qoscap")
"""What `auto` tries: starts shared out by weights, and caps first."""
OTHER_RULE = {"aqa": "qoscap", "qoscap": "aqa"}
NO_BID = "no bid is chosen beside the caps of events; --bid P,R gives one"
NOT_SEARCHED = ("; what would help is not searched for beside a limit: try --sleep, --preempt or "
                "both")
FIRST_SEARCH, NEXT_SEARCH = 0.7, 0.4
"""Of what is left to do, as told: nobody knows before whether remedies are searched for."""
Progress = Callable[[float], None]


@dataclass(frozen=True, eq=False)
class Remedy:
    """A bid that meets all constraints once something else is allowed."""

    what: str
    """For people: what has to be allowed."""
    fields: dict[str, Any]
    """The same as fields of the scenario, by their short names."""
    case: Case
    """With it, and under the rule that the bid is for."""
    decision: Decision

    def figures(self) -> dict[str, Any]:
        bid, outcome = self.decision.bid, self.decision.outcome
        assert bid is not None
        assert outcome is not None
        return {"what": self.what, "fields": self.fields, "policy": self.case.policy,
                "average_power_w": bid.average_w, "reserve_w": bid.reserve_w,
                "weights": list(bid.weights), "start_share": bid.start_share,
                "cost": outcome.cost, **outcome.savings()}


@dataclass(frozen=True, eq=False)
class Offer:
    """What is offered, under which rule, and what would help where nothing can be."""

    case: Case
    """With the rule that the offer is for."""
    bid: Bid | None
    decision: Decision | None = None
    """How the bid was chosen, where it was."""
    remedy: Remedy | None = None
    reason: str = ""
    """Why this rule, where it was chosen for a given bid."""


def withdrawn(
    decision: Decision, run: ContractRun, violations: Sequence[str], *, by_hour: bool = False
) -> Decision:
    """The decision not to participate, once the run of what was chosen breaks a constraint.

    That happens where it was planned on other hours, from averages, or its bids change by the hour.
    """
    bid = decision.bid
    what = ("the bids by the hour" if by_hour or bid is None
            else f"the bid chosen (P {bid.average_w:.0f} W, R {bid.reserve_w:.0f} W)")
    return replace(
        decision, bid=None, outcome=run.outcome, nearest=None if by_hour else bid,
        reason=f"do not participate: in the contract's own time {what} would fail: "
               f"{'; '.join(violations)} (chosen as: {decision.reason})")


def make_offer(
    scenario: Scenario, case: Case, progress: Progress, *, hours: int | None = None,
    whole: bool = False, verify: bool = False,
) -> Offer:
    """The bid to simulate: as given, chosen, or none where the run bids itself or a limit rules."""
    contract = contract_of(scenario)
    if contract.given_bid is not None:
        given = Bid(*contract.given_bid, contract.weights, contract.start_share)
        case.workload.range.check(given, job_types=len(case.workload.types))
        return (_under_better_rule(scenario, case, given) if _is_auto(scenario)
                else Offer(case, given))
    if case.adaptive:
        return Offer(case, None)
    if case.limit_w is not None:
        found = Offer(case, None)
        if _is_auto(scenario):
            found = _under_better_rule(scenario, case, None)
        said = [NO_BID] * (case.curtailment is None) + [found.reason] * bool(found.reason)
        return replace(found, reason="; ".join(said))
    search, stages = _Search(scenario, hours, whole, verify), Stages(progress)
    chosen, decision = search.under_rules(case, stages.stage(FIRST_SEARCH))
    bid = decision.bid
    if bid is not None and contract.weights:
        bid = replace(bid, weights=contract.weights)
    remedy = None
    if bid is None and _can_be_helped(decision):
        remedy = search.remedy(chosen, stages)
    return Offer(chosen, bid, decision, remedy)


def _is_auto(scenario: Scenario) -> bool:
    return rule_of(scenario)[0] == AUTO


@dataclass(frozen=True)
class _Tried:
    """What a bid, or none, came to under a rule: what fails, by how much in sum, and the cost."""

    violations: tuple[str, ...]
    excess: float
    cost: float

    def words(self) -> str:
        if self.violations:
            return f"fails ({self.violations[0]})"
        return f"meets all constraints at a cost of {self.cost:.4g}"


def _under_better_rule(scenario: Scenario, case: Case, bid: Bid | None) -> Offer:
    """The rule under which a given bid fails least, or costs least where it fails nowhere; without
    a bid, so do the jobs beside a limit."""
    cases = {name: _under_rule(scenario, case, name) for name in AUTO_RULES}
    found = {name: _tried(scenario, mine, bid) for name, mine in cases.items()}
    best = min(AUTO_RULES, key=lambda name: (found[name].excess, found[name].cost))
    others = [f"under {name} it {found[name].words()}" for name in AUTO_RULES if name != best]
    what = "the run" if bid is None else "the bid"
    reason = f"policy {best}: {what} {found[best].words()}; {'; '.join(others)}"
    if bid is None and found[best].violations:
        reason += NOT_SEARCHED
    return Offer(cases[best], bid, reason=reason)


def _under_rule(scenario: Scenario, case: Case, name: str) -> Case:
    """The case under a rule; a curtailment may count from what was drawn under that rule before."""
    if case.curtailment is None:
        return replace(case, policy=name)
    return case_of(scenario, choose_nodes=case.choose_nodes, rule=name)


def _tried(scenario: Scenario, case: Case, bid: Bid | None) -> _Tried:
    """The bid under the rule of the case, with the limits that are to be kept beside it."""
    case = replace(case, choose_nodes=False)
    if case.limit_w is None:
        assert bid is not None
        outcome = simulator(case)(bid)
        return _Tried(outcome.violations, outcome.excess, outcome.cost)
    contract, run = contract_of(scenario), run_contract(case, bid)
    outcome = run.outcome
    return _Tried((*outcome.violations, *limit_violations(contract, run)),
                  outcome.excess + limit_excess(contract, run), outcome.cost)


def _can_be_helped(decision: Decision) -> bool:
    """Whether constraints are in the way; a bid that meets them and gains nothing needs no help."""
    return decision.outcome is not None and not decision.outcome.met


@dataclass(frozen=True, eq=False)
class _Search:
    scenario: Scenario
    hours: int | None
    whole: bool
    verify: bool

    def under_rules(self, case: Case, progress: Progress) -> tuple[Case, Decision]:
        """The decision under the rule of the scenario, or under the better one of several."""
        if not _is_auto(self.scenario):
            return case, self.decide(case, progress)
        found: list[tuple[Case, Decision]] = []
        for name in AUTO_RULES:
            mine = replace(case, policy=name)
            found.append((mine, self.decide(
                mine, lambda part: progress((len(found) + part) / len(AUTO_RULES)))))
        best = min(found, key=lambda pair: _rank(pair[1]))
        return best[0], replace(best[1], reason=_why(best, found))

    def decide(self, case: Case, progress: Progress) -> Decision:
        contract = contract_of(self.scenario)
        method = contract.bidding
        # What a rule finds by itself must not be lost where it is one of several.
        methods = ([*{method_of(case.policy, method): None, "descent": None}]
                   if _is_auto(self.scenario) and method == "auto" else [method])
        found: list[Decision] = []
        for name in methods:
            found.append(self._by(
                name, case, lambda part: progress((len(found) + part) / len(methods))))
        return min(found, key=_rank)

    def _by(self, method: str, case: Case, progress: Progress) -> Decision:
        """The decision by one method."""
        asked: dict[str, Any] = {
            "rounds": contract_of(self.scenario).rounds, "progress": progress,
            "verify": self.verify, **planning_of(self.scenario)}
        if method == "dayahead" or self.hours is not None:
            return choose_day(case, method, hours=self.hours, whole=True, **asked)
        return choose(case, method, whole=self.whole, **asked)

    def remedy(self, case: Case, stages: Stages) -> Remedy | None:
        """The first of what would help with which the search finds a bid; None where nothing."""
        for what, fields, other in remedies(self.scenario, case):
            if "standby" not in fields and len(fields) == 1 and _is_auto(self.scenario):
                continue  # the other rule was searched with already
            decision = self.decide(other, stages.stage(NEXT_SEARCH))
            if decision.bid is not None:
                return Remedy(what, fields, other, decision)
        return None


def remedies(scenario: Scenario, case: Case) -> Iterator[tuple[str, dict[str, Any], Case]]:
    """What might help, the least intrusive first: in words, as fields, and the case with it."""
    plain = not case.own_times and case.truth is None
    other = OTHER_RULE.get(case.policy)
    if other is not None:
        yield f"the policy {other}", {"policy": other}, replace(case, policy=other)
    if case.own_powers and not case.feedback:
        yield ("the power model corrected by the meter",
               {"policy": case.policy, "feedback": True}, replace(case, feedback=True))
    if case.workload.standby is None and plain:
        yield "standby jobs", {"policy": case.policy, "standby": True}, with_standby(case)
    if case.sleep is None:
        node = sleeping_node(scenario, case.workload.power_w_idle)
        load = replace(case.workload, power_w_asleep=node.power_w_off)
        yield (f"idle servers that may sleep ({sleep_words(scenario)})",
               {"policy": case.policy, "sleep": True}, replace(case, sleep=node, workload=load))
    else:  # to allow more must not lose what is found without it
        load = replace(case.workload, power_w_asleep=None)
        yield ("servers that stay on", {"policy": case.policy, "sleep": False},
               replace(case, sleep=None, workload=load))
    if not case.preempt:
        fields = {"policy": case.policy, "preempt": True}
        yield "jobs that may be paused", fields, replace(case, preempt=True)


def _rank(decision: Decision) -> tuple[bool, float, float]:
    """Bids that can be made first, the cheapest of them; then what fails least."""
    outcome = decision.outcome
    if outcome is None:
        return True, float("inf"), 0.0
    return decision.bid is None, outcome.excess, outcome.cost


def _why(best: tuple[Case, Decision], found: list[tuple[Case, Decision]]) -> str:
    others = [f"{case.policy} {_short(decision)}" for case, decision in found
              if case is not best[0]]
    return f"policy {best[0].policy} ({'; '.join(others)}): {best[1].reason}"


def _short(decision: Decision) -> str:
    if decision.outcome is not None and decision.bid is None and decision.outcome.met:
        return "finds bids that meet all constraints, but none that gains"
    if decision.bid is None or decision.outcome is None:
        return "finds no bid that meets all constraints"
    return f"would cost {decision.outcome.cost:.4g}"
