"""`wattline study esp`: power-adaptive scheduling on 5,040 x 16 cores in five cases."""

from __future__ import annotations

import math
from pathlib import Path

import click

from wattline.analysis.folders import run_folder
from wattline.cli.choices import Choice
from wattline.cli.finite import FiniteRange
from wattline.cli.output import json_option, print_json, print_table, progress


@click.command("esp")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="Seed of the jobs.")
@click.option("--mix", type=Choice(["light", "esp2"]), default="light", show_default=True,
              help="Eight profiles (one per size), or the benchmark's fourteen types.")
@click.option("--boot", "boot_s", type=FiniteRange(min=0), default=120.0, show_default=True,
              help="Seconds that a node needs to boot, at its idle power.")
@click.option("--shutdown", "shutdown_s", type=FiniteRange(min=0), default=60.0,
              show_default=True, help="Seconds that a node needs to shut down.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Write the power and utilisation curves here.")
@json_option
def command(
    seed: int, mix: str, boot_s: float, shutdown_s: float, out: Path | None, as_json: bool
) -> None:
    """The Light-ESP mix under no cap, a cap on the fly, a reserved one, SHUT and DVFS."""
    from wattline.studies.esp import study as esp
    from wattline.studies.esp.published import rows

    if out is not None:
        run_folder("esp", str(out))  # a place that cannot be written is found out now
    with progress("esp") as advance:
        found = esp.cases(seed, mix=mix, boot_s=boot_s, shutdown_s=shutdown_s, progress=advance)
    table = {case.name: esp.figures(case) for case in found}
    written: list[str] = []
    if out is not None:
        from wattline.studies.esp.plots import write_pictures

        written = [str(path) for path in write_pictures(found, out)]
    if as_json:
        print_json({"seed": seed, "mix": mix, "published": rows(found), "cases": table,
                    "pictures": written})
        return
    print_table(
        ["case", "cap kW", "peak kW", "while capped", "above cap s", "under cap from s",
         "makespan s", "energy GJ", "use", "jobs"],
        [[f["title"], _kw(f["cap_w"]), _kw(f["peak_w"]), _kw(f["peak_w_while_capped"]),
          f["time_above_cap_s"], _none(f["under_cap_from_s"]), f["makespan_s"],
          f["energy_j"] / 1e9, f["utilisation"], f["jobs_run"]] for f in table.values()],
    )
    click.echo("The cap on the fly holds from the moment that running jobs permit: "
               f"{table['70-on-the-fly']['time_above_cap_s']:.0f} s after it was set.")
    for f in table.values():
        if f["refused"]:
            told = ", ".join(f"{count} of {name}" for name, count in f["refused"].items())
            click.echo(f"{f['title']}: {told} could never start under the cap and are left out")
    click.echo("The publication shows these curves as pictures and prints no figure of them.")
    for path in written:
        click.echo(path)


def _kw(power_w: float) -> float | None:
    return power_w / 1e3 if math.isfinite(power_w) else None


def _none(value: float) -> float | None:
    return value if math.isfinite(value) else None
