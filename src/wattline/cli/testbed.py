"""`wattline testbed`: a real Slurm with emulated power, to try everything out on one machine."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.choices import Group
from wattline.cli.finite import FiniteRange
from wattline.cli.needs import given, option
from wattline.cli.output import json_option, print_json, print_table
from wattline.cli.testbed_bmc import bmc
from wattline.cli.testbed_meters import meters
from wattline.cli.testbed_replay import replay

if TYPE_CHECKING:
    from wattline.controller.testbed.trying import TriedRun

USUAL_NODES = 64
"""Enough for jobs of many sizes, and up in a quarter of a minute."""

folder_option = click.option(
    "--folder", type=click.Path(path_type=Path), default=None, metavar="FOLDER",
    help="Where the bed lies; wattline-bed in the folder for temporary files otherwise.")


@click.group(cls=Group)
def command() -> None:
    """A real Slurm on this machine whose nodes draw emulated power.

    The daemons are Debian's own (munge, MariaDB, slurmdbd, slurmctld, a slurmd per node); what a
    node draws follows from the jobs on it and its cap, and is read where a real node has it. A job
    is `sbatch -N 2 FOLDER/job.sh SECONDS [WATTS]`, with SLURM_CONF=FOLDER/etc/slurm.conf.
    """


@command.command()
@click.option("--nodes", type=click.IntRange(1, 1024), default=USUAL_NODES, show_default=True,
              help="Nodes of the machine, a slurmd for each.")
@click.option("--cores", type=click.IntRange(1, 1024), default=32, show_default=True,
              help="Of each node.")
@click.option("--slurm", default="", metavar="VERSION",
              help="Another than this machine's, such as 24.11 (scripts/install-slurm24).")
@folder_option
@json_option
def up(nodes: int, cores: int, slurm: str, folder: Path | None, as_json: bool) -> None:
    """Start a bed; needs root and Debian's packages of Slurm."""
    from wattline.controller.testbed.bed import USUAL_FOLDER, bring_up
    from wattline.controller.testbed.daemons import Daemons
    from wattline.controller.testbed.own_site import site_file

    def say(what: str) -> None:
        if not as_json:
            click.echo(f"wattline: starting {what}", err=True)

    bed = bring_up(folder or USUAL_FOLDER, nodes, cores=cores, slurm=slurm, say=say)
    controller = f"wattline controller --config {site_file(bed)}"
    rest = f"http://127.0.0.1:{bed.rest_port}" if Daemons(bed).has_rest else None
    if as_json:
        print_json({"folder": str(bed.folder), "nodes": bed.nodes, "cluster": bed.cluster,
                    "slurm_conf": str(bed.configuration), "rest": rest,
                    "broker_port": bed.broker_port, "site": str(site_file(bed)),
                    "controller": controller})
        return
    click.echo(f"{bed.nodes} nodes are up. To use Slurm's own commands here:\n"
               f"export SLURM_CONF={bed.configuration}\n"
               + (f"export PATH={bed.programs}:$PATH\n" if bed.root else "") +
               f"sbatch -N 2 {bed.folder}/job.sh 30 250\n"
               + (f"Slurm's REST interface is at {rest}" if rest else
                  "There is no REST interface: slurmrestd is not installed, or Slurm is another"))
    click.echo(f"To rehearse with a controller (the broker is at port {bed.broker_port}; keys are "
               f"named in {site_file(bed)}):\n{controller}")


@command.command()
@click.argument("workload", type=click.Path(exists=True, path_type=Path))
@click.option("--nodes", type=click.IntRange(1, 1024), default=8, show_default=True,
              help="Nodes of the machine, a slurmd for each.")
@click.option("--cap", required=True, metavar="W", help="Power that the machine may draw, 3kW.")
@click.option("--scenario", type=click.Path(exists=True, path_type=Path), metavar="F",
              help="Whose policies decide; EASY with watts and first-fit otherwise.")
@click.option("--mode", type=click.Choice(["decide", "guard"]), default="decide",
              show_default=True, help="Who starts jobs: the policy, or Slurm under licences.")
@option("--lower-cap-to", metavar="W", help="Another cap, from --at on.", needs=given("at_s"))
@option("--at", "at_s", type=FiniteRange(min=0), metavar="S",
        help="Seconds after the beginning.", needs=given("lower_cap_to"))
@click.option("--when-short", type=click.Choice(["suspend", "requeue"]),
              help="What may be done to jobs where caps of nodes are not enough.")
@click.option("--faults", type=int, metavar="SEED",
              help="Let something go wrong every few seconds, in the order of this seed.")
@click.option("--speed", type=FiniteRange(min=0, min_open=True), default=1.0, metavar="X",
              help="Divide all times of the log: 60 makes seconds of minutes.")
@click.option("--node-w", metavar="W:W",
              help="Watts per node of jobs that say none: of the whole machine, of a single node; "
                   "those between draw between.")
@click.option("--map", "column_map", metavar="NAME|FILE",
              help="Column map of a table that has other columns than job_id, submit_s, run_s, "
                   "requested_s, procs (nodes) and power_w.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE",
              help="Draw what the machine drew, below its cap (.png, .svg, .pdf).")
@click.option("--journal", type=click.Path(path_type=Path), metavar="FILE",
              help="Keep the journal here.")
