"""`wattline fairshare`: who used how much of its share of the joules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from wattline.cli.output import json_option, print_json, print_table
from wattline.cli.simulating import warn_assumed
from wattline.model.errors import InputError


@click.command("fairshare")
@click.argument("run_folder", metavar="[RUN]", type=click.Path(path_type=Path), required=False)
@click.option("--store", default="", metavar="URL|FILE", help="Take the jobs from this ledger.")
@click.option("--run-name", default="", help="Which run of the ledger; the last one otherwise.")
@click.option("--shares", type=click.Path(path_type=Path), metavar="FILE",
              help="Account tree with shares (TOML); equal shares for all users otherwise.")
@click.option("--half-life", default="7d", show_default=True, metavar="TIME",
              help="After this time half of a usage is forgotten.")
@click.option("--at", default="", metavar="TIME", help="Time of the run; its end otherwise.")
@json_option
def command(run_folder: Path | None, store: str, as_json: bool, **options: Any) -> None:
    """Show shares, faded joules and the fair-share factor of every account and user."""
    from wattline.account.fairshare import ShareTree, read_shares, usage_at
    from wattline.model.units import format_energy, parse_duration

    tree = read_shares(options["shares"]) if options["shares"] else None
    half_life_s = parse_duration(options["half_life"])
    if not half_life_s > 0:
        raise InputError(f"--half-life is {half_life_s:g} s, must be above 0")
    users, columns, assumed = _jobs(run_folder, store, options["run_name"])
    warn_assumed(assumed)
    if not users:
        raise InputError("no job of this run ran, so nobody used anything")
    at_s = parse_duration(options["at"]) if options["at"] else float(max(columns["end_s"]))
    used = usage_at(at_s, users, columns["start_s"], columns["end_s"], columns["energy_j"],
                    half_life_s=half_life_s)
    tree = tree or ShareTree.flat(sorted(set(users)))
    found = tree.standings(used)
    if as_json:
        print_json({"at_s": at_s, "half_life_s": half_life_s, "assumed": list(assumed),
                    "accounts": [vars(standing) for standing in found]})
        return
    print_table(
        ["account", "parent", "share", "usage", "used", "effective", "factor"],
        [[s.name, s.parent or "-", s.share, format_energy(s.usage_j), s.usage, s.effective,
          s.factor] for s in found],
    )


def _jobs(
    folder: Path | None, store: str, name: str
) -> tuple[list[str], dict[str, Any], Sequence[str]]:
    """User, times and energy of the jobs that ran, and what the joules rest on."""
    import numpy as np

    if folder is not None:
        from wattline.account.from_run import named
        from wattline.analysis import rundir

        run = rundir.read(folder)
        rows = np.flatnonzero(run.ran)
        users = [named(run.jobs, "user", int(code)) for code in run.jobs.user[rows]]
        return users, {n: getattr(run.schedule, n)[rows]
                       for n in ("start_s", "end_s", "energy_j")}, run.assumed
    if not store:
        raise InputError("name a run folder, or a ledger with --store")
    from wattline.account.ledger import Ledger
    from wattline.account.store import Store, refuse_missing

    refuse_missing(store)
    with Store(store) as opened:
        ledger = Ledger(opened)
        run_row = ledger.run_of(name)
        jobs = ledger.jobs_of(run_row["id"])
    return [str(job["user"]) for job in jobs], {
        n: np.array([float(job[n]) for job in jobs]) for n in ("start_s", "end_s", "energy_j")
    }, run_row["assumed"]
