"""`wattline examples`: list the examples that come with the package, and copy them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from wattline.cli.choices import Group
from wattline.cli.output import json_option, print_json, print_table


@click.group("examples", cls=Group)
def command() -> None:
    """List the examples that come with the package, and copy them."""


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """Say which examples there are."""
    from wattline.scenario.examples import list_examples

    found = list_examples()
    if as_json:
        print_json({"examples": [asdict(example) for example in found]})
        return
    print_table(["example", "what it shows"],
                [[example.name, example.summary] for example in found])


@command.command("copy")
@click.argument("folder", default="examples", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Write over files that are there and differ.")
@json_option
def copy_command(folder: Path, force: bool, as_json: bool) -> None:
    """Copy them into FOLDER (examples), to run and to change."""
    from wattline.scenario.examples import copy_examples

    copied = copy_examples(folder, force=force)
    if as_json:
        print_json({"folder": str(folder), "files": [str(path) for path in copied]})
        return
    click.echo(f"{len(copied)} files in {folder}; try: wattline simulate {folder / 'small.toml'}")
