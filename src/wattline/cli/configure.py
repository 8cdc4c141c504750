"""`wattline configure`: the best configuration of an application under a power bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wattline.cli.configuration_source import say_note, source_options
from wattline.cli.output import json_option, print_json, print_table
from wattline.model.units import format_power

if TYPE_CHECKING:
    from wattline.physics.configurations import Configuration
    from wattline.physics.overprovisioning import Choice


@click.command()
@click.argument("application", metavar="APP")
@click.option("--power", "bound", required=True, metavar="WATTS", help="The bound, like 3500W.")
@click.option("--nodes", type=int, metavar="N", help="Use at most this many nodes.")
@click.option("--node-power-max", metavar="WATTS",
              help="Rated maximum of a node, for the worst case; two packages at the highest cap "
                   "and 30 W of memory if not given.")
@click.option("--plot", metavar="FILE", help="Draw the configuration space (PNG, PDF or SVG).")
@click.option("--keep", metavar="URL", help="Keep the table in this store (table job_details).")
@source_options
@json_option
def command(
    application: str, bound: str, nodes: int | None, node_power_max: str | None,
    plot: str | None, keep: str | None, table: str | None, model: str | None, store: str | None,
    margin: str, as_json: bool,
) -> None:
    """Find the fastest configuration of APP under a power bound.

    A configuration is a number of nodes, of cores on each, and a cap for each socket. Beside the
    best one stand the four that need no thought (packed or spread, at the highest or the lowest
    cap) and the worst case, in which every node must be powered at its rated maximum.
    """
    from wattline.advice.configure import configure

    found = configure(application, bound, nodes=nodes, node_power_max=node_power_max, table=table,
                      model=model, store=store, margin=margin)
    if keep:
        from wattline.account.configurations import ConfigurationStore
        from wattline.account.store import Store

        with Store(keep) as opened:
            ConfigurationStore(opened).put(found.table)
    for line in found.remarks:
        say_note(line)
    if plot:
        found.plot(plot)
    if as_json:
        print_json(found.to_dict())
        return
    _print(found.choice, found.table.source)


def _print(choice: Choice, source: str) -> None:
    print_table(
        ["configuration", "nodes", "cores", "cap W", "time s", "power W", "best is faster by"],
        [[name.replace("_", "-"), *_cells(choice, name, one)]
         for name, one in choice.named.items()],
        title=f"{choice.application} under {format_power(choice.bound_w)}, {source}",
    )
    click.echo()
    print_table(["nodes", "cores", "cap W", "best time s", "power W"],
                [[c.nodes, c.cores, c.cap_w, c.time_s, c.power_w] for c in choice.by_nodes],
                title="Degree of overprovisioning: the best of each node count")


def _cells(choice: Choice, name: str, one: Configuration | None) -> tuple[object, ...]:
    if one is None:
        why = "was not measured" if name in choice.not_measured else "does not fit"
        return (None,) * 5 + (why,)
    gain = "-" if one == choice.best else f"{choice.gain_over(one):.1%}"
    return one.nodes, one.cores, one.cap_w, one.time_s, one.power_w, gain
