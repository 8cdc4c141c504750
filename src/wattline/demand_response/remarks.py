"""What has no effect in a contract's scenario, or is assumed: said, not done in silence."""

from __future__ import annotations

from wattline.demand_response.bidders import FROM_AVERAGES, method_of
from wattline.demand_response.building import (
    ASLEEP_W,
    AUTO,
    BOOT_S,
    DEFAULT_RULE,
    DEFAULT_WORKLOAD,
    SHUTDOWN_S,
    case_of,
    is_log,
    log_of,
    parameters_of,
    rule_of,
    workload_of,
)
from wattline.demand_response.logs import SHORTEST_S
from wattline.demand_response.reading import contract_of
from wattline.scenario.contract_section import ContractSection
from wattline.scenario.model import Scenario

UNSHARING = ("qoscap", "energyqare", "tracking")
"""Rules of our own that start jobs by other measures than shares of the servers."""


def remarks(scenario: Scenario, *, choosing: bool = False) -> list[str]:
    """A line for each thing that was given and is not used; `choosing`: the bid is only chosen."""
    contract = contract_of(scenario)
    given, found, limit = contract.model_fields_set, [], _limit(scenario)
    if not is_log(scenario) and parameters_of(scenario).name is None and not parameters_of(
            scenario).types:
        found.append(f"no workload is given: {DEFAULT_WORKLOAD} is taken")
    if contract.forecast and parameters_of(scenario).mislabelled:
        found.append("the hours of the forecast have right labels: mislabelled is for the "
                     "contract's own hour")
    if contract.check and (why := _unchecked(scenario, limit)):
        found.append(f"check has no effect: {why}")
    if why := _unplanned(contract, limit):
        found += [f"{name} has no effect: {why}" for name in ("forecast", "hold", "rounds")
                  if name in given and getattr(contract, name)]
    elif "rounds" in given and _method(scenario) != "descent":
        found.append(f"rounds has no effect: they are of the descent, and the bid is chosen by "
                     f"{_method(scenario)}")
    if not _unplanned(contract, limit) and not choosing and _method(scenario) in FROM_AVERAGES:
        found += [f"{name} has no effect: {_method(scenario)} takes its bid from averages, and "
                  "only `wattline bid` then tries it on other hours"
                  for name in ("forecast", "hold") if name in given and getattr(contract, name)]
    if parameters_of(scenario).mislabelled and not _has_types_alike(scenario):
        found.append("mislabelled has no effect: a job can only carry the label of a type of its "
                     "own size, and no two types have the same")
    if not is_log(scenario) and parameters_of(scenario).standby_type and not contract.standby:
        found.append("standby_type has no effect: standby jobs are only run with standby")
    if limit and not choosing and _bids_nothing(contract):
        found += [f"{name} has no effect: beside a limit without a bid no target is followed"
                  for name in ("signal", "signal_start", "latency", "below_idle", "standby")
                  if name in given and (name != "standby" or contract.standby)]
    if contract.signal_start and not isinstance(contract.signal, str):
        found.append("signal_start has no effect: it is a place in a signal file, and the signal "
                     "is generated")
    if contract.trace_start and not is_log(scenario):
        found.append("trace_start has no effect: it is a place in a log, and the jobs are drawn")
    chosen = isinstance(contract.bid, str) and not limit
    if contract.start_share != 1 and (choosing or chosen):
        found.append("start_share has no effect: it is chosen with the bid")
    if not choosing and not chosen:
        found += _of_sharing_alone(scenario)
    if contract.weights and chosen and not choosing:
        found += _weights_replaced(scenario)
    if contract.weights and choosing:
        found.append("weights have no effect: they are chosen with the bid")
    beside = limit and isinstance(contract.bid, str) and not choosing
    if beside and "bid" in given and contract.bidding not in ("adaptive", "auto"):
        found.append(f"bid has no effect: beside {limit} no bid is chosen")
    if rule_of(scenario)[0] == AUTO and not choosing and contract.bidding == "adaptive":
        found.append(f"policy auto takes {DEFAULT_RULE}: adaptive bids are found in the run, under "
                     "one rule; give another to try it")
    if rule_of(scenario)[1].sleep:
        found += _sleep_assumed(scenario)
    return found + (_left_out(scenario) if is_log(scenario) else [])


