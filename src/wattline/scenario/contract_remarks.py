"""What of a contract's scenario has no effect: better said than left unused in silence."""

from __future__ import annotations

from wattline.scenario.regulation import RegulationScenario


def remarks(scenario: RegulationScenario, *, choosing: bool = False) -> list[str]:
    """A line for each thing that was given and is not used; `choosing`: the bid is only chosen."""
    given = scenario.model_fields_set
    found = []
    if scenario.forecast and scenario.mislabelled:
        found.append("the hours of the forecast have right labels: mislabelled is for the "
                     "contract's own hour")
    if scenario.check and (why := _unchecked(scenario)):
        found.append(f"check has no effect: {why}")
    if scenario.bid is not None or scenario.bidding == "adaptive":
        for name in ("forecast", "hold"):
            if getattr(scenario, name):
                found.append(f"{name} has no effect: no bid is planned, it is "
                             + ("given" if scenario.bid is not None else "found in the run"))
    if "signal_start" in given and not isinstance(scenario.signal, str):
        found.append("signal_start has no effect: it is a place in a signal file, and the signal "
                     "is generated")
    if scenario.weights and choosing:
        found.append("weights have no effect: they are chosen with the bid")
    beside = scenario.curtailment is not None and scenario.bid is None and not choosing
    if beside and "bidding" in given and scenario.bidding != "adaptive":
        found.append("bid has no effect: beside a curtailment no bid is chosen")
    return found


def _unchecked(scenario: RegulationScenario) -> str:
    """Why a bid is not tried on other hours; empty where it is."""
    if scenario.curtailment is not None:
        return "beside a curtailment no bid is tried on other hours"
    if scenario.mislabelled:
        return "wrong labels are for the contract's own hour"
    if scenario.bidding == "adaptive" and scenario.bid is None:
        return "adaptive bids are found in the run, hour by hour"
    if scenario.log:
        return "a log has no other hours like this one"
    return ""
