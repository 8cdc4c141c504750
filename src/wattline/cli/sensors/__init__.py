"""`wattline sensors`: what can be measured on this machine, and how well."""

from __future__ import annotations

import importlib

import click

from wattline.cli.choices import Group

PLACES = {"read": "wattline.cli.sensors.read", "compare": "wattline.cli.sensors.compare",
          "fit": "wattline.cli.sensors.fit"}


class SensorsGroup(Group):
    """Commands that are imported when they are called; bare options are those of `read`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in PLACES:
            return None
        found = importlib.import_module(PLACES[cmd_name]).command
        assert isinstance(found, click.Command)
        return found

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`wattline sensors` and bare options mean `read`."""
        if not args or (args[0].startswith("-") and args[0] not in ("-h", "--help")):
            args = ["read", *args]
        return super().parse_args(ctx, args)


@click.group("sensors", cls=SensorsGroup)
def command() -> None:
    """What can be measured on this machine, and how well.

    Without one of the commands below, `read` is meant: `wattline sensors --kind powercap`.
    """
