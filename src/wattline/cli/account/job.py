"""`wattline account job`: one measured job, with its power over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wattline.cli.account.options import clusters_option, store_option
from wattline.cli.account.show import names
from wattline.cli.output import json_option, print_json, print_table
from wattline.cli.simulating import warn_assumed
from wattline.cli.zone import zone_option

BARS = " ▁▂▃▄▅▆▇█"
WIDE = 60


@click.command("job")
@click.argument("job", metavar="JOB")
@store_option
@clusters_option
@zone_option
@click.option("--plot", metavar="FILE", help="Draw the power over time (.png, .svg, .pdf).")
@json_option
def command(job: str, store: str, clusters: str, zone: str, plot: str | None,
            as_json: bool) -> None:
    """Show JOB (12345, 300_1, 12+0): power over time, steps, nodes, source, coverage, quality."""
    from wattline.advice.measured_job import account_job
    from wattline.model.local_time import zone_of
    from wattline.model.pictures import check_picture

    if plot is not None:
        check_picture(Path(plot))
    shown_in = zone_of(zone)
    found = account_job(job, store, clusters=names(clusters, "-M"))
    if plot is not None:
        found.plot(plot)
    if as_json:
        print_json(found.to_dict())
    else:
        for life in found.lives:
            _print(life, shown_in)
        if plot is not None:
            click.echo(f"picture: {plot}")
    warn_assumed(found.remarks)


def _print(life: dict[str, Any], zone: Any) -> None:
    from wattline.account.measured.periods import Period
    from wattline.model.units import format_energy, format_power

    def written(time_s: float | None) -> str:
        return "-" if time_s is None else Period(None, None, zone).written(time_s)

    joules = "unknown" if life["energy_j"] is None else format_energy(life["energy_j"])
    click.echo(f"job {life['job']}" + (f" on {life['cluster']}" if life["cluster"] else "")
               + f": {life['state']}, {life['user'] or '-'} ({life['account'] or '-'}), "
               f"{life['node_count']} nodes {life['node_list']}")
    click.echo(f"  from {written(life['start_s'])} to {written(life['end_s'])}")
    click.echo(f"  energy {joules}, source {life['source'] or '-'}, coverage "
               f"{life['coverage']:.1%}, quality {life['quality']}")
    if life["power"]:
        highest = max(watts for _, _, watts in life["power"])
        click.echo(f"  power |{sparkline(life['power'])}| up to {format_power(highest)}")
    if life["steps"]:
        print_table(["step", "energy", "source"], [
            [row["step"], format_energy(row["energy_j"]), row["source"]] for row in life["steps"]])
    if life["nodes"]:
        print_table(["node", "energy"], [[row["node"], format_energy(row["energy_j"])]
                                         for row in life["nodes"]])


def sparkline(power: list[tuple[float, float, float]], width: int = WIDE) -> str:
    """Mean watts in so many equal parts of the time, as bars; a blank where nothing is known."""
    first_s, last_s = power[0][0], power[-1][1]
    part_s = (last_s - first_s) / width
    sums, covered = [0.0] * width, [0.0] * width
    for start_s, end_s, watts in power:
        low = int((start_s - first_s) / part_s)
        for at in range(min(low, width - 1), min(int((end_s - first_s) / part_s) + 1, width)):
            begin = first_s + at * part_s
            seconds = min(end_s, begin + part_s) - max(start_s, begin)
            if seconds > 0:
                sums[at] += watts * seconds
                covered[at] += seconds
    means = [total / seconds if seconds > 0 else 0.0
             for total, seconds in zip(sums, covered, strict=True)]
    highest = max(means) or 1.0
    steps = len(BARS) - 1
    return "".join(BARS[max(1, round(mean / highest * steps))] if seconds > 0 else BARS[0]
                   for mean, seconds in zip(means, covered, strict=True))
