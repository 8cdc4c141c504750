"""`wattline sensors compare`: meters side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wattline.cli.finite import FiniteRange
from wattline.cli.output import json_option, print_json, print_table

if TYPE_CHECKING:
    from wattline.live.comparing import MeterRow, SensorComparison


@click.command("compare")
@click.argument("meters", nargs=-1, metavar="[METER]...")
@click.option("--reference", metavar="METER",
              help="The meter that is believed; chosen by rule otherwise (whole node, counter).")
@click.option("--seconds", type=FiniteRange(min=0.1), default=60.0, show_default=True,
              help="How long; the load should change meanwhile, or lags cannot be told.")
@click.option("--every", type=FiniteRange(min=0.01), default=1.0, show_default=True,
              help="Seconds between readings.")
@click.option("--plot", metavar="FILE", help="Draw power over time (.png, .svg, .pdf).")
@click.option("--csv", metavar="FILE",
              help="Write watts at common times, for `wattline sensors fit`.")
@json_option
def command(meters: tuple[str, ...], reference: str | None, seconds: float, every: float,
            plot: str | None, csv: str | None, as_json: bool) -> None:
    """Read meters side by side: bias, lag and noise of each, and what it costs the node.

    A METER is a kind of sensor, `powercap`, or a kind and a place, `ipmi=lanplus://admin@bmc7`;
    without any, all of this machine are taken.
    """
    from wattline.live.comparing import compare_sensors

    found = compare_sensors(*meters, reference=reference, seconds=seconds, every=every, plot=plot,
                            csv=csv)
    if as_json:
        print_json(found.to_dict())
        return
    print_comparison(found)
    if plot is not None:
        click.echo(f"picture: {plot}")
    if csv is not None:
        click.echo(f"table: {csv}")


def print_comparison(found: SensorComparison) -> None:
    """A row per meter, and what is to be known of them."""
    print_table(["sensor", "channel", "domain", "bias", "gain", "lag", "noise", "cpu", "reading",
                 "gaps", "remark"], [_cells(row) for row in found.rows])
    for line in found.remarks:
        click.echo(f"note: {line}")


def _cells(row: MeterRow) -> list[object]:
    bias = None if row.bias_w is None else (
        f"{_near(row.bias_w, 1):+.1f} W ({_near(row.bias_share or 0.0, 3):+.1%})")
    return [row.sensor, row.channel, row.domain, bias,
            None if row.gain is None else f"{row.gain:.3f}",
            None if row.lag_s is None else f"{_near(row.lag_s, 2):+.2f} s",
            None if row.noise_w is None else f"{row.noise_w:.1f} W", f"{row.cpu_share:.3%}",
            f"{1000 * row.read_s:.1f} ms", row.missing, row.remark]


def _near(value: float, digits: int) -> float:
    """Rounded, without the sign of a zero."""
    return round(value, digits) + 0.0
