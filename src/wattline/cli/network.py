"""`wattline network`: look at an interconnect, and place jobs on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wattline.cli.choices import Choice, Group
from wattline.cli.finite import FINITE
from wattline.cli.network_load import load
from wattline.cli.network_nodes import nodes
from wattline.cli.output import json_option, print_json, print_table
from wattline.policies.placement.network.placements import PLACEMENTS


@click.group(cls=Group)
def command() -> None:
    """Interconnects: what they look like, and where jobs go on them."""


command.add_command(load)
command.add_command(nodes)


@command.command("show")
@click.argument("machine")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path),
              help="Write a picture here (.svg, .png or .pdf).")
@json_option
def show(machine: str, svg: Path | None, as_json: bool) -> None:
    """Groups, routers and links of MACHINE: a file with a [network] section, or a built-in name.

    Slurm's topology.conf, topology.yaml and what `scontrol show topology` printed are machines too.
    Built-in names: dragonfly-272, dragonfly-528, dragonfly-544, dragonfly-1056, theta.
    """
    from wattline.network.config import load_machine
    from wattline.network.describe import describe

    topology = load_machine(machine)
    found = describe(topology)
    if svg is not None:
        from wattline.model.pictures import save_picture
        from wattline.network.picture import draw_network

        save_picture(draw_network(topology), svg)
    if as_json:
        print_json(found)
        return
    rows = [(key.replace("_", " "), value) for key, value in found.items()
            if not isinstance(value, list)]
    print_table(("", found["name"]), [(key, str(value)) for key, value in rows[1:]])
    click.echo()
    print_table(("links", "directed", "Gbit/s each", "Gbit/s in all"),
                [(kind["kind"], kind["count"], _span(kind["gbit_s_least"], kind["gbit_s_most"]),
                  kind["gbit_s_total"]) for kind in found["links_by_kind"]])
    for remark in found["remarks"]:
        click.echo(f"\n{remark}")
    if svg is not None:
        click.echo(f"\npicture: {svg}")


@command.command("place")
@click.argument("jobs", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--placement", type=Choice(list(PLACEMENTS)), metavar="NAME",
              help=f"How nodes are chosen: {', '.join(PLACEMENTS)} [default: best-fit on a tree, "
                   "level-spread on a dragonfly].")
@click.option("--machine", help="A machine; it stands before that of the file of jobs.")
@click.option("--routing", type=Choice(["minimal", "valiant", "adaptive", "ugal"]),
              default="adaptive", show_default=True, help="How messages find their way.")
@click.option("--threshold", type=FINITE, metavar="X",
              help="Adaptive routing with --packets: a detour needs more than X times the "
                   "room of the direct way (2).")
@click.option("--mapping", type=Choice(["random", "linear"]), default="random", show_default=True,
              help="How tasks are laid on the nodes of a job.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="Seed of random placements, mappings and detours.")
@click.option("--packets", is_flag=True, help="Times packet by packet instead of by flows.")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path),
              help="Write a picture of placement and hot spots here (.svg, .png or .pdf).")
@json_option
def place(jobs: Path, placement: str | None, machine: str | None, routing: str,
          threshold: float | None, mapping: str, seed: int, packets: bool, svg: Path | None,
          as_json: bool) -> None:
    """Place the JOBS of a TOML file on an empty machine: nodes, times, link loads, hot spots."""
    from wattline.advice.network import place_jobs

    found = place_jobs(jobs, placement=placement, machine=machine, routing=routing,
                       threshold=threshold, mapping=mapping, seed=seed, packets=packets)
    if svg is not None:
        found.plot(svg)
    if as_json:
        print_json(found.to_dict())
        return
    _print_trial(found.to_dict())
    if svg is not None:
        click.echo(f"\npicture: {svg}")


@command.command("placements")
@json_option
def placements(as_json: bool) -> None:
    """List the placements and what they need of a network."""
    from wattline.advice.network import list_placements

    found = list_placements()
    if as_json:
        print_json(found)
        return
    print_table(("placement", "needs", "kind", "what it does"),
                [(name, each["needs"], each["kind"], each["help"]) for name, each in found.items()])


@command.command("sensitivity")
@click.argument("profiles", required=False, type=click.Path(dir_okay=False, path_type=Path))
@json_option
def sensitivity(profiles: Path | None, as_json: bool) -> None:
    """Which applications suffer from congestion, from MPI PROFILES (the shipped ones if none)."""
    from wattline.advice.network import network_sensitivity

    found = network_sensitivity(profiles)
    if as_json:
        print_json(found)
        return
    print_table(("application", "MPI", "collectives", "wait", "send/recv", "test",
                 "synchronizing", "sensitive"),
                [[*list(row.values())[:-1], "yes" if row["sensitive"] else "no"] for row in found])


def _span(least: float, most: float) -> str:
    return f"{least:g}" if least == most else f"{least:g} to {most:g}"


def _shortened(hosts: str) -> str:
    runs = hosts.split(",")
    return ",".join(runs[:4]) + (f",... ({len(runs)} runs)" if len(runs) > 4 else "")


def _print_trial(found: dict[str, Any]) -> None:
    print_table(
        ("job", "nodes", "routers", "groups", "time us", "own links us", "stretch", "where"),
        [(job["name"], len(job["nodes"]), job["routers"], job["groups"], 1e6 * job["time_s"],
          1e6 * job["alone_s"], job["stretch"], _shortened(job["host_list"]))
         for job in found["jobs"]],
        title=f"{found['machine']}, {found['placement']}, {found['routing']} routing, "
              f"{found['model']} model")
    click.echo()
    print_table(("hot spots", "busy us", "MB"),
                [(spot["link"], 1e6 * spot["busy_s"], spot["bytes"] / 1e6)
                 for spot in found["hot_spots"]])
    for remark in found["remarks"]:
        click.echo(f"\n{remark}")