def _limit(scenario: Scenario) -> str:
    """What limits the power, in words; empty for nothing. Events may bring prices alone."""
    contract = contract_of(scenario)
    if contract.curtailment is not None:
        return "a curtailment"
    # Without the time of the contract the events cannot be read, which is said where they are.
    readable = contract.events is not None and contract.events_begin is not None
    return "the caps of events" if readable and case_of(scenario).limit_w is not None else ""


def _weights_replaced(scenario: Scenario) -> list[str]:
    """What becomes of given weights where the bid is not given."""
    contract = contract_of(scenario)
    if contract.bidding == "adaptive":
        alone = contract.events is None  # beside a limit, hours without a bid take them
        return ["weights have no effect: beside adaptive bids all types weigh the same"] * alone
    if contract.bidding == "dayahead":
        return ["weights have no effect: they are chosen with the bid of each hour"]
    if _method(scenario) in FROM_AVERAGES:
        return []
    return ["weights are put into the bid once it is chosen: it was searched for with other "
            "weights, and is not offered where it fails with these"]


def _of_sharing_alone(scenario: Scenario) -> list[str]:
    """What only rules use that share servers out, where another one keeps the contract."""
    contract, (rule, parameters) = contract_of(scenario), rule_of(scenario)
    if rule not in UNSHARING:
        return []
    why = f"{rule} does not share servers out by type"
    found = [f"weights have no effect: {why}"] if contract.weights else []
    if contract.start_share != 1 and not parameters.sleep:  # who sleeps is planned with it
        found.append(f"start_share has no effect: {why}")
    return found


def _sleep_assumed(scenario: Scenario) -> list[str]:
    """What nobody said of nodes that sleep."""
    if not scenario.machine.classes:
        return [f"assumed of nodes that sleep: off {ASLEEP_W:g} W unless node_off_w is given, "
                f"{BOOT_S:g} s to boot, {SHUTDOWN_S:g} s to shut down, both at idle power; "
                "[[machine.classes]] says it"]
    if "boot_s" in scenario.machine.classes[0].model_fields_set:
        return []
    return ["nodes that sleep are awake at once: [[machine.classes]] has no boot_s"]


def _has_types_alike(scenario: Scenario) -> bool:
    """Whether two types have jobs of the same size, so that one can pass for the other."""
    sizes = [each.servers for each in workload_of(scenario).types]
    return len(set(sizes)) < len(sizes)


def _unplanned(contract: ContractSection, limit: str) -> str:
    """Why no bid is searched for; empty where one is."""
    if contract.bidding == "given":
        return "no bid is planned, it is given"
    if contract.bidding == "adaptive":
        return "no bid is planned, it is found in the run"
    return f"beside {limit} no bid is chosen" if limit else ""


def _method(scenario: Scenario) -> str:
    """How the bid is searched for."""
    rule, bidding = rule_of(scenario)[0], contract_of(scenario).bidding
    if rule == AUTO and bidding == "auto":
        return "descent"
    return method_of(rule, bidding)


def _bids_nothing(contract: ContractSection) -> bool:
    """Whether beside a limit nothing else is kept."""
    return isinstance(contract.bid, str) and contract.bidding != "adaptive"


def _left_out(scenario: Scenario) -> list[str]:
    """Jobs of a log that are not among those simulated."""
    log, found = log_of(scenario), []
    if log.left_out:
        found.append(f"{log.left_out} jobs of the log are left out: shorter than {SHORTEST_S:g} s")
    if log.larger:
        found.append(f"{log.larger} jobs of the log are left out: larger than the machine")
    return found


def _unchecked(scenario: Scenario, limit: str) -> str:
    """Why a bid is not tried on other hours; empty where it is."""
    contract = contract_of(scenario)
    if limit:
        return f"beside {limit} no bid is tried on other hours"
    if parameters_of(scenario).mislabelled:
        return "wrong labels are for the contract's own hour"
    if contract.bidding == "adaptive":
        return "adaptive bids are found in the run, hour by hour"
    if contract.bidding == "dayahead":
        return "bids by the hour are planned for the hours of the contract"
    if is_log(scenario):
        return "a log has no other hours like this one"
    return ""
