"""`wattline trace`: look at job logs, convert them, generate them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wattline.cli.choices import Choice, Group
from wattline.cli.finite import FINITE
from wattline.cli.output import json_option, print_json, print_table
from wattline.cli.zone import zone_option
from wattline.model.units import counted, format_duration, joules_text

_FORMATS = ("swf", "sacct", "sacct-json", "csv", "parquet")


def reading_options(command: Any) -> Any:
    """The options of every command that reads a log."""
    options = (
        click.option("--format", "format_", type=Choice(_FORMATS),
                     help="Format of the log; found out by itself otherwise."),
        click.option("--map", "column_map", metavar="NAME|FILE",
                     help="Column map of a CSV or Parquet table: eagle, eurora, fdata, pm100, or "
                          "a TOML file."),
        click.option("--size", type=Choice(("requested", "allocated")),
                     default="requested", show_default=True, help="Which size of a job counts."),
        click.option("--unit", type=Choice(("nodes", "cores")), default="nodes",
                     show_default=True, help="What sizes of a Slurm log count."),
        click.option("--nodes", "machine_procs", type=click.IntRange(min=1),
                     help="Size of the machine in the log's unit; larger jobs are dropped."),
        click.option("--strict", is_flag=True, help="Take dirt for an error, with its line."),
        zone_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group("trace", cls=Group)
def command() -> None:
    """Look at job logs, convert them, generate them."""


@command.command()
@click.argument("log", type=click.Path(path_type=Path))
@reading_options
@json_option
def info(log: Path, as_json: bool, **options: Any) -> None:
    """Say what a log holds and what cleaning did to it."""
    from wattline.traces.summary import summarise

    trace = _read(log, options)
    facts = summarise(trace, options["machine_procs"])
    if as_json:
        print_json(facts)
        return
    _print_facts(facts)
    _print_cleaning(trace)


@command.command()
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@reading_options
@json_option
def convert(source: Path, target: Path, as_json: bool, **options: Any) -> None:
    """Write the log IN in the format of OUT.

    OUT ends in .swf, .csv or .parquet, with .gz, .xz or .bz2 behind it if wanted.
    """
    from wattline.traces import write
    from wattline.traces.summary import cleaning

    trace = _read(source, options)
    write(trace, target)
    if as_json:
        print_json({"jobs": len(trace), "file": str(target), "cleaning": cleaning(trace),
                    "remarks": list(trace.remarks)})
        return
    _print_cleaning(trace)
    click.echo(f"{counted(len(trace), 'job')} written to {target}")


@command.command()
@click.argument("name", metavar="[leadership|lublin|poisson|esp2]")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same trace.")
@click.option("--jobs", type=int, help="Number of jobs.")
@click.option("--nodes", type=int, help="Size of the machine.")
@click.option("--load", type=FINITE, help="Offered load (lublin, poisson).")
@click.option("--days", type=FINITE, help="Length of the period (leadership).")
@click.option("--arrivals", type=Choice(["hours", "sessions"]),
              help="By the hours of the day alone, or in sessions of users (leadership).")
@click.option("--estimates", is_flag=True, help="Requests as users write them (lublin).")
@click.option("--mix", type=click.Path(path_type=Path), help="TOML file of job types (poisson).")
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path),
              help="File to write: .swf, .csv or .parquet.")
@json_option
def generate(name: str, out: Path, as_json: bool, **options: Any) -> None:
    """Make a synthetic workload and write it."""
    from wattline.traces import generate as make
    from wattline.traces import write
    from wattline.traces.summary import summarise

    options["types"] = options.pop("mix")
    options["estimates"] = options["estimates"] or None
    trace = make(name, **options)
    write(trace, out)
    for line in trace.remarks:
        click.echo(f"wattline: {line}", err=True)
    if as_json:
        print_json({"file": str(out), **summarise(trace)})
    else:
        load = summarise(trace)["offered_load"]
        said = f", offered load {load:.3f}" if load is not None else ""
        click.echo(f"{counted(len(trace), 'job')} written to {out}{said}")


def _read(log: Path, options: dict[str, Any]) -> Any:
    from wattline.traces import read

    chosen = {key: value for key, value in options.items() if key != "format_"}
    return read(log, format=options["format_"], **chosen)


def _print_facts(facts: dict[str, Any]) -> None:
    load = facts["offered_load"]
    rows = [
        ("jobs", f"{facts['jobs']:,}"),
        ("span of submissions", format_duration(facts["span_s"])),
        ("machine", _count(facts["machine_procs"])),
        ("offered load", "-" if load is None else f"{load:.3f}"),
        ("users, groups, queues", f"{facts['users']}, {facts['groups']}, {facts['queues']}"),
        ("jobs with a dependency", f"{facts['dependencies']:,}"),
        ("jobs with known power", f"{facts['with_power']:,}"),
    ]
    rows += [(key, " / ".join(text.split("\n"))[:80]) for key, text in facts["header"].items()
             if key in ("Computer", "Installation", "MaxNodes", "MaxProcs", "UnixStartTime")]
    click.echo(facts["source"])
    for name, value in rows:
        click.echo(f"  {name:<24}{value}")
    click.echo()
    table = facts["quantiles"]
    heads = list(next(iter(table.values())))
    print_table(["figure", *heads], [[name, *figures.values()] for name, figures in table.items()])


def _print_cleaning(trace: Any) -> None:
    report = trace.cleaning
    click.echo()
    click.echo(f"{counted(report.read, 'job line')} read, {report.kept:,} kept")
    if report.touched:
        print_table(["rule", "jobs", "first at", "what is done"],
                    [[r.name, r.jobs, r.first_line, r.statement] for r in report.touched])
    for rule in report.touched:
        if rule.lacks_joules:
            click.echo(f"rule {rule.name} left out {counted(rule.jobs, 'job')} with "
                       f"{joules_text(rule.energy_j)}")
    for line in trace.remarks:
        click.echo(f"note: {line}")
    click.echo()


def _count(procs: int | None) -> str:
    return "not said in the log; give it with --nodes" if procs is None else f"{procs:,} processors"
