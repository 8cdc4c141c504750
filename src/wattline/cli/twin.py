"""`wattline twin`: a site's own Slurm as a scenario, and how close it comes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.choices import Group
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.cli.twin_judge import judge
from wattline.cli.zone import zone_option

if TYPE_CHECKING:
    from wattline.twin.check import TwinCheck

MOST_ROWS = 12


@click.group(cls=Group)
def command() -> None:
    """Make a machine that schedules like your Slurm, and check it against your log."""


@command.command()
@click.option("--slurm-conf", required=True, metavar="FILE", help="The cluster's slurm.conf.")
@click.option("--gres", metavar="FILE", help="Its gres.conf.")
@click.option("--topology", metavar="FILE", help="Its topology.conf or topology.yaml.")
@click.option("--assoc", metavar="FILE",
              help="Accounts, users, QOS and limits: a dump, a script or a table of sacctmgr.")
@click.option("--qos", metavar="FILE", help="`sacctmgr show qos -P`, where --assoc has no QOS.")
@click.option("--sacct", metavar="FILE",
              help="The jobs: sacct -P with its header, sacct --json, or a table (.parquet, .csv).")
@click.option("--events", metavar="FILE", help="The jobs: submissions as .events.")
@click.option("--events-down", metavar="FILE",
              help="Nodes down or drained: sacctmgr show event -P.")
@click.option("--reservations", metavar="FILE",
              help="Nodes kept for some jobs: scontrol show reservation.")
@click.option("--idle-w", metavar="WATTS", help="Power of a node without jobs.")
@click.option("--cpu-w", metavar="WATTS", help="Power that each CPU in use adds.")
@click.option("--gpu-w", metavar="WATTS", help="Power that each GPU in use adds.")
@zone_option
@click.option("-o", "--out", default="twin.toml", show_default=True, metavar="FILE",
              help="The scenario to write.")
@json_option
def make(
    slurm_conf: str, gres: str | None, topology: str | None, assoc: str | None, qos: str | None,
    sacct: str | None, events: str | None, events_down: str | None,
    reservations: str | None, idle_w: str | None, cpu_w: str | None, gpu_w: str | None, zone: str,
    out: str, as_json: bool,
) -> None:
    """Write a scenario from slurm.conf and a log, and say what was understood.

    Every key of slurm.conf is used, assumed, not modelled or unknown, and is listed so; jobs that
    do not fit the machine are named. Where not all nodes draw alike, classes of them have their
    own watts in the file that is written: [[twin.power]] with nodes = "cn[001-100]", idle_w, cpu_w
    and gres_w = {"gpu:a100" = 350}.
    """
    from wattline.twin.make import make_twin

    twin = make_twin(slurm_conf, sacct=sacct, events=events, gres=gres, topology=topology,
                     assoc=assoc, qos=qos, down=events_down, reservations=reservations,
                     idle_w=_watts("--idle-w", idle_w), cpu_w=_watts("--cpu-w", cpu_w),
                     gpu_w=_watts("--gpu-w", gpu_w), zone=zone, out=out)
    if as_json:
        print_json(twin.to_dict())
        return
    click.echo(f"{out}: {twin.jobs:,} jobs on {twin.nodes:,} nodes with {twin.cpus:,} CPUs")
    for title, lines in (("understood", twin.understood), ("assumed", twin.assumed),
                         ("not modelled", twin.not_modelled), ("unknown", twin.unknown),
                         ("contradictions", twin.contradictions), ("filled in", twin.filled),
                         ("do not fit the machine", twin.unfit), ("left out", twin.left_out)):
        if lines or title == "not modelled":
            click.echo(f"\n{title} ({len(lines)}):")
        for line in lines:
            click.echo(f"  {line}")
    click.echo(f"\nwattline twin check {out} holds it against the log")


@command.command()
@click.argument("twin")
@click.option("--phases", type=click.IntRange(1, 1000), metavar="N",
              help="Shifts of the scheduler's loop to simulate; default: 5, or 1 for long logs.")
@click.option("--plot", metavar="FILE", help="Draw the waits (.png, .svg, .pdf).")
@json_option
def check(twin: str, phases: int | None, plot: str | None, as_json: bool) -> None:
    """Hold the simulated waits of TWIN (a scenario) against those of its log."""
    from wattline.model.pictures import check_picture
    from wattline.twin.check import check_twin

    if plot is not None:
        check_picture(Path(plot))
    with progress(f"simulating {twin}") as advance:
        found = check_twin(twin, phases=phases, progress=advance)
    picture = None if plot is None else found.plot(plot)
    if as_json:
        print_json({**found.to_dict(), "picture": None if picture is None else str(picture)})
        return
    _print(found)
    if picture is not None:
        click.echo(f"picture: {picture}")


command.add_command(judge)


def _print(found: TwinCheck) -> None:
    from wattline.analysis.summary import time_text

    stretch = found.stretch
    figures: list[tuple[str, Any]] = [
        ("jobs", f"{found.jobs:,} ({found.compared:,} compared, {found.never_ran:,} never ran)"),
        ("figures are of", "all of the log" if stretch["first_s"] is None else
         f"{stretch['jobs']:,} jobs, submitted in the "
         f"{time_text(stretch['last_s'] - stretch['first_s'])} in which the log is complete"),
        ("error of the mean wait", _share(found.error)),
        ("error of the moving mean" if not found.window_s > 0 else
         f"error of the mean over {time_text(found.window_s)}",
         _share(found.moving_average_error)),
        ("starts apart, median / p90", "not known" if found.start_error_s is None else
         f"{_wait(found.start_error_s['median'])} / {_wait(found.start_error_s['p90'])}"),
        ("mean wait over phases", " to ".join(dict.fromkeys(
            _wait(found.phases[end]) for end in ("least", "most")))),
        ("utilisation, simulated / logged", f"{_share(found.utilisation['simulated'])} / "
                                            f"{_share(found.utilisation['logged'])}")]
    print_table(["figure", "value"], figures, found.name)
    rows: list[tuple[Any, ...]] = [("all", "", found.compared, *_two(found.mean_wait_s))]
    for key, groups in found.by.items():
        ordered = sorted(groups.items(), key=lambda row: -row[1]["jobs"])
        rows += [(key, name, row["jobs"], *_two(row)) for name, row in ordered[:MOST_ROWS]]
        if len(ordered) > MOST_ROWS:
            rows.append((key, f"and {len(ordered) - MOST_ROWS} more (--json)", "", "", ""))
    print_table(["by", "name", "jobs", "simulated", "logged"], rows, "mean wait")
    for title, lines in (("edges of the log", stretch["edges"]), ("assumed", found.assumed),
                         ("not modelled", found.not_modelled),
                         ("unknown", found.unknown), ("contradiction", found.contradictions),
                         ("does not fit", found.unfit), ("of what-ifs", found.came_of),
                         ("left out", found.left_out)):
        for line in lines:
            click.echo(f"note: {title}: {line}")
    for rule, jobs in found.filled["rules"].items():
        click.echo(f"note: filled in: {jobs:,} job{'' if jobs == 1 else 's'}: {rule}")
    click.echo(found.verdict)


def _two(row: Any) -> tuple[str, str]:
    return _wait(row["simulated"]), _wait(row["logged"])


def _wait(value_s: float | None) -> str:
    from wattline.twin.figures import wait_text

    return "not known" if value_s is None else wait_text(value_s)


def _share(value: float | None) -> str:
    return "not known" if value is None else f"{value:.1%}"


def _watts(option: str, text: str | None) -> float | None:
    from wattline.model.errors import InputError
    from wattline.model.units import parse_power
    from wattline.scenario.twin.section import MOST_WATTS

    if text is None:
        return None
    watts = parse_power(text)
    if not 0 <= watts <= MOST_WATTS:
        raise InputError(f"{option}: must be at least 0 and at most {MOST_WATTS:,.0f} "
                         f"(it is {watts})")
    return watts
