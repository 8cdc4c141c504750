"""The help of every command says all of it: no text is cut short, and no option is without one."""

from __future__ import annotations

from collections.abc import Iterator

import click

from wattline.cli.main import cli


def commands(context: click.Context) -> Iterator[click.Context]:
    """A command and all below it."""
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            below = context.command.get_command(context, name)
            assert below is not None
            yield from commands(click.Context(below, info_name=name, parent=context,
                                              **below.context_settings))


def every_command() -> list[click.Context]:
    found = list(commands(click.Context(cli, info_name="wattline", **cli.context_settings)))
    assert len(found) > 100
    return found


def test_no_line_of_any_help_is_cut() -> None:
    cut = [f"{each.command_path}: {line}" for each in every_command()
           for line in each.command.get_help(each).splitlines()
           if line.endswith("...") and not line.startswith("Usage: ")]
    assert cut == []


def test_every_option_has_a_text() -> None:
    without = [f"{each.command_path} {'/'.join(option.opts)}" for each in every_command()
               for option in each.command.params
               if isinstance(option, click.Option) and not option.hidden
               and not (option.help or "").strip()]
    assert without == []
