"""`wattline testbed replay`: a site's own configuration and submissions on a real Slurm."""

from __future__ import annotations

from pathlib import Path

import click

from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.cli.terminating import terminated_as_interrupted

a_file = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.option("--slurm-conf", required=True, type=a_file, metavar="F",
              help="The site's slurm.conf.")
@click.option("--gres", type=a_file, metavar="F", help="gres.conf.")
@click.option("--topology", type=a_file, metavar="F", help="topology.conf.")
@click.option("--assoc", type=a_file, metavar="F",
              help="Script of sacctmgr that makes accounts, users and QOS.")
@click.option("--events", required=True, type=a_file, metavar="F",
              help="Submissions, '-dt S -e submit_batch_job | OPTIONS -sim-walltime S SCRIPT'.")
@click.option("--runs", type=click.IntRange(min=1), default=5, show_default=True,
              help="How often the submissions are run.")
@click.option("--at-once", type=click.IntRange(min=1), default=1, show_default=True,
              help="How many runs side by side; they share this machine's cores.")
@click.option("--first", type=click.IntRange(min=1), default=None, metavar="N",
              help="Only the first N submissions.")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path),
              metavar="FOLDER", help="A CSV per run, replay.json and the logs of slurmctld.")
@json_option
def replay(slurm_conf: Path, gres: Path | None, topology: Path | None, assoc: Path | None,
           events: Path, runs: int, at_once: int, first: int | None, out: Path,
           as_json: bool) -> None:
    """Run a site's submissions on a real Slurm with the site's slurm.conf, several times.

    All nodes are slurmd on this machine, jobs are sleeps, and times are real: ten minutes of
    submissions take ten minutes per run. What schedules is the site's own setting; ports, folders,
    authentication and what touches hardware are the bed's. Ctrl-C and SIGTERM end everything.
    Needs root and Debian's packages of Slurm.
    """
    from wattline.controller.testbed.replaying import replay as run_all
    from wattline.controller.testbed.site.translating import SiteFiles

    with terminated_as_interrupted(), progress("replaying") as advance:
        found = run_all(SiteFiles(slurm_conf, gres, topology, assoc), events, out, runs=runs,
                        at_once=at_once, first=first, progress=advance,
                        say=lambda text: click.echo(f"wattline: {text}", err=True))
    if as_json:
        print_json(found.to_dict() | {"out": str(out)})
        return
    print_table(
        ["run", "jobs", "refused", "mean wait, s", "load", "latest submission, s"],
        [[run.number, len(run.jobs), len(run.refused), round(run.mean_wait_s, 1),
          round(said["load_mean"], 1), round(said["submission_late_s_max"], 2)]
         for run in found.runs for said in [run.to_dict()]])
    for run in found.runs:
        for line in run.not_awaited:
            click.echo(f"note: run {run.number}: waits for nobody: {line}")
