"""What a bid is worth on other hours than the one it was planned for."""

from __future__ import annotations

import math
from typing import Any

import click

from wattline.cli.output import share_text
from wattline.model.units import format_span


def print_other_hours(found: dict[str, Any] | None) -> None:
    """Say how often the bid holds, what fails, and what to do about it."""
    if found is None:
        return
    met = found["met"]
    low, high = found["met_share"]
    click.echo(f"on {_blocks(found)} (other arrivals and signals, the same bid): all "
               f"constraints met in {met} ({low:.0%} to {high:.0%} with 95 % confidence), saving "
               f"{bill_saving_words(found)}, large errors for {found['exceed_share']:.1%} of the "
               f"time, at most {found['exceed_share_most']:.1%} in one of them")
    if found["unjudged"]:
        click.echo(f"  in {found['unjudged']} of these no job was submitted: no quality of service "
                   "was judged there")
    if found["planned_on"]:
        click.echo("  their signal is the one that the bid was planned on: the file holds one "
                   "span of that length beside the contract's")
    if found["fails"]:
        listed = ", ".join(f"{name} in {times}" for name, times in list(found["fails"].items())[:3])
        click.echo(f"  fails there: {listed}")
    if found["advice"]:
        click.echo(f"  for a bid that holds more often, {found['advice']}")


def bill_saving_words(found: dict[str, Any]) -> str:
    """Say by what share the bill changes, with its 95 % interval where there is one."""
    share, spread = found["saving_against_uncontrolled"], ""
    if isinstance(share, tuple | list):
        share, low, high = share
        spread = "" if math.isnan(low) else f" ({share_text(low)} to {share_text(high)})"
    return f"{share_text(share)}{spread} of the bill without a contract"


def saving_words(found: dict[str, Any], *, metered: bool) -> str:
    """Say by what share the bill changes, then the published saving and what it is counted from."""
    of = "the metered energy" if metered else "the energy bid for"
    return f"{bill_saving_words(found)}, {share_text(found['saving'])} of {of}"


def _blocks(found: dict[str, Any]) -> str:
    """Say how many other hours, or blocks of a market, were simulated."""
    if found["block_s"] == 3600:
        return f"{found['hours']} other hours"
    return f"{found['hours']} other blocks of {format_span(found['block_s'])}"


def print_facility(facility: dict[str, float]) -> None:
    """What is simulated between the servers and the grid's meter, where something is."""
    said = []
    if facility["pue"] != 1:
        said.append(f"all powers are the facility's, {facility['pue']:g} times the servers'")
    if facility["meter_noise"]:
        said.append(f"the meter errs by {facility['meter_noise']:.2%} (standard deviation)")
    if facility["latency_s"]:
        said.append(f"the control is {facility['latency_s']:g} s behind the signal")
    if said:
        click.echo("; ".join(said))


def start_words(share: float) -> str:
    """At which power starts are planned, where not at full."""
    if share == 1:
        return ""
    return f", starts planned at {share:.0%} of the jobs' power range (--start-share {share:g})"


def print_remedy(found: dict[str, Any] | None) -> None:
    """The offer that could be made once something else is allowed."""
    if found is None:
        return
    flags = " ".join(_flag(name, value) for name, value in found["fields"].items())
    click.echo(f"with {found['what']} ({flags}) an offer meets all constraints: average "
               f"{found['average_power_w']:,.0f} W, reserve {found['reserve_w']:,.0f} W"
               f"{start_words(found['start_share'])}, saving {bill_saving_words(found)}")
    hours = found["other_hours"]
    if hours is not None:
        low, high = hours["met_share"]
        click.echo(f"  on {_blocks(hours)} it meets them in {hours['met']} "
                   f"({low:.0%} to {high:.0%} with 95 % confidence)")


def _flag(name: str, value: object) -> str:
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    return f"--{name} {value}"


FAILURES = {
    "hour": "no rule could do better: in the contract's own time no bid can be kept that gains",
    "bid": "no rule could have kept this bid in the contract's own time, whatever it knew",
    "rule": "as far as the bound can tell this is owed to the rule or to the search for the bid, "
            "and not to the contract's own time",
}
"""Who a failure is owed to, for people."""


def print_bound(bound: dict[str, Any] | None) -> None:
    """What a planner that knows the hour could reach at best, and who a failure is owed to."""
    if bound is None:
        return
    if bound["feasible"] is None:
        click.echo(f"bound: none is given, as {bound['reason']}")
    elif not bound["feasible"]:
        click.echo("bound: no bid can be kept in the contract's own time, whatever the rule")
    else:
        saves = "" if bound["saving"] is None else (
            f" or saves more than {bound['saving']:.1%} of the energy bid for")
        click.echo(f"bound: no bid under any rule costs less than {bound['cost']:.4g}{saves} in "
                   "the contract's own time; jobs are taken as a fluid for it, so it need not be "
                   "reached")
    if bound["failure"] is not None:
        click.echo(FAILURES[bound["failure"]])
