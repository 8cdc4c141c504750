"""Commands that act on scenarios act on the live machine with `--live`, and only then."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from wattline.cli.needs import given, option
from wattline.cli.output import print_json
from wattline.model.errors import InputError

USUAL = "/etc/wattline/site.toml"


def live_options(function: Any) -> Any:
    """`--live` and the file of the site that is meant."""
    options = (
        click.option("--live", is_flag=True,
                     help="The machine whose controller runs now, instead of a file."),
        option("--config", type=click.Path(path_type=Path), metavar="FILE", needs=given("live"),
               help=f"With --live: the controller's file. [default: {USUAL}]"),
    )
    for add in reversed(options):
        function = add(function)
    return function


def which(live: bool, config: Path | None, named: Any, name: str) -> Path | None:
    """The file of the live machine, or None where the argument is meant; never both."""
    if not live:
        return None
    if named:
        raise InputError(f"--live is about the machine that runs now: leave out {name}")
    return config or Path(USUAL)


def needed(found: Any, name: str) -> None:
    """Say what is missing, as where it is always needed."""
    if found is None:
        kind = "option" if name.startswith("-") else "argument"
        raise click.MissingParameter(ctx=click.get_current_context(), param_type=kind,
                                     param_hint=f"'{name}'")


def order(config: Path, kind: str, fields: Mapping[str, Any], as_json: bool) -> None:
    """Give an order and say what was done."""
    from wattline.controller.speaking import live_order

    found = live_order(config, kind, **fields)
    for remark in found.result.get("remarks", ()):
        click.echo(f"note: {remark}", err=True)
    if as_json:
        print_json({"done": found.said, **found.result})
        return
    click.echo(found.said)
