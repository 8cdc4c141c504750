"""`wattline configure`: the best configuration of an application under a power bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    _say_above_bound(choice)
    if plot:
        from wattline.analysis.configuration_plots import draw_choice

        draw_choice(within, choice, plot)
    if as_json:
        print_json({"application": choice.application, "source": found.source, "note": found.note,
                    **_as_dict(choice)})
        return
    _print(choice, found.source)


def _say_above_bound(choice: Choice) -> None:
    worst = choice.worst_case
    if worst is not None and choice.worst_case_above_bound:
        click.echo(f"wattline: the worst case {worst.label} draws {worst.power_w:,.1f} W, above "
                   f"the bound of {choice.bound_w:,.12g} W: its nodes draw more than the highest "
                   "power of a node that was reckoned with (--node-power-max)", err=True)


def _as_dict(choice: Choice) -> dict[str, Any]:
    return {
        "bound_w": choice.bound_w,
        **{name: one and one.as_dict() for name, one in choice.named.items()},
        "not_measured": sorted(choice.not_measured),
        "worst_case_above_bound": choice.worst_case_above_bound,
        "gain_over_packed_max": choice.gain_over(choice.packed_max),
        "gain_over_worst_case": choice.gain_over(choice.worst_case),
        "degree_of_overprovisioning": choice.degree,
        "by_nodes": [one.as_dict() for one in choice.by_nodes],
    }


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
