"""`wattline predict`: time and power of one configuration from a fitted model."""

from __future__ import annotations

import click

from wattline.cli.configuration_source import say_note
from wattline.cli.output import json_option, print_json, print_table
from wattline.model.errors import InputError
from wattline.model.units import parse_fraction, parse_power


@click.command()
@click.argument("application", metavar="APP")
@click.option("--nodes", type=int, required=True, help="Number of nodes.")
@click.option("--cores", type=int, required=True, help="Cores in use on each node.")
@click.option("--cap", required=True, metavar="WATTS", help="Power cap of each socket.")
@click.option("--model", metavar="FILE", help="Model file of `wattline fit`; shipped ones if not "
              "given.")
@click.option("--margin", default="15%", show_default=True, metavar="PART",
              help="Safety margin for the power to reserve.")
@click.option("--extrapolate", is_flag=True,
              help="Answer also beyond twice what the model was trained on.")
@json_option
def command(
    application: str, nodes: int, cores: int, cap: str, model: str | None, margin: str,
    extrapolate: bool, as_json: bool,
) -> None:
    """Predict time and power of APP in one configuration, with 90 % intervals.

    Outside of what the model was trained on the intervals are widened by the distance; beyond
    twice of it an answer is refused without --extrapolate.
    """
    from wattline.physics.regression import load_models, shipped_models
    from wattline.physics.regression.files import find_model

    models = load_models(model) if model else shipped_models()
    found = find_model(models, application)
    part = parse_fraction(margin)
    if part < 0:
        raise InputError(f"--margin is {margin}, must not be negative")
    cap_w = parse_power(cap)
    predicted = found.predict(nodes, cores, cap_w, extrapolate)
    outside = found.grid.outside(nodes, cores, cap_w)
    say_note(found.note, found.application)
    result = {
        "application": found.application, "kind": found.kind, "note": found.note,
        "nodes": nodes, "cores": cores, "cap_w": cap_w,
        "time_s": float(predicted.time_s[0]),
        "time_s_interval_90": _interval(predicted.time_s[0], predicted.time_sd[0]),
        "power_w": float(predicted.power_w[0]),
        "power_w_interval_90": _interval(predicted.power_w[0], predicted.power_sd[0]),
        "power_w_to_reserve": float(predicted.power_w[0]) * (1.0 + part),
        "margin": part, "outside_training": bool(outside),
        "outside": {one.name: one.as_dict() for one in outside},
    }
    if as_json:
        print_json(result)
        return
    print_table(
        ["quantity", "predicted", "90 % from", "to"],
        [["time s", result["time_s"], *_interval(predicted.time_s[0], predicted.time_sd[0])],
         ["power W", result["power_w"], *_interval(predicted.power_w[0], predicted.power_sd[0])],
         [f"power to reserve W (+{part:.0%})", result["power_w_to_reserve"], None, None]],
        title=f"{found.application} on {nodes} x {cores} cores at {cap_w:g} W a socket",
    )
    for one in outside:
        click.echo(f"{one}; the intervals are widened by as much")


def _interval(value: float, sd: float) -> list[float]:
    import math

    from wattline.physics.regression.base import Z_90

    return [float(value * math.exp(-Z_90 * sd)), float(value * math.exp(Z_90 * sd))]
