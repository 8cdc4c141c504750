"""`wattline study regulation`: demand response beside its published tables."""

from __future__ import annotations

import math
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.choices import Choice
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.model.errors import InputError

if TYPE_CHECKING:
    from wattline.studies.regulation.parts import Row

COST = "cost (0.1 a kWh)"
"""All prices of the study are 0.1 a kWh, as published, in no currency."""
PARTS = ("default", "workloads", "large", "long")


@click.command("regulation")
@click.option("--part", type=Choice(["all", *PARTS]), default="all", show_default=True,
              help="100 servers; W1 to W14; 10,000 servers; a real log with long jobs.")
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
              help="Let AQA plan on so many other hours instead of the first, in the 14 workloads.")
@click.option("--hold", type=click.FloatRange(0, 1), default=0.0, metavar="SHARE",
              help="Share of these that must meet all constraints, each by itself.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--workers", type=click.IntRange(min=1), default=None, help="Processes.")
@json_option
def command(part: str, signal_file: str, log_file: Path | None, log_starts: tuple[str, ...],
            hours_each: int, rounds: int, standby: bool, warmup: str, below_idle: bool,
            forecast: int, hold: float, seed: int, workers: int | None, as_json: bool) -> None:
    """Demand response: 100 servers, 14 workloads, 10,000 servers, a real log."""
    from wattline.model.units import parse_duration
    from wattline.studies.regulation import parts

    if hold > 0 and forecast < 1:
        raise click.UsageError("--hold is a share of forecast hours: give --forecast HOURS too")
    if log_file is not None and not log_file.is_file():  # said before minutes of other parts
        raise InputError(f"{log_file}: there is no such file")
    if (warmup_s := parse_duration(warmup)) < 0:
        raise InputError("warmup must not be negative")
    count = workers or min(2, os.cpu_count() or 1)
    shared: dict[str, Any] = {"seed": seed, "hours_each": hours_each, "rounds": rounds,
                              "signal_file": signal_file, "warmup_s": warmup_s}
    result: dict[str, Any] = {}
    chosen = PARTS if part == "all" else (part,)
    for name in chosen:
        began = time.perf_counter()
        with progress(f"regulation: {name}") as tell:
            if name == "default":
                rows = parts.run_orders(parts.default_cluster(**shared), count, tell)
                result[name] = _entries(name, rows)
            elif name == "workloads":
                names = [f"W{i}" for i in range(1, 15)]
                orders = parts.fourteen(**shared, names=names, standby=standby,
                                        below_idle=below_idle, forecast=forecast, hold=hold)
                rows = parts.run_orders(orders, count, tell)
                result[name] = _entries(name, rows)
            elif name == "large":
                rows = parts.run_orders([parts.large_cluster(**shared)], 1, tell)
                result[name] = _entries(name, rows)
            elif log_file is not None:
                result[name] = _long(log_file, log_starts, seed, signal_file, count, tell)
            else:
                result[name] = None
                continue
        result[f"{name}_s"] = time.perf_counter() - began
        if not as_json:
            if name == "long":
                _print_long(result[name])
            else:
                _print_rows(name, rows)
    if as_json:
        print_json(result)
    elif result.get("long", True) is None:
        click.echo("long jobs: left out; give --log FILE")


def _long(
    log_file: Path, log_starts: tuple[str, ...], seed: int, signal_file: str, workers: int,
    tell: Any,
) -> list[Any]:
    from wattline.model.units import parse_duration
    from wattline.scenario.logs import busy_days
    from wattline.studies.regulation.long_jobs import long_jobs

    starts_s = [parse_duration(text) for text in log_starts]
    if not starts_s:
        starts_s = [86400.0 * day for day in busy_days(log_file, 3)]
    found = long_jobs(log_file, starts_s, seed=seed, signal_file=signal_file, workers=workers,
                      progress=tell)
    return [asdict(r) for r in found]


def _entries(name: str, rows: list[Row]) -> list[dict[str, Any]]:
    from wattline.studies.regulation.published import words

    return [asdict(row) | {"published": words(name, row.name, row.policy)} for row in rows]


def _print_rows(name: str, rows: list[Row]) -> None:
    from wattline.studies.regulation.published import TRACES, words

    table = []
    for row in rows:
        table.append((
            row.name, row.policy, "yes" if row.met else "no", round(row.average_w),
            round(row.reserve_w), round(row.cost, 3), f"{row.saving:.1%}", f"{row.error:.1%}",
            f"{row.other_met}/{row.other_hours} ({row.other_met_share[0]:.0%} to "
            f"{row.other_met_share[1]:.0%})", _spread(row.other_saving),
            words(name, row.name, row.policy),
        ))  # fmt: skip
    print_table(("case", "policy", "all met", "P W", "R W", COST, "saving", "error",
                 "other hours met (95 %)", "saving there (95 %)", "published"),
                table, title=f"{name}:")  # fmt: skip
    click.echo("")
    if name == "workloads":
        for policy in ("aqa", "energyqare", "tracking"):
            mine = [r for r in rows if r.policy == policy]
            ours = sum(r.met for r in mine)
            theirs = sum(policy in TRACES[r.name].met_by for r in mine)
            click.echo(f"{policy}: meets all constraints in {ours} of {len(mine)} workloads "
                       f"(published {theirs})")
        click.echo("")


def _spread(interval: tuple[float, float, float]) -> str:
    mean, low, high = interval
    return f"{mean:.1%} ({low:.1%} to {high:.1%})" if math.isfinite(mean) else "-"


def _print_long(rows: list[dict[str, Any]]) -> None:
    from wattline.studies.regulation.published import LONG_JOBS

    print_table(
        ("day", "load", "policy", "bidding", "large errors", "worst mean Q", "all met", COST,
         "saving"),
        [(f"{r['day']:g}", f"{r['utilisation']:.0%}", r["policy"], r["bidding"],
          f"{r['exceed_share']:.1%}", r["degradation"], "yes" if r["met"] else "no", r["cost"],
          f"{r['saving']:.1%}") for r in rows],
        title="long jobs, days of the log:",
    )  # fmt: skip
    click.echo("")
    print_table(
        ("published on", "policy", "bidding", "large errors", "worst mean Q", "cost, published"),
        [(r.cluster, r.policy, r.bidding, f"{r.exceed_share:.1%}", r.degradation, r.cost)
         for r in LONG_JOBS],
    )  # fmt: skip