@folder_option
@json_option
def run(workload: Path, nodes: int, cap: str, scenario: Path | None, mode: str,
        lower_cap_to: str | None, at_s: float | None, when_short: str | None, faults: int | None,
        speed: float, node_w: str | None, column_map: str | None, plot: Path | None,
        journal: Path | None, folder: Path | None, as_json: bool) -> None:
    """Bring up a bed, run WORKLOAD under the controller, take it down, and say what came of it.

    WORKLOAD is a job log or a table; its jobs are submitted at their times, held, and started by
    the policy on the nodes that it chooses. Times are real: a log of an hour takes an hour.
    """
    from wattline.cli.terminating import terminated_as_interrupted
    from wattline.cli.testbed_progress import saying_how_far
    from wattline.controller.testbed.trying import try_workload
    from wattline.model.pictures import check_picture

    if plot is not None:
        check_picture(plot)
    with terminated_as_interrupted(), saying_how_far(quiet=as_json) as tell:
        tried = try_workload(workload, nodes=nodes, cap=cap, scenario=scenario, mode=mode,
                             lower_cap_to=lower_cap_to, at_s=at_s or 0.0,
                             when_short=when_short or "", faults=faults, journal=journal,
                             folder=folder, speed=speed, node_w=_pair(node_w),
                             column_map=column_map, tell=tell)
    if plot is not None:
        tried.plot(plot)
    if as_json:
        print_json(tried.to_dict())
        return
    for remark in tried.run.remarks:
        click.echo(f"wattline: {remark}", err=True)
    print_table(["figure", "value"], _figures(tried))


def _pair(text: str | None) -> tuple[float, float] | None:
    from wattline.model.errors import InputError
    from wattline.model.units import parse_power

    if text is None:
        return None
    widest, colon, single = text.partition(":")
    if not colon:
        raise InputError(f"--node-w is {text}; write two powers, like 180:330")
    return parse_power(widest), parse_power(single)


def _figures(tried: TriedRun) -> list[list[object]]:
    found, beside = tried.run, tried.beside
    rows: list[list[object]] = [
        ["jobs", found.jobs], ["finished", found.finished], ["lost", len(found.lost)],
        ["completed twice", len(found.doubled)],
        ["finished, forgotten by a Slurm that was killed", len(found.end_forgotten)],
        ["finished, ended by Slurm at their limit", len(found.timed_out)],
        ["requeued", len(found.requeued)],
        ["refused", len(found.refused)], ["left waiting", len(found.left)],
        ["faults", len(found.faults)],
        ["makespan", f"{found.makespan_s:.0f} s"],
        ["mean wait", "-" if math.isnan(found.wait_s_mean) else f"{found.wait_s_mean:.1f} s"],
        ["longest above the cap", f"{found.above_cap_s_max:.1f} s"],
        ["worst energy of a job, by our ledger", f"{100 * found.energy_error_max:.1f} % off"],
        ["worst energy of a job, by Slurm", f"{100 * found.slurm_energy_error_max:.1f} % off"],
        ["decisions", found.decisions],
        ["journal replays", {True: "yes", False: "no", None: "nothing was decided"}[
            found.replay_equal]]]
    if beside is not None:
        rows.append(["nodes held beyond the work of a job, median", f"{beside.overhead_s:.1f} s"])
        for said, late in (("simulated", beside.without),
                           ("simulated with that", beside.with_overhead),
                           ("simulated with what each job held", beside.as_held)):
            rows += [[f"makespan, {said}", f"{late.makespan_s:.0f} s"],
                     [f"starts against {said}, median", f"{late.late_s_median:.1f} s off"],
                     [f"starts against {said}, worst", f"{late.late_s_worst:+.1f} s"]]
    return rows


@command.command()
@click.option("--keep", is_flag=True, help="Leave the folder with all logs.")
@folder_option
def down(keep: bool, folder: Path | None) -> None:
    """Stop a bed, and remove its folder."""
    from wattline.controller.testbed.bed import USUAL_FOLDER, take_down

    gone = take_down(folder or USUAL_FOLDER, keep=keep)
    if gone:
        click.echo(f"wattline: these had gone before: {', '.join(gone)}", err=True)


@command.command()
@folder_option
@json_option
def status(folder: Path | None, as_json: bool) -> None:
    """Show what runs of a bed."""
    from wattline.controller.testbed.bed import USUAL_FOLDER
    from wattline.controller.testbed.bed import status as look

    found = look(folder or USUAL_FOLDER)
    states: dict[str, int] = {}
    for state in found.nodes.values():
        states[state] = states.get(state, 0) + 1
    if as_json:
        print_json({"up": found.up, "folder": str(found.bed.folder), "daemons": found.daemons,
                    "nodes": states, "jobs": found.jobs})
        return
    rows: list[list[Any]] = [[name, "runs" if runs else "gone"]
                             for name, runs in _by_kind(found.daemons).items()]
    print_table(["daemon", "state"], rows)
    said = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    click.echo(f"nodes: {said or 'Slurm does not answer'}; jobs: "
               f"{'unknown' if found.jobs is None else found.jobs}")


command.add_command(bmc)
command.add_command(meters)
command.add_command(replay)


def _by_kind(daemons: dict[str, bool]) -> dict[str, bool]:
    """Of the slurmd one line, with how many there are."""
    nodes = [runs for name, runs in daemons.items() if name.startswith("slurmd.")]
    others = {name: runs for name, runs in daemons.items() if not name.startswith("slurmd.")}
    return others | ({f"slurmd ({sum(nodes)} of {len(nodes)})": all(nodes)} if nodes else {})
