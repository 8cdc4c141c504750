"""`wattline account`: who used which joules, simulated or measured."""

from __future__ import annotations

import click

from wattline.cli.choices import LateGroup

PLACES = {
    "show": "wattline.cli.account.show", "import": "wattline.cli.account.import_",
    "bill": "wattline.cli.account.bill", "job": "wattline.cli.account.job",
    "forget": "wattline.cli.account.forget", "compare": "wattline.cli.account.compare",
}


class AccountGroup(LateGroup):
    """Anything but the commands' names is what `show` takes."""

    places = PLACES

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
