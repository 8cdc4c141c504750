"""The reference that the site generates names everything that there is."""

from __future__ import annotations

from collections.abc import Iterator

import click
import command_reference
import field_reference
import policy_reference
import pytest
import python_reference

import wattline as wl
from wattline.cli.main import cli
from wattline.policies.registry import declared
from wattline.scenario.model import Scenario


def commands(context: click.Context) -> Iterator[click.Context]:
    group = context.command
    assert isinstance(group, click.Group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        yield inner
        if isinstance(command, click.Group):
            yield from commands(inner)


def test_every_command_stands_there_with_each_of_its_options() -> None:
    page = command_reference.reference()
    headings = {line.removeprefix("### ") for line in page.splitlines() if line.startswith("### ")}
    all_commands = list(commands(click.Context(cli, info_name="wattline")))
    assert headings == {each.command_path for each in all_commands}
    for each in all_commands:
        part = page.partition(f"\n### {each.command_path}\n")[2].partition("\n### ")[0]
        for option in each.command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.opts[-1] in part, f"{each.command_path} {option.opts}"


def test_choices_of_options_are_said() -> None:
    page = command_reference.reference()
    assert "`--backfill NAME` | Who may overtake whom: none, easy, conservative." in page
    assert "`--overrun [extend|kill]`" in page


def test_every_field_of_a_scenario_has_its_kind() -> None:
    kinds = dict(field_reference.kinds(Scenario))
    assert kinds["machine.node_idle_w"] == "number, W, ≥ 0, ≤ 1e+12"
    assert kinds["trace.size"] == "`requested` or `allocated`"
    assert kinds["power.cap.changes.at_s"].startswith("number or text, s")


def test_rows_get_their_kind_and_other_tables_are_left_alone() -> None:
    page = (f"{field_reference.HEAD}| `trace.seed` | 1 | a seed |\n\nWords.\n\n"
            "| word | meaning |\n|---|---|\n| `name` | another table |\n")
    wide = field_reference.with_kinds(page)
    assert "| `trace.seed` | whole number, ≥ 0 | 1 | a seed |" in wide
    assert "| `name` | another table |" in wide


@pytest.mark.parametrize("axis", sorted(declared()))
def test_every_policy_stands_there_with_its_parameters(axis: str) -> None:
    page = policy_reference.reference()
    for name, declaration in declared()[axis].items():
        part = page.partition(f"### {axis}: {name}\n")[2].partition("\n##")[0]
        assert declaration.summary in part
        for parameter in declaration.parameters.model_fields:
            assert f"| `{parameter}` |" in part


def test_every_name_of_the_package_stands_there_once() -> None:
    page = python_reference.reference()
    headings = [line for line in page.splitlines() if line.startswith("### wl.")]
    assert sorted(headings) == sorted(f"### wl.{name}" for name in wl.__all__)
    assert "0x" not in page  # how Python shows what has no name
    assert "BeforeValidator" not in page


def test_examples_become_blocks() -> None:
    assert python_reference.prose(wl.list_policies).endswith(
        "['none', 'easy', 'conservative']\n```\n")
