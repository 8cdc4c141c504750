"""What the help shows: choices of options, what goes together, commands of groups."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import click

from wattline.model.nearest import did_you_mean


class Choice(click.Choice[str]):
    """One of a few words."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        message = super().get_invalid_choice_message(value, ctx)
        return message.removesuffix(".") + did_you_mean(str(value), self.choices)


class Group(click.Group):
    """A group whose help says all of a command's first sentence, over several lines if need be."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                rows.append((name, command.get_short_help_str(limit=1000)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class LateGroup(Group):
    """A group of commands that are imported when they are called."""

    places: ClassVar[Mapping[str, str]] = {}
    """By name, the module that has the command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.places:
            return None
        found = importlib.import_module(self.places[cmd_name]).command
        assert isinstance(found, click.Command)
        return found


class PolicyOption(click.Option):
    """A policy of an axis. Which there are is asked when the help is printed: others may be
    installed, and looking for them takes time."""

    def __init__(self, *names: Any, axis: str, **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.axis = axis

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from wattline.policies.registry import places

        record = super().get_help_record(ctx)
        if record is None:
            return None
        return record[0], f"{record[1].removesuffix('.')}: {', '.join(places()[self.axis])}."


class ScenarioCommand(click.Command):
    """A command with the options of a scenario; its help ends with what goes together.

    What it always `refuses` is not in its help; whoever gives it all the same is told why.
    """

    def __init__(self, *arguments: Any, refuses: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.refuses = frozenset(refuses)
        for option in self.params:
            if isinstance(option, click.Option) and self.refuses.intersection(option.opts):
                option.hidden = True

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("What goes together"):
            formatter.write_dl([row for row in _together() if row[0] not in self.refuses])


def _together() -> list[tuple[str, str]]:
    from wattline.policies.going_together import KEEPERS, MOLDABLE
    from wattline.policies.placement.network.placements import PLACEMENTS

    tables = f"{', '.join(MOLDABLE[:-1])} or {MOLDABLE[-1]}"
    return [
        ("--cap", f"needs a --power-policy that keeps it: {', '.join(KEEPERS)}; or a --configure "
         f"that chooses caps: {tables}. --watch-cap goes without"),
        ("--configurations", f"needs --configure {tables}"),
        ("--threshold", "needs --configure adaptive"),
        ("--power-policy lending", f"needs --configure {tables}"),
        (f"--configure {MOLDABLE[0]} ...", f"{tables}: go with --power-policy watts (taken by "
         "itself) and lending, all but adaptive with block and wait too, none with those that "
         "slow down (dvfs, adaptive, budget); with every --backfill"),
        ("--configure claims", "needs --placement claims, and that needs --configure claims"),
        ("--placement", f"needs a --network for {', '.join(PLACEMENTS)}"),
        ("--policy", "takes the place of --order, --backfill, --power-policy, --configure and "
         "--placement"),
        ("--seed", "needs a scenario with trace.generate; --map a log that is a table"),
        ("all others", "`wattline policies --pairs` lists every pair that is refused, and why"),
    ]
