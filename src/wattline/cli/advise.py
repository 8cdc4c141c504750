"""`wattline advise`: answers to what people ask before they decide."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli import advise_futures
from wattline.cli.choices import Group, ScenarioCommand
from wattline.cli.finite import FiniteRange
from wattline.cli.needs import absent, option
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.cli.rate_options import carbon_option, price_option
from wattline.cli.scenario_options import (
    changes_from,
    code_allowed,
    load_scenario,
    scenario_options,
)
from wattline.model.errors import InputError
from wattline.model.units import counted
from wattline.policies.going_together import KEEPERS

if TYPE_CHECKING:
    from wattline.advice.cap import CapAdvice
    from wattline.advice.job_options import JobAdvice


@click.group(cls=Group)
def command() -> None:
    """Ask what can be borne and what is best, before it is decided."""


command.add_command(advise_futures.policy)
command.add_command(advise_futures.start)
command.add_command(advise_futures.regret)


@command.command("cap", cls=ScenarioCommand,
                 refuses=("--cap", "--watch-cap", "--policy", "--power-policy lending"))
@click.argument("scenario", required=False)
@click.option("--trace", help="A job log to replay, instead of the scenario's.")
@click.option("--wait", metavar="LIMIT", help="Mean wait at most, like +10% or 30min.")
@click.option("--slowdown", metavar="LIMIT", help="Mean bounded slowdown at most, like +10% or 5.")
@click.option("--energy", metavar="LIMIT", help="Energy of the machine at most, like +2% or 3GWh.")
@click.option("--refused", type=int, metavar="N",
              help="Jobs that may never run under the cap, also alone; none unless said.")
@option("--only", metavar="POLICY,POLICY", help="Only these power policies, of "
        f"{', '.join(KEEPERS)}; default: all that go with the scenario.",
        needs=absent("policy__power", why="either names the power policies to try"))
@click.option("--plot", metavar="FILE", help="Draw the mean wait over the cap (.png, .svg, .pdf).")
@scenario_options
@json_option
def cap(
    scenario: str | None, trace: str | None, wait: str | None, slowdown: str | None,
    energy: str | None, refused: int | None, only: str | None, plot: str | None, as_json: bool,
    **options: Any,
) -> None:
    """Find the tightest power cap that a limit allows, for each power policy.

    Limits are more than without a cap (+10%) or absolute. Caps are tried by bisection, each with a
    simulation of the whole log.
    """
    from wattline.advice.cap import advise_cap
    from wattline.advice.limits import Limits
    from wattline.model.pictures import check_picture

    limits = Limits(wait, slowdown, energy, refused)
    if plot is not None:
        check_picture(Path(plot))
    changes = changes_from(options)
    loaded = load_scenario(scenario, trace, changes)
    for field in ("power.cap", "power.watch_cap"):
        if field in changes:
            raise InputError(f"{field}: the cap is what is looked for; leave it out")
    only = changes.get("policy.power") if only is None else only
    names = _names(only) if only is not None else KEEPERS
    with progress("trying caps", spoken=True) as advance:
        advice = advise_cap(loaded, limits, policies=names, progress=advance,
                            allow_code=code_allowed(scenario, loaded, changes, options))
    if plot is not None:
        advice.plot(plot)
    if as_json:
        print_json(advice.to_dict())
    else:
        _print_caps(advice, plot)


def _names(listed: str) -> tuple[str, ...]:
    """Names between commas, each once."""
    names = tuple(dict.fromkeys(filter(None, map(str.strip, listed.split(",")))))
    if not names:
        raise InputError(f"--only names no power policy; it takes some of {', '.join(KEEPERS)}")
    return names


def _print_caps(advice: CapAdvice, plot: str | None) -> None:
    from wattline.advice.cap import ratios
    from wattline.analysis.summary import power_text, time_text

    rows: list[tuple[object, ...]] = []
    for choice in advice.choices:
        if choice.cap_w is None or choice.figures is None:
            rows.append((choice.policy, "-", "-", "-", "-", "-", "-", choice.remark))
            continue
        ratio = ratios(choice.figures, advice.free)
        rows.append((
            choice.policy, power_text(choice.cap_w), f"{choice.cap_w / advice.peak_w:.1%}",
            time_text(choice.figures.wait_s), f"{ratio['wait_ratio']:.3f}",
            f"{ratio['energy_ratio']:.3f}", choice.figures.refused, choice.remark))
    limits = ", ".join(f"{name} {text}" for name, text in advice.limits.described().items())
    click.echo(f"tightest caps within {limits}; without a cap: peak {power_text(advice.peak_w)}, "
               f"mean wait {time_text(advice.free.wait_s)}")
    print_table(("power policy", "cap", "of peak", "mean wait", "wait ratio", "energy ratio",
                 "never run", "remark"),
                rows)
    for line in advice.remarks:
        click.echo(f"note: {line}")
    if advice.wanted:
        click.echo(f"note: {advice.wanted}")
    if plot is not None:
        click.echo(f"picture: {plot}")


@command.command("job")
@click.option("--app", required=True, metavar="NAME", help="The application.")
@click.option("--table", metavar="CSV",
              help="Measured runs: nodes, cores, cap_w, time_s, power_w; or a frequency_ghz (mhz, "
                   "khz) with time_s and energy_j, and node_class, nodes, threads where known.")
@click.option("--claims", metavar="CSV", help="Claims, as `wattline claims` reads them.")
@click.option("--model", metavar="FILE", help="Models of `wattline fit`.")
@click.option("--store", metavar="URL|FILE", help="A store with claims or configurations.")
@click.option("--nodes", type=click.IntRange(min=1), metavar="N", help="Only on N nodes.")
@click.option("--beta", type=FiniteRange(0, 1), default=0.5, show_default=True,
              help="How run time is assumed to follow frequency: f^-beta.")
@price_option
@carbon_option
@click.option("--start", default="", metavar="DATE",
              help="Date in the tables of prices and carbon at which the job starts; their first "
                   "otherwise.")
@click.option("--all", "show_all", is_flag=True,
              help="Print every option, not only those that nothing beats.")
@click.option("--plot", metavar="FILE", help="Draw time over energy (.png, .svg, .pdf).")
@json_option
def job(
    app: str, table: str | None, claims: str | None, model: str | None, store: str | None,
    nodes: int | None, beta: float, price: str | None, carbon: str | None, start: str,
    show_all: bool, plot: str | None, as_json: bool,
) -> None:
    """Time, joules, money and carbon of a job at every setting that is known or predicted.

    Settings are node classes, node and thread counts, power caps and frequencies. Without a source
    (--table, --claims, --model, --store) the claims and models of the package are asked.
    """
    from wattline.advice.job import Sources, advise_job
    from wattline.model.pictures import check_picture

    if plot is not None:
        check_picture(Path(plot))
    advice = advise_job(
        app, Sources(table, claims, model, store), nodes=nodes, beta=beta,
        price=price, carbon=carbon, start=start)
    if plot is not None:
        advice.plot(plot)
    if as_json:
        print_json(advice.to_dict())
    else:
        _print_job(advice, show_all, plot)


def _print_job(advice: JobAdvice, show_all: bool, plot: str | None) -> None:
    from wattline.advice.job_plot import named
    from wattline.traces.tariffs import NO_CURRENCY

    best = {at: words for words, at in named(advice).items()}
    shown = range(len(advice.options)) if show_all else sorted(
        {*advice.front, *best}, key=lambda at: advice.options[at].time_s)
    priced = "cost" in advice.best
    headers = ["option", "time s", "energy J", "power W"]
    headers += [f"cost {advice.currency or NO_CURRENCY}"] if priced else []
    headers += ["CO2 g"] if "carbon" in advice.best else []
    headers += ["known by", "time off", "energy off", "best by"]
    rows: list[list[object]] = []
    for at in shown:
        option = advice.options[at]
        row: list[object] = [option.label, option.time_s, option.energy_j, option.power_w]
        row += [option.cost] if priced else []
        row += [option.carbon_g] if "carbon" in advice.best else []
        basis = f"{option.basis} ({counted(option.runs, 'run')})" if option.runs else option.basis
        rows.append([*row, basis, _off(option.time_error), _off(option.energy_error),
                     best.get(at, "")])
    left = len(advice.options) - len(rows)
    print_table(headers, rows, f"{advice.application}: {counted(len(advice.options), 'option')}, "
                + (f"{left:,} that others beat are not shown (--all)" if left
                   else "all shown"))
    for note in advice.notes:
        click.echo(f"note: {note}")
    if plot is not None:
        click.echo(f"picture: {plot}")


def _off(error: float) -> str:
    """One standard deviation; `?` where nobody knows."""
    return "?" if math.isnan(error) else f"{error:.0%}"
