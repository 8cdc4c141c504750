"""`wattline controller`: decide what a real Slurm starts, under a cap."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wattline.cli.choices import Group
from wattline.cli.live_options import USUAL, needed, order
from wattline.cli.live_power import moment, show_mode
from wattline.cli.output import json_option, print_json
from wattline.model.units import fold_hosts, format_duration

if TYPE_CHECKING:
    from wattline.books import Decision
    from wattline.controller.controller import Controller, Cycle

config_option = click.option(
    "--config", "file", type=click.Path(exists=True, path_type=Path), metavar="FILE",
    help="The site: nodes, their powers, the cap, the policies.")


@click.group(cls=Group, invoke_without_command=True)
@config_option
@click.option("--act", is_flag=True,
              help="Start jobs; without it, only say what would be done and why.")
@click.option("--mode", type=click.Choice(["decide", "guard"]),
              help="Who starts jobs, whatever the site says and whatever was ordered: we, or Slurm "
                   "under licences.")
@click.option("--cycles", type=click.IntRange(min=1), metavar="N",
              help="Stop after N cycles; otherwise go on until Ctrl-C.")
@json_option
@click.pass_context
def command(context: click.Context, file: Path | None, act: bool, mode: str | None,
            cycles: int | None, as_json: bool) -> None:
    """Look at Slurm, decide by a policy under a cap, and start held jobs on the chosen nodes.

    Jobs that are submitted held and with our mark (sbatch --hold --comment=wattline) wait for this
    controller; those that others start are counted with their nodes and watts. It is a dry run
    unless --act is given.
    """
    if context.invoked_subcommand is not None:
        return
    from wattline.controller.configuration import read_configuration
    from wattline.controller.modes import mode_at_start
    from wattline.controller.serving import run, serving
    from wattline.controller.stopping import told_to_stop

    needed(file, "--config")
    assert file is not None
    site = read_configuration(file)
    if not as_json:
        click.echo(f"wattline: {len(site.node_names)} nodes under {site.cap:g} W, "
                   f"{mode_at_start(site, mode or '')} mode, "
                   f"{'acting' if act else 'a dry run: nothing is started'}", err=True)
    with told_to_stop() as stop, serving(site, act=act, mode=mode or "") as controller:
        run(controller, site.cycle, _printer(as_json, controller), cycles=cycles, stop=stop)
    for note in controller.notes:
        click.echo(f"wattline: {note}", err=True)


@command.command()
@config_option
def watchdog(file: Path | None) -> None:
    """Stand by: when the controller is silent for its lease, hand waiting jobs to Slurm.

    They are released with their watts as licences, so that the cap holds and none stays held for
    ever. Run it as a service of its own, on the controller's machine.
    """
    from wattline.controller.configuration import read_configuration
    from wattline.controller.lease import watchdog as watch
    from wattline.controller.stopping import told_to_stop
    from wattline.live.slurm.client import Slurm
    from wattline.live.slurm.commands import Commands

    needed(file, "--config")
    assert file is not None
    site = read_configuration(file)
    with told_to_stop() as stop:
        watch(site, Slurm(Commands(site.environment)), click.echo, stop=stop)


@command.command()
@click.argument("job")
@click.option("--config", "file", type=click.Path(path_type=Path), metavar="FILE", default=USUAL,
              show_default=True, help="The running controller's file.")
@json_option
def explain(job: str, file: Path, as_json: bool) -> None:
    """Say why JOB waits, by the books of the running controller, and when it is to start."""
    from wattline.controller.speaking import explain_job

    found = explain_job(job, file)
    if as_json:
        print_json(found)
        return
    click.echo(f"job {found['job']}: {found['sentence']}")
    for name, value in found["figures"].items():
        if value != "":
            click.echo(f"  {name} = {_shown(name, value)}")
    if found["expected_s"] is not None:
        wait_s = max(found["expected_s"] - time.time(), 0.0)
        click.echo(f"  expected to start in {format_duration(wait_s)}, if jobs take the time that "
                   "they asked for")


MOMENTS = ("since_s", "not_before_s")
"""Figures that are a time of day, in Unix seconds."""


def _shown(name: str, value: object) -> str:
    if name in MOMENTS and isinstance(value, float):
        return moment(value)
    return f"{value:,.10g}" if isinstance(value, float) else str(value)


@command.command()
@click.argument("mode", required=False, type=click.Choice(["decide", "guard"]))
@click.option("--config", "file", type=click.Path(path_type=Path), metavar="FILE", default=USUAL,
              show_default=True, help="The running controller's file.")
@json_option
def mode(mode: str | None, file: Path, as_json: bool) -> None:
    """Say who starts jobs, or let another: the controller (decide), or Slurm (guard).

    The running controller changes it between two cycles and remembers it; jobs that run go on, and
    the cap and reservations hold as before.
    """
    if mode is None:
        show_mode(file, as_json)
    else:
        order(file, "set_mode", {"mode": mode}, as_json)


def _where(controller: Controller, decision: Decision) -> str:
    """The nodes that Slurm was told, which are others than the books chose where a job may not have
    those, or none."""
    told = controller.watcher.told.get(str(decision.job))
    if told is not None and told.anywhere:
        return f"{len(decision.control.nodes)} nodes of Slurm's choice"
    nodes = told.nodes if told is not None and told.nodes else decision.control.nodes
    return fold_hosts(controller.watcher.node_names(nodes))


def _printer(as_json: bool, controller: Controller) -> Callable[[Cycle], None]:
    names = controller.watcher.node_names

    def say(cycle: Cycle) -> None:
        if as_json:
            print_json({"time_s": cycle.time_s, "looked": cycle.looked,
                        "decisions": [{"kind": each.kind, "job": each.job,
                                       "nodes": names(each.control.nodes)}
                                      for each in cycle.decisions],
                        "remarks": list(cycle.remarks)})
            return
        for decision in cycle.decisions if controller.act else ():  # a dry run remarks them
            if decision.kind == "start":
                where = _where(controller, decision)
                click.echo(f"start {decision.job} on {where}, {decision.power_w:.0f} W")
        for remark in cycle.remarks:
            click.echo(remark)

    return say
