"""`wattline study fairshare`: three users under fair-share by joules, one of them efficient."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wattline.analysis.folders import run_folder
from wattline.cli.finite import FiniteRange
from wattline.cli.output import json_option, print_json, print_table


@click.command("fairshare")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="Seed of the order in which jobs are submitted.")
@click.option("--seeds", type=click.IntRange(min=1), default=20, show_default=True,
              help="Number of seeds, from --seed on, over which users and orders are compared.")
@click.option("--beta", type=FiniteRange(0, 1), default=0.7, show_default=True,
              help="Run time follows frequency^-beta.")
@click.option("--half-life", default="1d", show_default=True, metavar="TIME",
              help="After this time half of a usage is forgotten.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Write the distribution of the stretch here.")
@json_option
def command(
    seed: int, seeds: int, beta: float, half_life: str, out: Path | None, as_json: bool
) -> None:
    """60 similar jobs at once of three users with equal shares, one of them efficient."""
    from wattline.studies.asking import study

    if out is not None:
        run_folder("fairshare", str(out))  # a place that cannot be written is found out now
    found = study("fairshare", seed=seed, seeds=seeds, beta=beta, half_life=half_life)
    written = ""
    if out is not None:
        from wattline.model.units import parse_duration
        from wattline.studies.fairshare import study as fairshare
        from wattline.studies.fairshare.plots import write_pictures

        drawn = fairshare.study(seed, beta=beta, half_life_s=parse_duration(half_life))
        written = str(write_pictures(drawn, out)[0])
    if as_json:
        print_json({**found, "picture": written or None})
        return
    _print(found)
    if written:
        click.echo(written)


def _print(found: dict[str, Any]) -> None:
    print_table(
        ["order", "user", "GHz", "kJ per job", "mean stretch", "p25", "p50", "p75", "p95",
         "turnaround s"],
        [[order, user, found["frequency_hz"][user] / 1e9, found["job_energy_j"][user] / 1e3,
          values["mean"], values["p25"], values["p50"], values["p75"], values["p95"],
          values["turnaround_s"]]
         for order, users in found["orders"].items() for user, values in users.items()],
        title=f"Seed {found['seed']}",
    )
    several = found["over_seeds"]
    waits, stretches = several["wait_s"], several["stretch"]
    print_table(
        ["order", *(f"{user}: wait s" for user in found["frequency_hz"]), "efficient least in",
         *(f"{user}: stretch" for user in found["frequency_hz"]), "efficient lowest in"],
        [[order, *waits["mean"][order].values(), waits["lowest_in"][order],
          *stretches["mean"][order].values(), stretches["lowest_in"][order]]
         for order in found["orders"]],
        title=f"\nMeans over {len(several['seeds'])} seeds",
    )
    click.echo(f"Under fair-share the efficient user waits less than under first come in "
               f"{waits['less_than_first_come_in']} of them.")
    click.echo("The publication shows the distributions and its calibration as pictures only.")
