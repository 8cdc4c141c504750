"""`wattline check RUN...`: add run folders up again, and say what does not fit together."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from wattline.cli.output import json_option, print_json


@click.command("check")
@click.argument("folders", metavar="RUN...", nargs=-1, required=True,
                type=click.Path(path_type=Path))
@json_option
def command(folders: tuple[Path, ...], as_json: bool) -> None:
    """Add run folders up again from their event logs, by other code than made them.

    Where a folder has a contract, its bill is worked out anew from power.csv too. What does not fit
    is said in a sentence each, and the exit status is then 1.
    """
    from wattline.analysis.result import open_run
    from wattline.demand_response.folder import bill_differs

    found = {}
    for folder in folders:
        found[str(folder)] = [*open_run(folder).check(), *bill_differs(folder)]
    if as_json:
        print_json({"runs": [{"run": name, "wrong": wrong} for name, wrong in found.items()]})
    else:
        for name, wrong in found.items():
            click.echo(f"{name}: " + ("holds together" if not wrong
                                      else f"{len(wrong)} things do not fit"))
            for sentence in wrong:
                click.echo(f"  {sentence}")
    if any(found.values()):
        sys.exit(1)
