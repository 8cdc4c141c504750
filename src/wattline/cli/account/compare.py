"""`wattline account compare`: meters of nodes beside Slurm's own joules."""

from __future__ import annotations

import click

from wattline.cli.account.options import clusters_option, store_option
from wattline.cli.account.show import names
from wattline.cli.output import json_option, print_json, print_table
from wattline.cli.simulating import warn_assumed
from wattline.cli.zone import zone_option


@click.command("compare")
@store_option
@click.option("-j", "--jobs", default="", metavar="JOB,...", help="Only these jobs.")
@clusters_option
@click.option("-S", "--start", default="", metavar="DATE", help="Jobs that ran from then on.")
@click.option("-E", "--end", default="", metavar="DATE", help="Jobs that ran before then.")
@zone_option
@json_option
def command(store: str, jobs: str, clusters: str, start: str, end: str, zone: str,
            as_json: bool) -> None:
    """Show, job by job, the joules of the nodes' meters beside those that Slurm counted."""
    from wattline.advice.measured_compare import account_compare

    found = account_compare(store, jobs=names(jobs, "-j"), clusters=names(clusters, "-M"),
                            start=start, end=end, zone=zone)
    if as_json:
        print_json(found.to_dict())
        return
    print_table(["job", "nodes", "seconds", "meters", "Slurm", "Slurm is off", "counts"], [
        [row["job"], row["nodes"],
         "-" if row["end_s"] is None else f"{row['end_s'] - row['start_s']:.0f}",
         f"{row['series_j']:.0f} J", f"{row['slurm_j']:.0f} J", f"{100 * row['apart']:+.1f} %",
         row["counts"]] for row in found.rows])
    if found.apart_max is not None:
        click.echo(f"{len(found.rows)} jobs: Slurm is {100 * (found.apart_median or 0):.1f} % off "
                   f"in the median, {100 * found.apart_max:.1f} % at most")
    if found.only_series or found.only_slurm:
        click.echo(f"jobs with joules of the meters alone: {found.only_series}, of Slurm alone: "
                   f"{found.only_slurm}")
    warn_assumed(found.remarks)
