"""`wattline account forget`: take back what was entered."""

from __future__ import annotations

import click

from wattline.cli.account.options import store_option
from wattline.cli.account.show import names
from wattline.cli.output import json_option, print_json
from wattline.cli.zone import zone_option


@click.command("forget")
@store_option
@click.option("--cluster", metavar="NAME",
              help="Of this cluster; '' is that of files which named none.")
@click.option("-j", "--jobs", default="", metavar="ID,...",
              help="Of these jobs, with all their tasks or parts.")
@click.option("-S", "--starttime", default="", metavar="TIME", help="That began from then on.")
@click.option("-E", "--endtime", default="", metavar="TIME", help="That began before then.")
@click.option("--meters", is_flag=True, help="All samples of the cluster's meters, and no jobs.")
@click.option("--yes", is_flag=True, help="Do it; without it, only say what would go.")
@zone_option
@json_option
def command(store: str, cluster: str | None, jobs: str, starttime: str, endtime: str,
            meters: bool, yes: bool, zone: str, as_json: bool) -> None:
    """Take measured jobs back that were entered by mistake: in a wrong cluster, or a wrong zone.

    All conditions hold together. What the jobs' nodes drew goes to whoever else was there.
    """
    from wattline.advice.forgetting import account_forget
    from wattline.model.units import counted, joules_text

    found = account_forget(store, cluster=cluster, jobs=names(jobs, "-j"), start=starttime,
                           end=endtime, zone=zone, meters=meters, yes=yes)
    if as_json:
        print_json(found.to_dict())
        return
    what = (f"{counted(found.meters, 'meter')} with {counted(found.meter_days, 'day')} of samples"
            if meters else f"{counted(found.jobs, 'job')} ({found.lives:,} lives) with "
            f"{joules_text(found.energy_j)}")
    click.echo(f"forgotten: {what}" if yes else f"would be forgotten: {what}; --yes does it")
