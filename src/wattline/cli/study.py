"""`wattline study NAME`: the published evaluations that we reproduce, each beside its figures."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import NamedTuple

import click


class Study(NamedTuple):
    """Where the command of a study lives; its module is imported only when it is called."""

    module: str
    help: str


# Each study is `command` in its module.
STUDIES: Mapping[str, Study] = {
    "regulation": Study("wattline.cli.study_regulation",
                        "Demand response: following the grid with guaranteed QoS."),
    "dragonfly": Study("wattline.cli.study_dragonfly",
                       "Placement on dragonflies: Level-Spread, NeDD, the congestor."),
    "rmap": Study("wattline.cli.study_rmap", "Power-aware scheduling with overprovisioning."),
    "esp": Study("wattline.cli.study_esp", "Power-adaptive scheduling of the ESP-2 mix."),
    "fairshare": Study("wattline.cli.study_fairshare", "Fair-share by joules: who waits less."),
    "hetero": Study("wattline.cli.study_hetero", "Energy claims on a mixed cluster."),
    "puppet": Study("wattline.cli.study_puppet",
                    "Power capping: delay jobs (BLOCK, WAIT) or slow processors (DVFS)?"),
}


# Beside the studies: all of them at once.
COMMANDS: Mapping[str, Study] = {
    **STUDIES,
    "all": Study("wattline.cli.study_all", "Every published figure beside ours, with a verdict."),
}


class StudyGroup(click.Group):
    """A group that imports a study when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        study = COMMANDS.get(cmd_name)
        if study is None:
            return None
        command = importlib.import_module(study.module).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            known = ", ".join(sorted(COMMANDS))
            raise click.UsageError(f"there is no study '{args[0]}'; there are: {known}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, COMMANDS[name].help) for name in sorted(COMMANDS)]
        if rows:
            with formatter.section("Studies"):
                formatter.write_dl(rows)


@click.group(cls=StudyGroup)
def command() -> None:
    """Reproduce a published evaluation and print it beside the published figures."""
