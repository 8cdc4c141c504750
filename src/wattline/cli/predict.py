"""`wattline predict`: time and power of one configuration from a fitted model."""

from __future__ import annotations

import click

from wattline.cli.configuration_source import say_note
from wattline.cli.output import json_option, print_json, print_table


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
    from wattline.advice.predict import predict

    found = predict(application, nodes=nodes, cores=cores, cap=cap, model=model, margin=margin,
                    extrapolate=extrapolate)
    say_note(found.note, found.application)
    if as_json:
        print_json(found.to_dict())
        return
    print_table(
        ["quantity", "predicted", "90 % from", "to"],
        [["time s", found.time_s, *found.time_s_interval_90],
         ["power W", found.power_w, *found.power_w_interval_90],
         [f"power to reserve W (+{found.margin:.0%})", found.power_w_to_reserve, None, None]],
        title=f"{found.application} on {nodes} x {cores} cores at {found.cap_w:g} W per socket",
    )
    for one in found.outside:
        click.echo(f"{one}; the intervals are widened by as much")
