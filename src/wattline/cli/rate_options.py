"""`--price` and `--carbon`: the same two options wherever joules are turned into money or grams."""

from __future__ import annotations

import click

price_option = click.option(
    "--price", metavar="X|FILE",
    help="Price of a kWh, like 0.12 or 0.12EUR, or a table of prices (CSV, also compressed).")
carbon_option = click.option(
    "--carbon", metavar="X|FILE",
    help="Grams of CO2 per kWh, like 300, or a table of carbon intensities.")
