"""`wattline network nodes`: a host list for `sbatch -w`."""

from __future__ import annotations

from pathlib import Path

import click

from wattline.cli.choices import Choice
from wattline.cli.output import json_option, print_json
from wattline.policies.placement.network.placements import PLACEMENTS


@click.command("nodes")
@click.argument("machine")
@click.option("--size", type=click.IntRange(min=1), required=True, help="Nodes of the job.")
@click.option("--placement", type=Choice(list(PLACEMENTS)), metavar="NAME",
              help="How nodes are chosen; `wattline network placements` lists them [default: "
                   "best-fit on a tree, level-spread on a dragonfly].")
@click.option("--free", metavar="HOSTLIST",
              help="Nodes that are free, as `sinfo -h -t idle -o %N` prints them.")
@click.option("--busy", metavar="HOSTLIST", help="Nodes that are not; the others are.")
@click.option("--counters", type=click.Path(dir_okay=False, path_type=Path),
              help="Counters of Aries routers, a CSV table as LDMS stores them.")
@click.option("--sensitive/--insensitive", default=True, show_default=True,
              help="Whether congestion slows the job down; nedd asks.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="Seed of random placements.")
@json_option
def nodes(machine: str, size: int, placement: str | None, free: str | None, busy: str | None,
          counters: Path | None, sensitive: bool, seed: int, as_json: bool) -> None:
    """Nodes of MACHINE for one job among those that are free, as a host list for `sbatch -w`.

    MACHINE is Slurm's topology.conf, topology.yaml or what `scontrol show topology` printed, a file
    with a [network] section, or a built-in name. Remarks go to the error stream.
    """
    from wattline.advice.network import choose_nodes

    found = choose_nodes(machine, size=size, placement=placement, free=free, busy=busy,
                         counters=counters, sensitive=sensitive, seed=seed)
    if as_json:
        print_json(found)
        return
    for remark in found["remarks"]:
        click.echo(f"wattline: {remark}", err=True)
    click.echo(found["host_list"])
