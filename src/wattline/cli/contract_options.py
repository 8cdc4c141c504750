"""The flags that `regulate` and `bid` share; every one is a field of the scenario."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wattline.cli.choices import Choice, PolicyOption
from wattline.cli.finite import FINITE, FiniteRange

if TYPE_CHECKING:
    from wattline.scenario.model import Scenario

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.argument("scenario_file", metavar="[SCENARIO.toml]", required=False,
                   type=click.Path(path_type=Path)),
    click.option("--workload", help="A shipped workload: W1 to W14 or MOC."),
    click.option("--servers", type=int, help="Servers of the cluster."),
    click.option("--utilisation", type=FINITE, help="Share of the servers that jobs keep busy."),
    click.option("--level", type=Choice(["tight", "medium", "loose"]),
                 help="How strict the QoS thresholds are."),
    click.option("--burst", type=FINITE, metavar="JOBS",
                 help="Jobs that arrive together in the mean; 1 (the default): Poisson arrivals."),
    click.option("--below-idle/--no-below-idle", default=None,
                 help="Allow bids whose target goes below the idle machine."),
    click.option("--signal", metavar="FILE", help="CSV t_s,<value>; without it, a generated one."),
    click.option("--signal-start", metavar="TIME", help="Where in the file the contract begins."),
    click.option("--duration", metavar="TIME", help="Length of the contract (1h)."),
    click.option("--warmup", metavar="TIME", help="Time before, neither billed nor judged (30m)."),
    click.option("--programme", metavar="NAME|FILE",
                 help="Terms of a grid operator: pjm-regd, fcr, afrr-up, afrr-down, emergency, or "
                      "a file."),
    click.option("--events", metavar="FILE",
                 help="Events of OpenADR (.json, .xml) whose caps and prices are followed."),
    click.option("--events-begin", metavar="TIME",
                 help="When the contract begins by their clock, like 2026-07-01T12:00:00Z."),
    click.option("--events-cap", metavar="POWER",
                 help="The usual cap, of which their levels are shares (the machine's peak)."),
    click.option("--pue", type=FINITE, metavar="RATIO",
                 help="Power of the facility over that of its servers (1)."),
    click.option("--meter-noise", type=FINITE, metavar="SHARE",
                 help="Standard deviation of the meter's readings, of the power (0)."),
    click.option("--latency", metavar="TIME",
                 help="From a change of the signal till caps and starts follow it (0s)."),
    click.option("--log", metavar="FILE", help="A job log instead of a workload."),
    click.option("--map", metavar="NAME|FILE", help="Column map of a log that is a table."),
    click.option("--log-start", metavar="TIME", help="Where in the log to begin."),
    click.option("--policy", cls=PolicyOption, axis="regulation", metavar="NAME",
                 help="How the contract is kept; auto tries several. Installed"),
    click.option("--standby/--no-standby", default=None, help="Let standby jobs fill gaps."),
    click.option("--preempt/--no-preempt", default=None, help="Let jobs be paused."),
    click.option("--sleep/--no-sleep", default=None, help="Let idle servers be switched off."),
    click.option("--feedback/--no-feedback", default=None,
                 help="Correct wrong profiles by measured power and progress."),
    click.option("--mislabelled", type=FINITE, metavar="SHARE",
                 help="Share of the jobs that carry a wrong type."),
    click.option("--seed", type=click.IntRange(min=0), help="Seed of arrivals and signal."),
    click.option("--rounds", type=click.IntRange(min=1),
                 help="Simulations that the descent may use (400; aqa, qosg a quarter more)."),
    click.option("--forecast", type=click.IntRange(min=0), metavar="HOURS",
                 help="Number of other hours to plan on instead of the hour itself (bid: 30)."),
    click.option("--hold", type=FiniteRange(0, 1), metavar="SHARE",
                 help="Share of the forecast hours that must meet all constraints, each by itself "
                      "(bid: 0.9); 0: all of them together must."),
    click.option("--check", type=click.IntRange(min=0), metavar="HOURS",
                 help="Number of further hours to try the bid on (10; 0 for a given bid)."),
)


def contract_options(function: F) -> F:
    """Add all shared flags."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def scenario_from(scenario_file: Path | None, flags: dict[str, Any]) -> Scenario:
    """The scenario of file and flags."""
    from wattline.demand_response.reading import read_contract

    return read_contract(scenario_file, flags)


def say_unused(scenario: Scenario, *, choosing: bool = False) -> None:
    """Say what has no effect, a line each; `choosing` where the bid is only chosen."""
    from wattline.demand_response.remarks import remarks

    for remark in remarks(scenario, choosing=choosing):
        click.echo(f"wattline: {remark}", err=True)
