"""The pages for beginners show what happens."""

from __future__ import annotations

import re
import shlex
import tomllib
import warnings
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from tests.support.shown import blocks, commands, in_tables, missing, shown

import wattline as wl
from wattline.cli.main import cli
from wattline.scenario.load import validate

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
HELD = ("start.md", "tutorials/operator.md", "tutorials/planner.md",
        "tutorials/energy-manager.md")
RECIPES = (DOCS / "how-to.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _beside_the_examples(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, undrawn: None
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")


def run(command: str) -> str:
    result = CliRunner().invoke(cli, shlex.split(command)[1:], catch_exceptions=False)
    assert result.exit_code == 0, f"{command}\n{result.output}"
    return result.output


@pytest.mark.parametrize("page", HELD)
def test_commands_work_one_after_the_other_and_print_what_is_shown(page: str) -> None:
    held = shown((DOCS / page).read_text(encoding="utf-8"))
    assert len(held) >= 3
    for command, lines in held.items():
        assert missing(lines, run(command)) == [], command


def test_a_page_that_shows_something_else_would_be_found() -> None:
    assert missing(["week: 260 jobs in 9 s", "...", "peak 1 W"], "week: 260 jobs in 0.5 s\n") == [
        "peak 1 W"]


@pytest.mark.parametrize("page", [*DOCS.rglob("*.md"), ROOT / "README.md"], ids=lambda p: p.name)
def test_what_is_copied_from_a_page_can_be_pasted(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    prompts = [line for line in text.splitlines() if re.match(r"( {4})?\$ ", line)]
    assert prompts == []
    assert {line: found for line in commands(text) if (found := refused(line))} == {}


def refused(line: str) -> str:
    """Why a command would not begin, if so: an option or a word that is none of its own."""
    words = shlex.split(line, comments=True)
    if any("|" in word for word in words):
        return "choices are no command: to a shell this is a pipe"
    command: click.Command | None = cli
    # Files that options of a group name need not be there.
    context = click.Context(cli, resilient_parsing=True)
    words = words[1:]
    try:
        while isinstance(command, click.Group):
            command.parse_args(context, list(words))
            called = [*context._protected_args, *context.args]
            if not called:  # the group itself
                return ""
            name, command, words = command.resolve_command(context, called)
            if command is None:
                return f"no command is called {called[0]}"
            context = click.Context(command, info_name=name, parent=context,
                                    resilient_parsing=isinstance(command, click.Group))
        _, beyond, _ = command.make_parser(context).parse_args(words)
    except click.UsageError as error:
        return error.format_message()
    return f"unexpected: {' '.join(beyond)}" if beyond else ""


@pytest.mark.parametrize(("line", "said"), [
    ("wattline study esp   beside ours", "unexpected: beside ours"),
    ("wattline network nodes for sbatch -w", "No such option '-w'"),
    ("wattline power show|set FILE", "a pipe"),
    ("wattline study esp | hetero", "a pipe"),
    ("wattline no-such-command", "no-such-command"),
    ("wattline study esp   # beside ours", ""),
    ("wattline account RUN --by user", ""),
])
def test_a_line_that_would_not_run_would_be_found(line: str, said: str) -> None:
    assert said in refused(line)
    assert bool(refused(line)) == bool(said)


@pytest.mark.parametrize("command", [
    # Twelve runs take four seconds; `tests/unit/sweeps` has smaller sweeps.
    pytest.param(each, marks=pytest.mark.long if each.startswith("wattline sweep") else ())
    for each in in_tables(RECIPES) if "log.txt" not in each])
def test_every_recipe_works(command: str) -> None:
    run(command)


def test_the_scenario_of_the_recipes_is_one() -> None:
    (example,) = blocks(RECIPES, "toml")
    assert validate(tomllib.loads(example)).machine.nodes == 128


def test_the_python_of_the_researcher_runs(tmp_path: Path) -> None:
    page = (DOCS / "tutorials" / "researcher.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wl.WattlineWarning)
        for number, block in enumerate(blocks(page, "python")):
            exec(compile(block, f"researcher.md, block {number + 1}", "exec"), names)
    assert (tmp_path / "orders.svg").is_file()


def pictures() -> dict[str, set[str]]:
    """The pictures by the page that shows them, README included."""
    pages = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
             for path in [*DOCS.rglob("*.md"), ROOT / "README.md"]}
    return {page: set(re.findall(r"pictures/([\w.-]+)\)", text)) for page, text in pages.items()}


def test_every_picture_is_drawn_by_the_script_shown_somewhere_and_small() -> None:
    from scripts.draw_docs import COMMANDS, DRAWN

    there = {path.name for path in (DOCS / "pictures").iterdir()}
    assert there == set().union(*pictures().values())
    assert there == {*COMMANDS, *DRAWN}
    heavy = [path.name for path in (DOCS / "pictures").iterdir() if path.stat().st_size > 100_000]
    assert heavy == []


@pytest.mark.parametrize("page", [
    "index", "how-to", "python", "policies", "views", "live", "accounting", "claims", "traces",
    "power-series"])
def test_a_page_that_speaks_of_something_visible_shows_it(page: str) -> None:
    assert re.search(r"!\[[^]]+\]\(pictures/", (DOCS / f"{page}.md").read_text(encoding="utf-8"))


def test_the_first_screen_of_the_readme_has_a_picture() -> None:
    assert pictures()["README.md"]
