"""`wattline configure`: the best configuration of an application under a power bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from wattline.cli.configuration_source import power_options, say_note, source_options
from wattline.cli.output import json_option, print_json, print_table
from wattline.model.units import format_power
from wattline.physics.configurations import PARTLY
from wattline.physics.dimensions import kind_of, shown

if TYPE_CHECKING:
    from wattline.advice.configure import ConfigurationAdvice
    from wattline.physics.overprovisioning import ConfigurationChoice


@click.command()
@click.argument("application", metavar="APP")
@click.option("--power", "bound", required=True, metavar="WATTS", help="The bound, like 3500W.")
@click.option("--nodes", type=int, metavar="N",
              help="Nodes there are; with --node-idle those that are left idle count too.")
@click.option("--node-idle", metavar="WATTS",
              help="What an idle node draws, where the bound is kept.")
@click.option("--node-power-max", metavar="WATTS",
              help="Rated maximum of a node, for the worst case; if not given, its devices at "
                   "their highest caps and --base-power, or 30 W of memory.")
@click.option("--device", "devices", multiple=True, metavar="NAME=COUNT[:LOW-HIGH]",
              help="A kind of device on a node, like gpu=4:200-700 or socket=2; without it, 2 "
                   "sockets, as many of others as the table has, and the caps of the table.")
@click.option("--plot", metavar="FILE", help="Draw the configuration space (PNG, PDF or SVG).")
@click.option("--keep", metavar="URL", help="Keep the table in this store (table job_details).")
@source_options
@power_options
@json_option
def command(
    application: str, bound: str, nodes: int | None, node_power_max: str | None,
    plot: str | None, keep: str | None, table: str | None, model: str | None, store: str | None,
    margin: str, columns: tuple[str, ...], devices: tuple[str, ...], node_idle: str | None,
    power_scope: str | None, base_power: str | None, supply_efficiency: str | None,
    bound_at: Literal["wall", "node"], as_json: bool,
) -> None:
    """Find the fastest configuration of APP under a power bound.

    A configuration is a number of nodes and what is set on each: cores and a cap for each socket,
    GPUs and their cap, or what else the table names. Beside the best one stand the four that need
    no thought (packed or spread, at the highest or the lowest caps) and the worst case, in which
    every node must be powered at its rated maximum.
    """
    from wattline.advice.configure import configure

    found = configure(application, bound, nodes=nodes, node_power_max=node_power_max, table=table,
                      model=model, store=store, margin=margin, columns=columns, devices=devices,
                      base_power=base_power, node_idle=node_idle, bound_at=bound_at,
                      supply_efficiency=supply_efficiency, power_scope=power_scope or "")
    if keep:
        from wattline.account.configurations import ConfigurationStore
        from wattline.account.store import Store

        with Store(keep) as opened:
            ConfigurationStore(opened).put(found.table)
    if plot:
        found.plot(plot)
    for line in found.remarks:
        say_note(line)
    if as_json:
        print_json(found.to_dict())
        return
    _print(found)


def _print(found: ConfigurationAdvice) -> None:
    choice, names = found.choice, found.table.names
    heads = [shown(name) for name in names]
    spread = any(one is not None and one.runs > 1 for one in choice.named.values())
    mixed = found.table.source == PARTLY
    print_table(
        ["configuration", "nodes", *heads, "time s", "power W", "best is faster by",
         *(["runs", "apart"] if spread else []), *(["basis"] if mixed else [])],
        [[name.replace("_", "-"), *_cells(choice, name, names, spread),
          *([one and one.basis] if mixed else [])] for name, one in choice.named.items()],
        title=f"{choice.application} under {format_power(choice.bound_w)}, {found.table.source}",
    )
    click.echo()
    print_table(["nodes", *heads, "best time s", "power W", *(["basis"] if mixed else [])],
                [[c.nodes, *(_plain(name, c.settings[name]) for name in names), c.time_s, c.power_w,
                  *([c.basis] if mixed else [])] for c in choice.by_nodes],
                title="Degree of overprovisioning: the best of each node count")
    counted = found.power.shown(found.table)
    if counted:
        click.echo(f"\npower: {counted}")
    if found.errors is not None:
        click.echo()
        click.echo(str(found.errors))


def _cells(
    choice: ConfigurationChoice, name: str, names: tuple[str, ...], spread: bool
) -> tuple[object, ...]:
    one = choice.named[name]
    if one is None:
        why = "does not fit"
        if name in choice.not_measured:
            why = "was not measured"
        elif name == "worst_case" and choice.node_power_w_max is None:
            why = "is not known"
        return (None,) * (3 + len(names)) + (why,) + (None,) * (2 * spread)
    gain = "-" if one == choice.best else f"{choice.gain_over(one):.1%}"
    apart = f"{max(one.time_spread, one.power_spread) - 1.0:.1%}"
    return (one.nodes, *(_plain(each, one.settings[each]) for each in names), one.time_s,
            one.power_w, gain, *((one.runs, apart) if spread else ()))


def _plain(name: str, value: float) -> float:
    return int(value) if kind_of(name) == "count" else value
