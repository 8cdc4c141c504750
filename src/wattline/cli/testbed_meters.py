"""`wattline testbed meters`: meters with known faults, compared."""

from __future__ import annotations

from typing import Any

import click

from wattline.cli.finite import FiniteRange
from wattline.cli.output import json_option, print_json, print_table


@click.command()
@click.option("--seconds", type=FiniteRange(min=60.0), default=300.0, show_default=True,
              help="Of the emulated node's time, which passes quickly.")
@click.option("--every", type=FiniteRange(min=0.1), default=1.0, show_default=True,
              help="Seconds between readings.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="Of the load, and of the noise.")
@click.option("--plot", metavar="FILE", help="Draw power over time (.png, .svg, .pdf).")
@json_option
def meters(seconds: float, every: float, seed: int, plot: str | None, as_json: bool) -> None:
    """Compare wattmeters that are late, off and noisy by known figures, on an emulated node."""
    from wattline.cli.sensors.compare import print_comparison
    from wattline.controller.testbed.meters import USUAL, put_in, try_meters

    found = try_meters(seconds=seconds, every=every, seed=seed)
    pairs = put_in(USUAL, found)
    if plot is not None:
        found.draw(plot)
    if as_json:
        names = ("lag_s", "bias_share", "noise_w")
        print_json(found.to_dict() | {"put_in": {
            name: {key: put for key, (put, _) in zip(names, pair, strict=True)}
            for name, *pair in pairs}})
        return
    print_comparison(found)
    print_table(["meter", "lag put in", "found", "bias put in", "found", "noise put in", "found"],
                [[name, *_shown(lag, "{:.2f} s", 2), *_shown(bias, "{:.1%}", 3),
                  *_shown(noise, "{:.1f} W", 1)] for name, lag, bias, noise in pairs])
    if plot is not None:
        click.echo(f"picture: {plot}")


def _shown(pair: tuple[Any, Any], text: str, digits: int) -> list[str | None]:
    return [None if value is None else text.format(round(value, digits) + 0.0) for value in pair]
