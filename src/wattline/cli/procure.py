"""`wattline procure`: fewer new nodes or more older ones, for the same money and watts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.choices import Choice
from wattline.cli.output import json_option, print_json, print_table
from wattline.model.errors import InputError
from wattline.model.units import parse_fraction, parse_power, plain_number

if TYPE_CHECKING:
    from wattline.physics.configurations import ConfigurationTable
    from wattline.physics.procurement import Rack
    from wattline.physics.scaling import BestTimes, Curve, DrawnLine, Scaling

_NODES_VALID = 48


@click.command()
@click.option("--budget-power", required=True, metavar="WATTS", help="Power for computing nodes.")
@click.option("--node-power-max", required=True, metavar="WATTS",
              help="Rated maximum of a high-end node.")
@click.option("--node-power-min", required=True, metavar="WATTS", help="Idle power of an older "
              "node.")
@click.option("--cost-ratio", type=float, metavar="R",
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
@click.option("--shape", type=Choice(["times", "line"]),
              help="With --app: its best times themselves, or a straight line through them.  "
                   "[default: times]")
@click.option("--nodes-valid", type=click.IntRange(min=1),
              help=f"With --scaling: up to how many nodes the line holds.  [default: "
                   f"{_NODES_VALID}]")
@click.option("--plot", metavar="FILE", help="Draw the gain over each parameter.")
@json_option
def command(
    budget_power: str, node_power_max: str, node_power_min: str, cost_ratio: float | None,
    rack: str | None, rack_nodes: int | None, speed_ratio: str, scaling: str | None,
    app: str | None, table: str | None, shape: str | None, nodes_valid: int | None,
    plot: str | None, as_json: bool,
) -> None:
    """Compare a machine of fewer high-end nodes with one of more older nodes.

    Both cost the same and stay under the same power budget. Above a speedup of 1 the
    overprovisioned machine (more older nodes) is the faster one.
    """
    from wattline.physics.procurement import PARAMETERS, Budget, compare, sweep

    budget_w = parse_power(budget_power)
    _check_together(scaling, app, nodes_valid, {"--table": table, "--shape": shape})
    ratio = _cost_ratio(cost_ratio, rack, rack_nodes)
    drawn = times = None
    if app is None:
        curve: Curve = _given(scaling, nodes_valid)
    elif shape == "line":
        drawn = _drawn(_of_app(app, table), budget_w)
        curve = drawn.scaling
    else:
        curve = times = _best_times(_of_app(app, table), budget_w)
    budget = Budget(budget_w, parse_power(node_power_max), parse_power(node_power_min), ratio,
                    parse_fraction(speed_ratio))
    result = compare(budget, curve)
    sweeps = [sweep(budget, curve, parameter) for parameter in PARAMETERS]
    if plot:
        from wattline.analysis.configuration_plots import draw_sweeps

        draw_sweeps(sweeps, plot)
    if drawn is not None:
        _say_deviation(drawn)
    break_even = {found.parameter: found.break_even for found in sweeps}
    if as_json:
        print_json({**result.as_dict(), "cost_ratio": ratio,
                    "scaling": _as_dict(curve, drawn, times),
                    "break_even": break_even})
        return
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
    for name, value in break_even.items():
        shown = "no break-even in its range" if value is None else f"breaks even at {value:.4g}"
        click.echo(f"  {name}: {shown}")


def _cost_ratio(given: float | None, rack: str | None, rack_nodes: int | None) -> float:
    if (given is None) == (rack is None):
        raise InputError("give either --cost-ratio or --rack")
    if rack is None:
        if rack_nodes is not None:
            raise InputError("--rack-nodes goes with --rack")
        assert given is not None
        return given
    if rack_nodes is not None and rack_nodes < 1:
        raise InputError(f"--rack-nodes is {rack_nodes}, must be at least 1")
    return _rack(rack).ratio(rack_nodes)


def _rack(text: str) -> Rack:
    from wattline.physics.procurement import Rack

    values = _numbers(text, 4, "--rack", "16,12000,3300,1700")
    if values[0] != int(values[0]):
        raise InputError(f"--rack is '{text}'; the nodes of a rack must be a whole number")
    return Rack(int(values[0]), values[1], values[2], values[3])


def _check_together(
    scaling: str | None, app: str | None, nodes_valid: int | None,
    with_app: dict[str, str | None],
) -> None:
    if (scaling is None) == (app is None):
        raise InputError("give either --scaling M,B or --app NAME")
    for option, value in with_app.items():
        if value is not None and app is None:
            raise InputError(f"{option} goes with --app")
    if nodes_valid is not None and app is not None:
        raise InputError("--nodes-valid goes with --scaling; --app holds on the node counts that "
                         "its times are known for")


def _given(text: str | None, nodes_valid: int | None) -> Scaling:
    from wattline.physics.scaling import PUBLISHED, Scaling

    assert text is not None
    nodes_max = _NODES_VALID if nodes_valid is None else nodes_valid
    for name, line in PUBLISHED.items():
        if name.casefold() == text.strip().casefold():
            return replace(line, nodes_max=nodes_max)
    slope, intercept = _numbers(text, 2, "--scaling", "-1.114,73.07")
    return Scaling(slope, intercept, nodes_max)


def _of_app(app: str, table: str | None) -> ConfigurationTable:
    from wattline.cli.configuration_source import Source, one_table, say_notes

    source = Source(table, None, None, 0.0)
    found = one_table(source, app)
    say_notes(source, found)
    return found


def _best_times(table: ConfigurationTable, budget_w: float) -> BestTimes:
    from wattline.physics.scaling import BestTimes

    return BestTimes(table, budget_w)


def _drawn(table: ConfigurationTable, budget_w: float) -> DrawnLine:
    from wattline.physics.overprovisioning import best_by_nodes
    from wattline.physics.scaling import fit_scaling

    return fit_scaling(best_by_nodes(table, budget_w))


def _say_deviation(drawn: DrawnLine) -> None:
    line = drawn.scaling
    click.echo(f"wattline: the line through the best times on {line.nodes_min} to "
               f"{line.nodes_max} nodes, {line.slope_s:.4g} n + {line.intercept_s:.4g} s, is off "
               f"by up to {drawn.deviation:.0%} (at {drawn.deviation_nodes} nodes)", err=True)


def _as_dict(curve: Curve, drawn: DrawnLine | None, times: BestTimes | None) -> dict[str, Any]:
    """What the times come from; of a line or of best times only what it has."""
    from wattline.physics.scaling import Scaling

    found: dict[str, Any] = {"shape": "line" if times is None else "times", "slope_s": None,
                             "intercept_s": None, "best_times": None, "largest_deviation": None,
                             "largest_deviation_nodes": None}
    if times is not None:
        found |= {"nodes_min": times.best[0].nodes, "nodes_max": times.best[-1].nodes,
                  "best_times": [one.as_dict() for one in times.best]}
    if isinstance(curve, Scaling):
        found |= {"slope_s": curve.slope_s, "intercept_s": curve.intercept_s,
                  "nodes_min": curve.nodes_min, "nodes_max": curve.nodes_max}
    if drawn is not None:
        found |= {"largest_deviation": drawn.deviation,
                  "largest_deviation_nodes": drawn.deviation_nodes}
    return found


def _numbers(text: str, count: int, option: str, example: str) -> list[float]:
    import math

    try:
        values = [plain_number(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) != count or not all(math.isfinite(value) for value in values):
        raise InputError(f"{option} is '{text}'; write {count} numbers like {example}")
    return values
