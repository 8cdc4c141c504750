"""`wattline predict`: time and power of one configuration from a fitted model."""

from __future__ import annotations

import click

from wattline.cli.configuration_source import say_note
from wattline.cli.output import json_option, print_json, print_table
from wattline.model.errors import InputError
from wattline.physics.dimensions import CLASSIC, label
from wattline.physics.power_scope import SCOPES


@click.command()
@click.argument("application", metavar="APP")
@click.option("--nodes", type=int, required=True, help="Number of nodes.")
@click.option("--cores", type=int, help="Cores in use on each node.")
@click.option("--cap", metavar="WATTS", help="Power cap of each socket.")
@click.option("--at", "others", multiple=True, metavar="NAME=VALUE",
              help="Another setting of the model, like gpus=4 or gpu_cap_w=400W; may be given "
                   "several times.")
@click.option("--model", metavar="FILE", help="Model file of `wattline fit`; shipped ones if not "
              "given.")
@click.option("--margin", default="15%", show_default=True, metavar="PART",
              help="Safety margin for the power to reserve.")
@click.option("--extrapolate", is_flag=True,
              help="Answer also beyond twice what the model was trained on.")
@json_option
def command(
    application: str, nodes: int, cores: int | None, cap: str | None, others: tuple[str, ...],
    model: str | None, margin: str, extrapolate: bool, as_json: bool,
) -> None:
    """Predict time and power of APP in one configuration, with 90 % intervals.

    Where just this configuration was measured, the measurement is the answer, and it says so.

    Outside of what the model was trained on the intervals are widened by the distance; beyond
    twice of it an answer is refused without --extrapolate.
    """
    from wattline.advice.predict import predict

    found = predict(application, nodes=nodes, cores=cores, cap=cap, model=model, margin=margin,
                    extrapolate=extrapolate, **_settings(others))
    say_note(found.note, found.application)
    if as_json:
        print_json(found.to_dict())
        return
    print_table(
        ["quantity", found.basis, "90 % from", "to"],
        [["time s", found.time_s, *found.time_s_interval_90],
         ["power W", found.power_w, *found.power_w_interval_90],
         [f"power to reserve W (+{found.margin:.0%})", found.power_w_to_reserve, None, None]],
        title=f"{found.application} on {_where(nodes, found.settings)}",
    )
    if found.power_scope:
        click.echo(f"power: {SCOPES[found.power_scope]}")
    if found.errors is not None:
        click.echo(str(found.errors))
    for one in found.outside:
        click.echo(f"{one}; the intervals are widened by as much")


def _settings(given: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value) or name in _OWN:
            raise InputError(f"--at is '{text}'; write a setting of the model like gpus=4; nodes, "
                             "cores and the cap of sockets have options of their own")
        if name in found:
            raise InputError(f"--at gives {name} twice, {found[name]} and {value}")
        found[name] = value
    return found


_OWN = ("nodes", "cores", "cap_w", "cap", "application", "model", "margin", "extrapolate")


def _where(nodes: int, settings: dict[str, float]) -> str:
    if tuple(settings) == CLASSIC:
        return f"{nodes} x {settings['cores']:g} cores at {settings['cap_w']:g} W per socket"
    return label(nodes, settings).strip("()")
