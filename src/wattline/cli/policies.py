"""`wattline policies`: what can be chosen along each axis."""

from __future__ import annotations

import click

from wattline.cli.output import json_option, print_json, print_table


@click.command()
@json_option
def command(as_json: bool) -> None:
    """List the policies along each axis, built-in and installed."""
    from wattline.scenario.axes import axes

    found = axes()
    if as_json:
        print_json({axis: {name: {"summary": named.summary, "source": named.source}
                           for name, named in choices.items()}
                    for axis, choices in found.items()})
        return
    for axis, choices in found.items():
        rows = [(name, named.summary, named.source) for name, named in choices.items()]
        print_table(["name", "what it does", "from"], rows, f"[policy] {axis} = ...")
        click.echo()
