"""Options that take a number, in every command: none takes `nan` or `inf`."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from wattline.cli.main import cli


def options(command: click.Command, path: str = "wattline") -> Iterator[tuple[str, click.Option]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from options(found, f"{path} {name}")
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield f"{path} {parameter.opts[0]}", parameter


def takes(option: click.Option, text: str) -> bool:
    try:
        option.type.convert(text, option, None)
    except click.BadParameter:
        return False
    return True


def test_every_option_that_takes_a_number_refuses_those_that_are_none() -> None:
    numbers = {name: option for name, option in options(cli)
               if isinstance(option.type, (click.types.FloatParamType, click.FloatRange))}
    assert len(numbers) > 40
    taken = [f"{name} {text}" for name, option in numbers.items()
             for text in ("nan", "inf", "-inf", "1e999") if takes(option, text)]
    assert taken == []


def test_the_refusal_is_one_sentence() -> None:
    words = ["energy", "plan", "--energy", "1kWh", "--nodes", "2", "--node-idle-w", "nan"]
    with pytest.raises(click.BadParameter, match="nan is not a finite number") as refused:
        cli(words, standalone_mode=False)
    assert "--node-idle-w" in refused.value.format_message()
