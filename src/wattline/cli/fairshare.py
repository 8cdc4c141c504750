"""`wattline fairshare`: who used how much of its share of the joules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wattline.cli.live_options import live_options, which
from wattline.cli.needs import absent, given, option
from wattline.cli.output import json_option, print_json, print_table
from wattline.cli.simulating import warn_assumed
from wattline.cli.zone import zone_option

OWN = absent("live", why="the shares are those of the controller's order")


@click.command("fairshare")
@click.argument("run_folder", metavar="[RUN]", type=click.Path(path_type=Path), required=False)
@option("--store", needs=OWN, default="", metavar="URL|FILE",
        help="Take the jobs from this ledger: the measured ones, else a run.")
@option("--run-name", needs=(OWN, given("store")), default="",
        help="Which run of the ledger; the last one where nothing was measured.")
@option("--shares", needs=OWN, type=click.Path(path_type=Path), metavar="FILE",
        help="Account tree with shares (TOML); equal shares for all users otherwise.")
@option("--assoc", needs=OWN, type=click.Path(path_type=Path), metavar="FILE",
        help="Slurm's associations instead: sacctmgr show assoc -P tree, a dump or a script.")
@option("--cluster", needs=OWN, default="", metavar="NAME",
        help="Which cluster of --assoc, and of the measured jobs, where there are several.")
@option("--half-life", needs=OWN, default="7d", show_default=True, metavar="TIME",
        help="After this time half of a usage is forgotten.")
@option("--at", needs=OWN, default="", metavar="TIME",
        help="Time of the run, of measured jobs a date; the end otherwise.")
@zone_option
@live_options
@json_option
def command(run_folder: Path | None, as_json: bool, live: bool, config: Path | None,
            **options: Any) -> None:
    """Show shares, faded joules and the fair-share factor of every account and user.

    With --live, those that order the queue of the running machine.
    """
    site = which(live, config, run_folder, "RUN")
    if site is not None:
        from wattline.cli.live_power import show_shares

        show_shares(site, as_json)
        return
    from wattline.advice.fairshare import fairshare
    from wattline.model.units import format_energy

    found = fairshare(run_folder, **options)
    warn_assumed(found.remarks)
    if as_json:
        print_json(found.to_dict())
        return
    print_table(
        ["account", "parent", "share", "usage", "used", "effective", "factor"],
        [[s.name + (f" ({s.partition})" if s.partition else ""), s.parent or "-", s.share,
          format_energy(s.usage_j), s.usage, s.effective, s.factor] for s in found.standings],
    )
