"""Every command with its arguments and options, as `--help` says them."""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Iterator

import click

from wattline.cli.main import COMMANDS, SECTIONS, cli

HEAD = "| option | meaning |\n|---|---|\n"


def reference() -> str:
    """The commands by subject, as Markdown."""
    context = click.Context(cli, info_name="wattline")
    parts = []
    for section, title in SECTIONS.items():
        parts.append(f"## {title.partition(':')[0]}: options")
        for name, entry in COMMANDS.items():
            if entry.section == section:
                parts += described(name, context)
    return "\n\n".join(parts)


def described(name: str, parent: click.Context) -> Iterator[str]:
    """A command, and then its own commands."""
    assert isinstance(parent.command, click.Group)
    command = parent.command.get_command(parent, name)
    assert command is not None
    context = click.Context(command, info_name=name, parent=parent)
    yield f"### {context.command_path}"
    yield inspect.cleandoc(command.help or "").replace("\b\n", "")
    yield f"    {context.command_path} {' '.join(command.collect_usage_pieces(context))}"
    options = [each for each in command.get_params(context) if isinstance(each, click.Option)]
    yield options_table(options, context)
    yield epilog(command, context)
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            yield from described(inner, context)


def options_table(options: list[click.Option], context: click.Context) -> str:
    """A row per option: how it is written, and what it means."""
    records = [option.get_help_record(context) for option in options
               if "--help" not in option.opts]
    rows = [f"| `{written}` | {_cell(meaning)} |" for written, meaning in filter(None, records)]
    return HEAD + "\n".join(rows) if rows else ""


def epilog(command: click.Command, context: click.Context) -> str:
    """Return what the help says at its end, such as which options go together, as it is printed."""
    formatter = click.HelpFormatter(width=96)
    command.format_epilog(context, formatter)
    return "\n".join(f"    {line}" for line in formatter.getvalue().strip("\n").splitlines())


def _cell(text: str) -> str:
    """A text without the signs that a table would take for its own; `code` needs no help."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(part if part.startswith("`") else html.escape(part, quote=False)
                   .replace("|", "\\|") for part in parts)
