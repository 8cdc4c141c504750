"""What a bid is worth on other hours than the one it was planned for."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.output import progress, share_text

if TYPE_CHECKING:
    from wattline.grid.market import Bid
    from wattline.scenario.regulated import Case
    from wattline.scenario.regulation import RegulationScenario


def check_hours(
    scenario: RegulationScenario, case: Case, bid: Bid | None, *, chosen: bool
) -> dict[str, Any] | None:
    """The bid on other hours; None where there is none, or nothing to draw them from."""
    from wattline.scenario.checking import can_check, other_hours
    from wattline.scenario.choosing import CHECKING
    from wattline.scenario.regulation import CHECK_HOURS, other_signals, planned_on_checked

    count = scenario.check
    if count is None:
        count = CHECK_HOURS if chosen else 0
    if bid is None or count == 0 or not can_check(case):
        return None
    signals = other_signals(scenario, count, stream=CHECKING)
    with progress("checking on other hours") as tell:
        found = other_hours(case, bid, count, seed=scenario.seed, signals=signals, progress=tell)
    return asdict(found) | {"advice": _advice(scenario) if found.met < found.hours else "",
                            "planned_on": planned_on_checked(scenario)}


def _advice(scenario: RegulationScenario) -> str:
    """What makes bids hold more often, of what is not in use yet."""
    found = []
    if scenario.hold == 0:
        found.append("plan on other hours (--forecast 30 --hold 0.9)")
    if not scenario.standby:
        found.append("let standby jobs fill a lack of work (--standby)")
    return " and ".join(found)


def print_other_hours(found: dict[str, Any] | None) -> None:
    """Say how often the bid holds, what fails, and what to do about it."""
    if found is None:
        return
    count, met = found["hours"], found["met"]
    low, high = found["met_share"]
    click.echo(f"on {count} other hours (other arrivals and signals, the same bid): all "
               f"constraints met in {met} ({low:.0%} to {high:.0%} with 95 % confidence), saving "
               f"{share_text(found['saving'][0])}, large errors for {found['exceed_share']:.1%} of "
               f"the time, at most {found['exceed_share_most']:.1%} in one hour")
    if found["planned_on"]:
        click.echo("  their signal is the one that the bid was planned on: the file holds one hour "
                   "beside the contract's")
    if found["fails"]:
        listed = ", ".join(f"{name} in {times}" for name, times in list(found["fails"].items())[:3])
        click.echo(f"  fails there: {listed}")
    if found["advice"]:
        click.echo(f"  for a bid that holds more often, {found['advice']}")
