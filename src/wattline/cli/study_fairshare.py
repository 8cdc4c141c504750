"""`wattline study fairshare`: three users under fair-share by joules, one of them efficient."""

from __future__ import annotations

from pathlib import Path

import click

from wattline.analysis.folders import run_folder
from wattline.cli.output import json_option, print_json, print_table


@click.command("fairshare")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--beta", type=click.FloatRange(0, 1), default=0.7, show_default=True,
              help="Run time follows frequency^-beta.")
@click.option("--half-life", default="1d", show_default=True, metavar="TIME")
@click.option("--out", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Write the distribution of the stretch here.")
@json_option
def command(seed: int, beta: float, half_life: str, out: Path | None, as_json: bool) -> None:
    """60 similar jobs at once of three users with equal shares, one of them efficient."""
    from wattline.model.units import parse_duration
    from wattline.studies.fairshare import study as fairshare

    if out is not None:
        run_folder("fairshare", str(out))  # a place that cannot be written is found out now
    found = fairshare.study(seed, beta=beta, half_life_s=parse_duration(half_life))
    table = fairshare.figures(found)
    written = ""
    if out is not None:
        from wattline.studies.fairshare.plots import write_pictures

        written = str(write_pictures(found, out)[0])
    if as_json:
        from wattline.studies.fairshare.published import rows

        print_json({"seed": seed, "beta": beta, "published": rows(found), **table,
                    "picture": written or None})
        return
    print_table(
        ["order", "user", "GHz", "kJ per job", "mean stretch", "p25", "p50", "p75", "p95",
         "turnaround s"],
        [[order, user, table["frequency_hz"][user] / 1e9, table["job_energy_j"][user] / 1e3,
          values["mean"], values["p25"], values["p50"], values["p75"], values["p95"],
          values["turnaround_s"]]
         for order, users in table["orders"].items() for user, values in users.items()],
    )
    click.echo("The publication shows the distributions and its calibration as pictures only.")
    if written:
        click.echo(written)
