"""`wattline controller`: decide what a real Slurm starts, under a cap."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wattline.cli.output import json_option, print_json

if TYPE_CHECKING:
    from wattline.controller.controller import Cycle


@click.command()
@click.option("--config", "file", required=True, type=click.Path(exists=True, path_type=Path),
              metavar="FILE", help="The site: nodes, their powers, the cap, the policies.")
@click.option("--act", is_flag=True,
              help="Start jobs; without it, only say what would be done and why.")
@click.option("--cycles", type=click.IntRange(min=1), metavar="N",
              help="Stop after so many cycles; otherwise go on until Ctrl-C.")
@json_option
def command(file: Path, act: bool, cycles: int | None, as_json: bool) -> None:
    """Look at Slurm, decide by a policy under a cap, and start held jobs on the chosen nodes.

    Jobs that are submitted held (sbatch --hold) wait for this controller; those that others start
    are counted with their nodes and watts. It is a dry run unless --act is given.
    """
    from wattline.controller.configuration import read_configuration
    from wattline.controller.serving import run, serving

    site = read_configuration(file)
    if not as_json:
        click.echo(f"wattline: {len(site.node_names)} nodes under {site.cap:g} W, "
                   f"{'acting' if act else 'a dry run: nothing is started'}", err=True)
    with serving(site, act=act) as controller:
        run(controller, site.cycle, _printer(as_json), cycles=cycles)


def _printer(as_json: bool) -> Callable[[Cycle], None]:
    def say(cycle: Cycle) -> None:
        if as_json:
            print_json({"time_s": cycle.time_s, "looked": cycle.looked,
                        "decisions": [{"kind": each.kind, "job": each.job,
                                       "nodes": list(each.control.nodes)}
                                      for each in cycle.decisions],
                        "remarks": list(cycle.remarks)})
            return
        for decision in cycle.decisions:
            if decision.kind == "start":
                click.echo(f"start {decision.job} on {len(decision.control.nodes)} nodes, "
                           f"{decision.power_w:.0f} W")
        for remark in cycle.remarks:
            click.echo(remark)

    return say
