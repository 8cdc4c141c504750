"""`wattline advise policy` and `wattline advise start`: what the next hours may bring."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli import advise_live
from wattline.cli.advise_live import (
    act_option,
    history_of,
    history_option,
    need_instant,
    rounds_option,
)
from wattline.cli.choices import Choice, ScenarioCommand
from wattline.cli.finite import FiniteRange
from wattline.cli.live_options import live_options, which
from wattline.cli.needs import given, option
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

if TYPE_CHECKING:
    from wattline.advice.futures.policy import PolicyAdvice
    from wattline.advice.futures.start import StartAdvice
    from wattline.scenario.model import Scenario

SHOWN_S = 0.1
"""From so long on the wait for the compiler is said."""
ARRIVALS = ("last-week", "none", "hindsight")
at_option = click.option(
    "--at", metavar="TIME", help="The instant: seconds of the log, 30d, 50% of it, or a date.")
arrivals_option = click.option(
    "--arrivals", type=Choice(list(ARRIVALS)), default=ARRIVALS[0], show_default=True,
    help="Jobs to come: those of a week before, none, or those that came.")
seed_option = click.option("--draw-seed", "seed", type=click.IntRange(0), default=1,
                           show_default=True, help="Of the draws.")


@click.command(cls=ScenarioCommand)
@click.argument("scenario", required=False)
@click.option("--trace", help="A job log to replay, instead of the scenario's.")
@at_option
@live_options
@history_option
@click.option("--follow", metavar="EVERY",
              help="Instead of one instant: choose anew every so often (6h) from the beginning of "
                   "the log, and compare with every fixed policy. With --live: from now on (10m).")
@act_option
@rounds_option
@click.option("--candidates", multiple=True, metavar="POLICY,...",
              help="Policies to try: sjf,wfp or 'power=dvfs cap=80%'; default: other orders, and "
                   "other ways to keep the cap.")
@click.option("--horizon", default="24h", show_default=True, help="How far to look.")
@click.option("--samples", type=click.IntRange(1, 100_000), default=30, show_default=True,
              help="Draws of run times.")
@click.option("--objective", default="wait_s", show_default=True, metavar="EXPRESSION",
              help="What is to be small.")
@click.option("--limit", "limits", multiple=True, metavar="CONSTRAINT",
              help="Like 'power_w.peak <= 3e6'.")
@option("--risk", type=FiniteRange(0, 1), default=0.1, show_default=True,
        help="With which probability a limit may be broken.",
        needs=given("limits", why="it is that of breaking a limit"))
@arrivals_option
@seed_option
@scenario_options
@json_option
def policy(
    scenario: str | None, trace: str | None, at: str | None, live: bool, config: Path | None,
    history: str | None, follow: str | None, act: bool, rounds: int | None,
    candidates: tuple[str, ...], horizon: str, samples: int, objective: str,
    limits: tuple[str, ...], risk: float, arrivals: str, seed: int, as_json: bool, **options: Any,
) -> None:
    """Run an instant of a log, or the live machine, ahead under each policy, and recommend one.

    Run times are drawn from how requested and true ones differed in the history, the same draws
    for every candidate.
    """
    from wattline.advice.futures.policy import advise_policy

    site = which(live, config, scenario or trace or at, "SCENARIO, --trace and --at")
    if site is not None:
        asked = {"candidates": candidates, "horizon": horizon, "samples": samples,
                 "objective": objective, "limits": limits, "risk": risk, "arrivals": arrivals,
                 "seed": seed, "history": history_of(history, options),
                 "allow_code": options["allow_code"]}
        _policy_live(site, follow, act, rounds, as_json, asked)
        return
    if (at is None) == (follow is None):
        raise InputError("give --at, an instant, or --follow, how often to choose anew")
    changes = changes_from(options)
    loaded = load_scenario(scenario, trace, changes)
    common: dict[str, Any] = {
        "candidates": candidates, "horizon": horizon, "samples": samples, "objective": objective,
        "limits": limits, "risk": risk, "arrivals": arrivals, "seed": seed,
        "allow_code": code_allowed(scenario, loaded, changes, options)}
    if follow is not None:
        _follow(loaded, follow, common, as_json)
        return
    assert at is not None
    from wattline.analysis.summary import time_text

    with progress("running ahead") as advance:
        found = advise_policy(loaded, at=at, progress=advance, **common)
    if as_json:
        print_json(found.to_dict())
    else:
        _print_policies(found, time_text(found.at_s))


def _policy_live(
    site: Path, follow: str | None, act: bool, rounds: int | None, as_json: bool,
    asked: dict[str, Any],
) -> None:
    from wattline.advice.futures.policy import advise_policy

    if follow is not None:
        advise_live.follow(site, follow, act, as_json, {**asked, "rounds": rounds})
        return
    with progress("running ahead") as advance:
        found = advise_policy(live=site, progress=advance, **asked)
    if as_json:
        print_json(found.to_dict())
    else:
        _print_policies(found, advise_live.date_text(found.at_s))


@click.command(cls=ScenarioCommand)
@click.argument("job")
@click.argument("scenario", required=False)
@click.option("--trace", help="A job log to replay, instead of the scenario's.")
@at_option
@live_options
@history_option
@click.option("--horizon", default="7d", show_default=True, help="How far to look.")
@click.option("--samples", type=click.IntRange(1, 100_000), default=100, show_default=True,
              help="Draws of run times.")
@price_option
@carbon_option
@click.option("--price-start", default="", metavar="DATE",
              help="Date in the tables at which the first job is submitted; by the dates of the "
                   "log otherwise, and their first where these have none in common.")
@arrivals_option
@seed_option
@scenario_options
@json_option
def start(
    job: str, scenario: str | None, trace: str | None, at: str | None, live: bool,
    config: Path | None, history: str | None, horizon: str, samples: int,
    price: str | None, carbon: str | None, price_start: str, arrivals: str, seed: int,
    as_json: bool, **options: Any,
) -> None:
    """Say when a job that waits will start: a distribution, with its joules and cost.

    JOB is its number in the log, or with --live the one that Slurm gave it.
    """
    from wattline.advice.futures.start import advise_start

    site = which(live, config, scenario or trace or at, "SCENARIO, --trace and --at")
    asked: dict[str, Any] = {
        "horizon": horizon, "samples": samples, "price": price, "carbon": carbon,
        "price_start": price_start, "arrivals": arrivals, "seed": seed}
    if site is not None:
        asked |= {"live": site, "history": history_of(history, options),
                  "allow_code": options["allow_code"]}
        given: tuple[Any, ...] = (job,)
    else:
        changes = changes_from(options)
        loaded = load_scenario(scenario, trace, changes)
        asked |= {"at": need_instant(at),
                  "allow_code": code_allowed(scenario, loaded, changes, options)}
        given = (job, loaded)
    with progress("running ahead") as advance:
        found = advise_start(*given, progress=advance, **asked)
    if as_json:
        print_json(found.to_dict())
    else:
        _print_start(found)


def _follow(loaded: Scenario, every: str, common: dict[str, Any], as_json: bool) -> None:
    from wattline.advice.futures.self_tuning import self_tune

    with progress("following", remaining=True) as advance:
        found = self_tune(loaded, every=every, progress=advance, **common)
    if as_json:
        print_json(found.to_dict())
        return
    from wattline.analysis.summary import energy_text

    print_table(("policy", found.objective, "energy", "slowdown"), [
        (name, value, energy_text(found.figures[name]["energy_j"]),
         found.figures[name]["bounded_slowdown.mean"]) for name, value in found.values.items()])
    changes = len(found.switches)
    click.echo(f"{changes:,} {'switch' if changes == 1 else 'switches'} in "
               f"{counted(found.decisions, 'decision')}; the best fixed policy was "
               f"{found.best_fixed}: {_gain(found.regret, found.fewer_ran)}")
    for name, why in found.left_out.items():
        click.echo(f"note: {name} is not compared: {why}")
    for line in found.assumed:
        click.echo(f"note: {line}")


def _gain(regret: float, fewer_ran: int = 0) -> str:
    if fewer_ran:
        return (f"not compared, since {counted(fewer_ran, 'job')} fewer ran under the supervisor "
                "than under it")
    if math.isnan(regret):
        return "what self-tuning is worth is no number"
    much = "infinitely much" if math.isinf(regret) else f"{abs(regret):.1%}"
    return f"self-tuning is {much} {'worse' if regret > 0 else 'better'}"


def _print_policies(found: PolicyAdvice, when: str) -> None:
    from wattline.analysis.summary import energy_text, power_text, time_text

    click.echo(f"at {when}: {found.waiting:,} jobs wait, {found.running:,} run; "
               f"the next {time_text(found.horizon_s)}, {found.samples:,} draws")
    limits = list(found.candidates[0].breaks)
    above = any(each.means["time_above_cap_s"] > 0 for each in found.candidates)
    rows = [(each.name + (" *" if each.name == found.best else ""),
             time_text(each.means["wait_s.mean"]), each.means["bounded_slowdown.mean"],
             each.means["jobs.started"], energy_text(each.means["energy_j"]),
             power_text(each.means["power_w.peak"]),
             *((time_text(each.means["time_above_cap_s"]),) if above else ()),
             *(f"{each.breaks[limit]:.0%}" for limit in limits)) for each in found.candidates]
    print_table(("candidate", "mean wait", "slowdown", "started", "energy", "peak",
                 *(("above the cap",) if above else ()),
                 *(f"breaks {limit}" for limit in limits)), rows)
    click.echo(found.why_none if found.best is None
               else f"* smallest {found.objective}: {found.best}")
    for line in found.assumed:
        click.echo(f"note: {line}")
    compiled = found.compile_seconds
    click.echo(f"run ahead in {found.seconds:.3g} s"
               + (f", compiled in {compiled:.3g} s" if compiled >= SHOWN_S else ""))


def _print_start(found: StartAdvice) -> None:
    from wattline.analysis.summary import energy_text, time_text
    from wattline.traces.tariffs import NO_CURRENCY

    def said(value_s: float) -> str:
        return "later" if math.isinf(value_s) else f"in {time_text(value_s)}"

    stands = "waits" if found.state == "waiting" else "is to come"
    click.echo(f"job {found.job} {stands}; it starts {said(found.start_s['p50'])} (one in ten "
               f"draws {said(found.start_s['p10'])} or before, one in ten "
               f"{said(found.start_s['p90'])} or after)")
    print_table(("starts within", "probability"),
                [(text, "unknown: beyond the horizon" if share is None else f"{share:.0%}")
                 for text, share in found.by.items()])
    energy = found.energy_j
    cost = "" if found.cost is None else (
        f"; costs {found.cost['p50']:.2f} ({found.cost['p10']:.2f} to {found.cost['p90']:.2f}) "
        f"{found.currency or NO_CURRENCY}")
    carbon = "" if found.carbon_g is None else (
        f"; emits {_kilograms(found.carbon_g)} kg of CO2")
    click.echo(f"uses {energy_text(energy['p50'])} ({energy_text(energy['p10'])} to "
               f"{energy_text(energy['p90'])}){cost}{carbon}")
    for line in found.assumed:
        click.echo(f"note: {line}")


def _kilograms(grams: dict[str, float]) -> str:
    median, low, high = (f"{grams[name] / 1000:.3g}" for name in ("p50", "p10", "p90"))
    return f"{median} ({low} to {high})"


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("--caps", default="85%peak,70%peak", show_default=True, metavar="CAP,...",
              help="Each log is simulated under each of them: watts, or parts of its peak.")
@click.option("--objective", "objectives", multiple=True, metavar="EXPRESSION",
              help="What is to be small; several are several cases.  [default: wait_s]")
@click.option("--candidates", multiple=True, metavar="POLICY,...",
              help="Policies to choose from, as those of `wattline advise policy`.")
@click.option("--every", default="6h", show_default=True, help="How often it chooses.")
@click.option("--horizon", default="24h", show_default=True, help="How far it looks.")
@click.option("--samples", type=click.IntRange(1, 100_000), default=5, show_default=True,
              help="Draws of run times per choice.")
@click.option("--keeper", default="dvfs", show_default=True, metavar="POLICY",
              help="The power policy that is there in the beginning: one that refuses no jobs.")
@click.option("--out", metavar="FOLDER",
              help="Keep each case here when it is done; those that are there are not repeated.")
@seed_option
@json_option
def regret(
    logs: tuple[str, ...], caps: str, objectives: tuple[str, ...], candidates: tuple[str, ...],
    every: str, horizon: str, samples: int, keeper: str, out: str | None, seed: int,
    as_json: bool,
) -> None:
    """Say what a supervisor that changes policies is worth on these LOGS, or scenarios.

    Each is simulated under it and under every fixed policy. Regret is how much worse it did than
    the best of those, which nobody knew beforehand.
    """
    from wattline.advice.futures.regret import HEADERS, rows_of, tuning_regret
    from wattline.traces.files import log_name

    named = {log_name(each): each for each in logs}
    if len(named) < len(logs):
        raise InputError("two of the logs have the same name; give each one of its own")
    with progress("following", remaining=True) as advance:
        found = tuning_regret(
            dict(named), caps=[each.strip() for each in caps.split(",") if each.strip()],
            objectives=objectives or ("wait_s",), candidates=candidates, power=keeper,
            every=every, horizon=horizon, samples=samples, seed=seed, out=out, progress=advance)
    if as_json:
        print_json(found.to_dict())
        return
    print_table(HEADERS, list(rows_of(found)))
    said = {f"{each.log} under {each.cap}: {name} is not compared ({why})"
            for each in found.cases for name, why in each.left_out.items()}
    said |= {f"{each.log}: {line}" for each in found.cases for line in each.assumed}
    for line in sorted(said):
        click.echo(f"note: {line}")
