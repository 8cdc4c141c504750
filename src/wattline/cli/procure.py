"""`wattline procure`: fewer new nodes or more older ones, for the same money and watts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from wattline.cli.choices import Choice
from wattline.cli.configuration_source import map_option, power_options
from wattline.cli.finite import FINITE
from wattline.cli.output import json_option, print_json, print_table

if TYPE_CHECKING:
    from wattline.physics.procurement import Crossing, Sweep

_MOST_SHOWN = 4
"""Of further break-evens so many are printed."""


@click.command()
@click.option("--budget-power", required=True, metavar="WATTS", help="Power for computing nodes.")
@click.option("--node-power-max", required=True, metavar="WATTS",
              help="Rated maximum of a high-end node.")
@click.option("--node-power-min", required=True, metavar="WATTS", help="Idle power of an older "
              "node.")
@click.option("--cost-ratio", type=FINITE, metavar="R",
              help="Effective price of a high-end node over that of an older one.")
@click.option("--rack", metavar="N,RACK,NEW,OLD",
              help="Instead of --cost-ratio: nodes in a rack, price of an empty rack, of a new and "
                   "of an old node, like 16,12000,3300,1700.")
@click.option("--rack-nodes", type=int, metavar="N",
              help="With --rack: a machine of this many new nodes, its last rack maybe not full.")
@click.option("--speed-ratio", required=True, metavar="PART",
              help="Part of the time that the high-end node saves, like 27%.")
@click.option("--scaling", metavar="M,B",
              help="Time in s over nodes as a line: slope, intercept; or one of the published "
                   "lines: SPhot, SP-MZ, BT-MZ, LU-MZ.")
@click.option("--app", metavar="NAME",
              help="Instead of --scaling: the best times of this application under the budget.")
@click.option("--table", metavar="CSV", help="With --app: its measured configurations.")
@map_option
@power_options
@click.option("--shape", type=Choice(["times", "line"]),
              help="With --app: its best times themselves, or a straight line through them.  "
                   "[default: times]")
@click.option("--nodes-valid", type=click.IntRange(min=1),
              help="With --scaling: up to how many nodes the line holds.  [default: 48]")
@click.option("--plot", metavar="FILE", help="Draw the gain over each parameter.")
@json_option
def command(
    budget_power: str, node_power_max: str, node_power_min: str, cost_ratio: float | None,
    rack: str | None, rack_nodes: int | None, speed_ratio: str, scaling: str | None,
    app: str | None, table: str | None, shape: Literal["times", "line"] | None,
    nodes_valid: int | None, columns: tuple[str, ...], plot: str | None,
    power_scope: str | None, base_power: str | None, supply_efficiency: str | None,
    bound_at: Literal["wall", "node"], as_json: bool,
) -> None:
    """Compare a machine of fewer high-end nodes with one of more older nodes.

    Both cost the same and stay under the same power budget. Above a speedup of 1 the
    overprovisioned machine (more older nodes) is the faster one.
    """
    from wattline.advice.procure import procure

    found = procure(
        budget_power, node_power_max=node_power_max, node_power_min=node_power_min,
        speed_ratio=speed_ratio, cost_ratio=cost_ratio, rack=rack, rack_nodes=rack_nodes,
        scaling=scaling, app=app, table=table, shape=shape, nodes_valid=nodes_valid,
        columns=columns, base_power=base_power, supply_efficiency=supply_efficiency,
        power_scope=power_scope or "", bound_at=bound_at)
    if plot:
        found.plot(plot)
    for line in found.remarks:
        click.echo(f"wattline: {line}", err=True)
    if as_json:
        print_json(found.to_dict())
        return
    result, times = found.result, found.times
    print_table(
        ["machine", "nodes", "cost (older node = 1)", "time s"],
        [["worst case, high-end nodes", result.n_wc, result.c_wc, result.t_wc_s],
         ["overprovisioned, older nodes", result.n_ovp, float(result.n_ovp), result.t_ovp_s]],
    )
    verdict = "overprovisioned" if result.s_ovp > 1 else "worst-case"
    click.echo(f"\nspeedup of the overprovisioned machine: {result.s_ovp:.2f}; the {verdict} "
               f"machine is faster. The budget can keep {result.n_lim} older nodes idle.")
    if times is not None:
        click.echo(f"times: the best ones of {times.table.application} on {times.best[0].nodes} to "
                   f"{times.best[-1].nodes} nodes under the budget, between node counts by a "
                   "power of the nodes")
    for one in found.sweeps:
        click.echo(f"  {one.parameter}: {_break_even(one)}")


def _break_even(found: Sweep) -> str:
    """Where the gain passes 1, next to the value asked about first; of several also which way."""
    nearest = found.nearest
    if nearest is None:
        return "no break-even in its range"
    if len(found.crossings) == 1:
        return f"breaks even at {_number(nearest.value)}"
    others = [one for one in found.crossings if one is not nearest]
    said = [_crossing(one) for one in others[:_MOST_SHOWN]]
    if len(others) > _MOST_SHOWN:
        said.append(f"and {len(others) - _MOST_SHOWN} more (all: --json)")
    return f"breaks even at {_crossing(nearest)}; also at {', '.join(said)}"


def _crossing(one: Crossing) -> str:
    return f"{_number(one.value)} ({'rises above' if one.rises else 'falls below'} 1)"


def _number(value: float) -> str:
    """Four digits, and whole numbers from there on: watts with an exponent are hard to read."""
    return f"{value:.0f}" if value >= 1e4 else f"{value:.4g}"
