"""Commands that act on scenarios act on the live machine with `--live`, and only then."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from wattline.cli.output import print_json
from wattline.model.errors import InputError

USUAL = "/etc/wattline/site.toml"


def live_options(function: Any) -> Any:
    """`--live` and the file of the site that is meant."""
    options = (
        click.option("--live", is_flag=True,
                     help="The machine whose controller runs now, instead of a file."),
        click.option("--config", type=click.Path(path_type=Path), metavar="FILE",
                     help=f"With --live: the controller's file. [default: {USUAL}]"),
    )
    for option in reversed(options):
        function = option(function)
    return function


def which(live: bool, config: Path | None, given: Any, name: str) -> Path | None:
    """The file of the live machine, or None where the argument is meant; never both."""
    if not live:
        if config is not None:
            raise InputError("--config is for the live machine: give --live too")
        return None
    if given:
        raise InputError(f"--live is about the machine that runs now: leave out {name}")
    return config or Path(USUAL)


def not_live(*names: str, why: str) -> None:
    """Refuse options that mean nothing on a live machine, whatever value they were given."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) not in (None, ParameterSource.DEFAULT,
                                                      ParameterSource.DEFAULT_MAP):
            raise InputError(f"--{name.replace('_', '-')} does not go with --live: {why}")


def needed(given: Any, name: str) -> None:
    """Say what is missing, as where it is always needed."""
    if given is None:
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
