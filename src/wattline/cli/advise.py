"""`wattline advise`: answers to what people ask before they decide."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.choices import ScenarioCommand
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.cli.scenario_options import (
    changes_from,
    code_allowed,
    load_scenario,
    scenario_options,
)

if TYPE_CHECKING:
    from wattline.advice import CapAdvice


@click.group()
def command() -> None:
    """Ask what can be borne, before it is decided."""


@command.command("cap", cls=ScenarioCommand)
@click.argument("scenario", required=False)
@click.option("--trace", help="A job log to replay, instead of the scenario's.")
@click.option("--wait", metavar="LIMIT", help="Mean wait at most, like +10% or 30min.")
@click.option("--slowdown", metavar="LIMIT", help="Mean bounded slowdown at most, like +10% or 5.")
@click.option("--energy", metavar="LIMIT", help="Energy of the machine at most, like +2% or 3GWh.")
@click.option("--refused", type=int, default=0, show_default=True,
              help="Jobs that may never run under the cap.")
@click.option("--only", metavar="POLICY,POLICY", help="Only these power policies; default: all "
              "that keep a cap.")
@click.option("--plot", metavar="FILE", help="Draw the mean wait over the cap (.png, .svg, .pdf).")
@scenario_options
@json_option
def cap(
    scenario: str | None, trace: str | None, wait: str | None, slowdown: str | None,
    energy: str | None, refused: int, only: str | None, plot: str | None, as_json: bool,
    **options: Any,
) -> None:
    """Find the tightest power cap that a limit allows, for each power policy.

    Limits are more than without a cap (+10%) or absolute. Caps are tried by bisection, each with a
    simulation of the whole log.
    """
    from wattline.advice import Limits, advise_cap
    from wattline.model.pictures import check_picture
    from wattline.policies.going_together import KEEPERS

    limits = Limits(wait, slowdown, energy, refused)
    if plot is not None:
        check_picture(Path(plot))
    changes = changes_from(options)
    loaded = load_scenario(scenario, trace, changes)
    names = KEEPERS if only is None else tuple(name.strip() for name in only.split(","))
    with progress("trying caps") as advance:
        advice = advise_cap(loaded, limits, policies=names, progress=advance,
                            allow_code=code_allowed(scenario, loaded, changes, options))
    if plot is not None:
        advice.plot(plot)
    if as_json:
        print_json(advice.to_dict())
    else:
        _print_caps(advice, plot)


def _print_caps(advice: CapAdvice, plot: str | None) -> None:
    from wattline.advice.cap import ratios
    from wattline.analysis.summary import power_text, time_text

    rows: list[tuple[object, ...]] = []
    for choice in advice.choices:
        if choice.cap_w is None or choice.figures is None:
            rows.append((choice.policy, "-", "-", "-", "-", "-", choice.remark))
            continue
        ratio = ratios(choice.figures, advice.free)
        rows.append((
            choice.policy, power_text(choice.cap_w), f"{choice.cap_w / advice.peak_w:.1%}",
            time_text(choice.figures.wait_s), f"{ratio['wait_ratio']:.3f}",
            f"{ratio['energy_ratio']:.3f}", choice.remark))
    limits = ", ".join(f"{name} {text}" for name, text in advice.limits.given().items())
    click.echo(f"tightest caps within {limits}; without a cap: peak {power_text(advice.peak_w)}, "
               f"mean wait {time_text(advice.free.wait_s)}")
    print_table(("power policy", "cap", "of peak", "mean wait", "wait ratio", "energy ratio", ""),
                rows)
    for line in advice.assumed:
        click.echo(f"note: {line}")
    if plot is not None:
        click.echo(f"picture: {plot}")
