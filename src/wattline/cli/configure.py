"""`wattline configure`: the best configuration of an application under a power bound."""

from __future__ import annotations

import click

from wattline.cli.configuration_source import (
    best_stored,
    one_table,
    read_source,
    say_notes,
    source_options,
)
from wattline.cli.output import json_option, print_json, print_table
from wattline.model.errors import InputError
from wattline.model.units import format_power, parse_power


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
    from wattline.physics.overprovisioning import choose

    bound_w = parse_power(bound)
    if not 0 < bound_w < float("inf"):
        raise InputError(f"--power is {bound}, must be above 0 and finite")
    if nodes is not None and nodes < 1:
        raise InputError(f"--nodes is {nodes}, must be at least 1")
    source = read_source(table, model, store, margin)
    found = one_table(source, application)
    if keep:
        from wattline.account.configurations import ConfigurationStore
        from wattline.account.store import Store

        with Store(keep) as opened:
            ConfigurationStore(opened).put(found)
    within = found if nodes is None else found.up_to(nodes)
    choice = choose(within, bound_w, best=best_stored(source, found.application, nodes, bound_w),
                    node_power_w=parse_power(node_power_max) if node_power_max else None)
    say_notes(source, found)
    if plot:
        from wattline.analysis.configuration_plots import draw_choice

        draw_choice(within, choice, plot)
    named = choice.named
    if as_json:
        print_json({
            "application": choice.application, "source": found.source, "note": found.note,
            "bound_w": bound_w,
            **{name: one and one.as_dict() for name, one in named.items()},
            "gain_over_packed_max": choice.gain_over(choice.packed_max),
            "gain_over_worst_case": choice.gain_over(choice.worst_case),
            "degree_of_overprovisioning": choice.degree,
            "by_nodes": [one.as_dict() for one in choice.by_nodes],
        })
        return
    print_table(
        ["configuration", "nodes", "cores", "cap W", "time s", "power W", "best is faster by"],
        [[name.replace("_", "-"),
          *((one.nodes, one.cores, one.cap_w, one.time_s, one.power_w,
             "-" if one == choice.best else f"{choice.gain_over(one):.1%}")
            if one else (None,) * 5 + ("does not fit",))]
         for name, one in named.items()],
        title=f"{choice.application} under {format_power(bound_w)}, {found.source}",
    )
    click.echo()
    print_table(["nodes", "cores", "cap W", "best time s", "power W"],
                [[c.nodes, c.cores, c.cap_w, c.time_s, c.power_w] for c in choice.by_nodes],
                title="Degree of overprovisioning: the best of each node count")
