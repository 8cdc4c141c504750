"""`wattline account bill`: what each account owes for a period, closed to the meter."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.account.options import clusters_option, store_option
from wattline.cli.account.show import names
from wattline.cli.finite import FINITE
from wattline.cli.output import json_option, print_json, print_table
from wattline.cli.rate_options import carbon_option, price_option
from wattline.cli.simulating import warn_assumed
from wattline.cli.zone import zone_option

if TYPE_CHECKING:
    from wattline.advice.bill import Bill


@click.command("bill")
@store_option
@click.option("--period", required=True, metavar="PERIOD",
              help="2026-10, 2026-Q4, 2026, 2026-10-05, or FROM..TO with both of them in it.")
@price_option
@carbon_option
@click.option("--pue", type=FINITE, default=1.0, show_default=True, metavar="X",
              help="What the building draws per joule of the machines.")
@click.option("--meter", default="", metavar="NAME,...",
              help="The feeds whose meters close the bill; the nodes' meters otherwise.")
@click.option("--views", type=click.Path(path_type=Path), metavar="FILE",
              help="Views: shows each meter above nodes beside what was assigned beneath it.")
@zone_option
@clusters_option
@json_option
def command(store: str, period: str, as_json: bool, **options: Any) -> None:
    """Print what each account owes for a period, and where all joules of the meter went.

    Jobs that cross an end of the period are cut at it. The last line closes the bill: jobs, idle
    nodes, overhead and what nobody held, beside the meter, and what is left.
    """
    from wattline.advice.bill import account_bill

    found = account_bill(store, period, price=options["price"], carbon=options["carbon"],
                         pue=options["pue"], zone=options["zone"], meter=options["meter"],
                         views=options["views"],
                         clusters=names(options["clusters"], "-M"))
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    warn_assumed(found.remarks)


def _print(bill: Bill) -> None:
    from wattline.model.units import format_energy
    from wattline.traces.tariffs import NO_CURRENCY

    headers = ["account", "jobs", "energy", "coverage", "idle share"]
    columns = [(f"cost {bill.currency or NO_CURRENCY}", "money", 1.0),
               ("CO2 kg", "carbon_g", 1e-3)]
    shown = [column for column in columns if getattr(bill, column[1]) is not None]
    rows = [[row["account"] or "(none)", row["jobs"], format_energy(row["energy_j"]),
             _percent(row["coverage"]), _percent(row["idle_share"]),
             *(round(row[name] * scale, 4) for _, name, scale in shown)] for row in bill.accounts]
    print_table([*headers, *(title for title, _, _ in shown)], rows,
                title=f"bill {bill.period.said()}")

    def said(energy_j: float | None) -> str:
        return "unknown" if energy_j is None else format_energy(energy_j)

    if bill.views:
        print_table(["view", "entity", "nodes", "metered", "coverage", "assigned", "difference",
                     "residual"],
                    [[row["view"], row["entity"], row["nodes"], said(row["metered_j"]),
                      _percent(row["coverage"]), said(row["assigned_j"]), said(row["difference_j"]),
                      _percent(row["residual"])] for row in bill.views])
    click.echo(f"jobs {said(bill.jobs_j)} + idle {said(bill.idle_j)} + overhead "
               f"{said(bill.overhead_j)} + unattributed {said(bill.unattributed_j)}")
    click.echo(f"meter {said(bill.metered_j)}" + (f" ({bill.meter})" if bill.meter else "")
               + f", residual {'unknown' if bill.residual is None else f'{bill.residual:.3%}'}")


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
