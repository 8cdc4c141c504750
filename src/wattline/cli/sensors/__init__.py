"""`wattline sensors`: what can be measured on this machine, and how well."""

from __future__ import annotations

import click

from wattline.cli.choices import LateGroup

PLACES = {"read": "wattline.cli.sensors.read", "compare": "wattline.cli.sensors.compare",
          "fit": "wattline.cli.sensors.fit"}


class SensorsGroup(LateGroup):
    """Bare options are those of `read`."""

    places = PLACES

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
