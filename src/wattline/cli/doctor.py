"""`wattline doctor`: what is missing or misconfigured for the live part, and how to mend it."""

from __future__ import annotations

from pathlib import Path

import click

from wattline.cli.output import json_option, print_json


@click.command("doctor")
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE",
              help="The controller's file; without it, Slurm as the environment has it.")
@click.option("--broker", default="", metavar="HOST:PORT",
              help="Another broker than that of the file.")
@json_option
def command(config: Path | None, broker: str, as_json: bool) -> None:
    """Check Slurm, its options, permissions, clocks, the folder, broker, agents and sensors.

    The exit status is 1 where something is missing that a controller cannot work without.
    """
    from wattline.controller.doctor.asking import doctor

    found = doctor(config, broker=broker)
    if as_json:
        print_json([check.to_dict() for check in found])
    else:
        for check in found:
            mark = "ok     " if check.ok else "MISSING" if check.must else "lacks  "
            click.echo(f"{mark} {check.name}: {check.found}")
            if not check.ok:
                click.echo(f"        mend: {check.mend}")
    if any(check.must and not check.ok for check in found):
        raise SystemExit(1)
