"""`wattline account`: who used which joules, simulated or measured."""

from __future__ import annotations

import importlib

import click

from wattline.cli.choices import Group

PLACES = {
    "show": "wattline.cli.account.show", "import": "wattline.cli.account.import_",
    "bill": "wattline.cli.account.bill", "job": "wattline.cli.account.job",
    "forget": "wattline.cli.account.forget",
}


class AccountGroup(Group):
    """Commands that are imported when they are called; anything else is what `show` takes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in PLACES:
            return None
        found = importlib.import_module(PLACES[cmd_name]).command
        assert isinstance(found, click.Command)
        return found

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`wattline account RUN` and bare options mean `show`, as before there were others."""
        if not args or args[0] not in (*PLACES, "-h", "--help"):
            ctx.meta["bare"] = True
            args = ["show", *args]
        return super().parse_args(ctx, args)


@click.group("account", cls=AccountGroup)
def command() -> None:
    """Who used which joules: of simulated runs, and as a site measured them.

    Without one of the commands below, `show` is meant: `wattline account RUN --by user`.
    """
