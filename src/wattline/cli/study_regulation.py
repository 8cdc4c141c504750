"""`wattline study regulation`: demand response beside its published tables."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from wattline.analysis.folders import run_folder
from wattline.cli.choices import Choice
from wattline.cli.finite import FiniteRange
from wattline.cli.output import json_option, print_json, print_table, progress

if TYPE_CHECKING:
    from wattline.studies.regulation.parts import PolicyOutcome

COST = "cost (0.1 per kWh)"
"""All prices of the study are 0.1 per kWh, as published, in no currency."""
PARTS = ("thresholds", "default", "workloads", "large", "hours", "long")


@click.command("regulation")
@click.option("--part", type=Choice(["all", *PARTS]), default="all", show_default=True,
              help="Table 2.3 from what is printed; 100 servers; W1 to W14; 10,000 servers; AQA in "
                   "every hour of a real signal; a real log with long jobs.")
@click.option("--signal", "signal_file", default="", metavar="FILE",
              help="A real signal, cut into hours; without it, drawn ones (std 0.40).")
@click.option("--log", "log_file", type=click.Path(path_type=Path), metavar="FILE",
              help="The job log of the long-job part; without it, that part is left out.")
@click.option("--log-start", "log_starts", multiple=True, metavar="TIME",
              help="Where in the log to begin: two days before a judged one. Several can be given; "
                   "without it, the three spans whose load is nearest to 90 %.")
@click.option("--hours", "hours_each", type=click.IntRange(min=1), default=11, show_default=True,
              help="Hours a bid is judged on: the first one it was planned for, then others.")
@click.option("--rounds", type=click.IntRange(min=1), default=240, show_default=True,
              help="Simulations that a descent may use.")
@click.option("--standby", is_flag=True, help="Give AQA standby jobs in all 14 workloads.")
@click.option("--warmup", default="30m", show_default=True,
              help="Time before each hour, at the average power; 0s starts with an empty cluster.")
@click.option("--below-idle", is_flag=True,
              help="Let AQA bid for targets below the idle machine, as the published bids do.")
@click.option("--forecast", type=click.IntRange(min=0), default=0, metavar="HOURS",
              help="Number of other hours that AQA plans on, not the first, in the 14 workloads.")
@click.option("--hold", type=FiniteRange(0, 1), default=0.0, metavar="SHARE",
              help="Share of these that must meet all constraints, each by itself.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="Seed of arrivals and signals.")
@click.option("--seeds", type=click.IntRange(min=1), default=1, show_default=True,
              help="Number of seeds to run, from --seed on; results get intervals over them.")
@click.option("--workers", type=click.IntRange(min=1), default=None, help="Processes.")
@click.option("--kept", default="", metavar="FILE",
              help="Where rows stay that were found; an interrupted call goes on there.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Draw the savings of the 14 workloads beside the published ones.")
@json_option
@click.pass_context
def command(context: click.Context, part: str, signal_file: str, log_file: Path | None,
            log_starts: tuple[str, ...], hours_each: int, rounds: int, standby: bool,
            warmup: str, below_idle: bool, forecast: int, hold: float, seed: int, seeds: int,
            workers: int | None, kept: str, out: Path | None, as_json: bool) -> None:
    """Demand response: 100 servers, 14 workloads, 10,000 servers, a real log."""
    from wattline.studies.regulation.study import USED_BY, RegulationStudy, refuse_unused

    refuse_unused(part, {option: name for option, name in _given(context) if name in USED_BY})
    study = RegulationStudy(
        signal_file=signal_file, log_file=log_file, log_starts=log_starts, hours_each=hours_each,
        rounds=rounds, standby=standby, warmup=warmup, below_idle=below_idle, forecast=forecast,
        hold=hold, seed=seed, seeds=seeds, workers=workers, kept=kept)
    if out is not None:
        run_folder("regulation", str(out))  # a place that cannot be written is found out now
    result: dict[str, Any] = {}
    for name in PARTS if part == "all" else (part,):
        with progress(f"regulation: {name}") as tell:
            found = study.run(name, tell)
        result |= found.figures
        if out is not None and name == "workloads":  # rows of single hours bear the same names
            from wattline.studies.regulation.plots import write_pictures

            result.setdefault("pictures", []).extend(map(str, write_pictures(found.rows, out)))
        if not as_json and result[name] is not None:
            if name == "thresholds":
                _print_fits(result[name])
            elif name == "long":
                _print_long(result[name])
            else:
                _print_rows(name, found.rows)
                if name == "hours":
                    _print_by_std(found.figures["hours_by_std"])
    if as_json:
        print_json(result)
    elif result.get("long", True) is None:
        click.echo("long jobs: left out; give --log FILE")
    if not as_json and result.get("hours", True) is None:
        click.echo("hours of a real signal: left out; give --signal FILE")
    if not as_json:
        for path in result.get("pictures", ()):
            click.echo(path)


def _given(context: click.Context) -> list[tuple[str, str]]:
    """The options that the user wrote, as they are written and by their names here."""
    return [(option.opts[0], option.name or "") for option in context.command.params
            if context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE]


def _print_fits(fits: list[dict[str, Any]]) -> None:
    print_table(
        ("thresholds inferred x", "load", "P W", "R W", "saving", "weights", "published"),
        [(f["scale"], f"{f['utilisation']:.0%}",
          *((round(f["average_w"]), round(f["reserve_w"]), f"{f['saving']:.1%}",
             " ".join(f"{name} {weight:.3f}" for name, weight in f["weights"].items()))
            if f["saving"] is not None else ("-", "-", "no bid", "-")), f["published"])
         for f in fits],
        title="table 2.3 inferred from the printed weights, at several scales (shipped: 2):",
    )
    click.echo("")


def _print_rows(name: str, rows: list[PolicyOutcome]) -> None:
    from wattline.studies.regulation.parts import over_seeds
    from wattline.studies.regulation.published import TRACES, words

    table = []
    for row in rows:
        case = row.name if name != "hours" else f"{row.name}, hour {row.hour}"
        table.append((
            case, row.policy, row.verdict, round(row.average_w),
            round(row.reserve_w), round(row.cost, 3), f"{row.saving:.1%}", f"{row.error:.1%}",
            f"{row.other_met}/{row.other_hours} ({row.other_met_share[0]:.0%} to "
            f"{row.other_met_share[1]:.0%})", _spread(row.other_saving),
            words(name, row.name, row.policy),
        ))
    print_table(("case", "policy", "verdict", "P W", "R W", COST, "saving", "error",
                 "other hours met (95 %)", "saving there (95 %)", "published"),
                table, title=f"{name}:")
    click.echo("")
    for each in over_seeds(rows):
        theirs = ""
        if name == "workloads":
            known = sum(each.policy in TRACES[r.name].met_by for r in rows
                        if r.policy == each.policy)
            theirs = f"; published {known}"
        low, high = each.met_share
        click.echo(f"{each.policy}: met {each.met} of {each.cases} ({low:.0%} to {high:.0%} with "
                   f"95 % confidence{theirs}), declined {each.declined}, violated {each.violated}, "
                   f"saving where met {_spread(each.saving)}")
        if each.feasible:
            click.echo(f"  of {each.feasible} in which the bound finds a bid: offered "
                       f"{each.feasible_offered}, declined {each.feasible_declined}; held on "
                       f"{each.other_held} of {each.other_hours} other hours")
    click.echo("")


def _print_by_std(spans: list[dict[str, Any]]) -> None:
    print_table(
        ("std of the hour", "hours", "cases", "bound finds a bid", "met (95 %)", "declined",
         "saving where met"),
        [(f"{s['std'][0]:g} to {min(s['std'][1], 1.0):g}", s["hours"], s["cases"], s["feasible"],
          f"{s['met']} ({s['met_share'][0]:.0%} to {s['met_share'][1]:.0%})", s["declined"],
          _spread(s["saving"])) for s in spans],
        title="by the standard deviation of the hour (published: 0.40):",
    )
    click.echo("")


def _spread(interval: tuple[float, float, float]) -> str:
    mean, low, high = interval
    return f"{mean:.1%} ({low:.1%} to {high:.1%})" if math.isfinite(mean) else "-"


def _print_long(rows: list[dict[str, Any]]) -> None:
    from wattline.studies.regulation.published import LONG_JOBS

    print_table(
        ("day", "load", "policy", "bidding", "large errors", "worst mean Q", "Q without contract",
         "verdict", COST, "saving"),
        [(f"{r['day']:g}", f"{r['utilisation']:.0%}", r["policy"], r["bidding"],
          f"{r['exceed_share']:.1%}", r["degradation"], r["degradation_alone"], r["verdict"],
          r["cost"],
          f"{r['saving']:.1%}") for r in rows],
        title="long jobs, days of the log:",
    )
    counts = Counter(r["verdict"] for r in rows)
    click.echo("; ".join(f"{word}: {count} of {len(rows)}" for word, count in counts.items()))
    click.echo("")
    print_table(
        ("published on", "policy", "bidding", "large errors", "worst mean Q", "cost, published"),
        [(r.cluster, r.policy, r.bidding, f"{r.exceed_share:.1%}", r.degradation, r.cost)
         for r in LONG_JOBS],
    )
