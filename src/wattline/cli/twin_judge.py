"""`wattline twin judge`: a twin held to several runs of a real Slurm."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.cli.zone import ZONE_HELP
from wattline.model.units import counted

if TYPE_CHECKING:
    from wattline.twin.judging import TwinJudgement


@click.command()
@click.argument("twin")
@click.option("--runs", required=True, metavar="FOLDER",
              type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="A CSV (wattline testbed replay) or a text of sacct -D -P per run, and beside "
                   "it the log of its slurmctld (NAME.log).")
@click.option("--phases", type=click.IntRange(1, 1000), default=20, show_default=True, metavar="N",
              help="Shifts of the scheduler's loops to simulate.")
@click.option("--by", default="account,tasks,asks", show_default=True, metavar="NAMES",
              help="How jobs are grouped: account, user, partition, qos, tasks, asks.")
@click.option("--zone", default="", metavar="ZONE",
              help=ZONE_HELP.replace("UTC]", "that of the twin, else UTC]"))
@json_option
def judge(twin: str, runs: Path, phases: int, by: str, zone: str, as_json: bool) -> None:
    """Hold TWIN (a scenario) to runs of a real Slurm over the same submissions.

    A mean wait passes within the range of the runs or within 5 % of their mean; starts of jobs pass
    where they are no further from the runs than the two runs that are furthest apart.
    """
    from wattline.twin.held import judge_twin

    with progress(f"simulating {twin}") as advance:
        found = judge_twin(twin, runs, phases=phases, by=[each for each in by.split(",") if each],
                           zone=zone, progress=advance)
    if as_json:
        print_json(found.to_dict())
        return
    _print(found)


def _print(found: TwinJudgement) -> None:
    print_table(
        ["by", "group", "jobs", "runs, least", "runs, most", "twin", "error", ""],
        [[row.by, row.group or "-", row.jobs, round(min(row.runs_s), 1), round(max(row.runs_s), 1),
          round(row.twin_s, 1), f"{row.error:+.1%}", "passes" if row.passes else "FAILS"]
         for row in found.waits],
        f"mean wait in seconds: {found.runs} runs, {found.phases} phases of the twin")
    print_table(
        ["starts of the same job", "median, s", "p90, s"],
        [[what, round(each.median_s, 1), round(each.p90_s, 1)] for what, each in (
            ("two runs", found.between_runs), ("two runs, furthest apart", found.widest_runs),
            ("a run and the twin", found.to_twin))])
    if found.left_out:
        click.echo(f"note: {len(found.left_out)} jobs did not start everywhere and are in no "
                   f"figure: {', '.join(found.left_out[:5])}")
    if found.submitted_again:
        click.echo(f"note: {counted(len(found.submitted_again), 'job')} submitted later in a run "
                   "than in the twin, and in no figure (sacct without -D has a requeue for the "
                   f"submission): {', '.join(found.submitted_again[:5])}")
    click.echo(f"note: phases of slurmctld's loops: {found.phases_known}")
    failed = sum(not row.passes for row in found.waits)
    click.echo(f"{len(found.waits) - failed} of {len(found.waits)} mean waits pass; starts of jobs "
               f"{'pass' if found.starts_pass else 'FAIL'}")
