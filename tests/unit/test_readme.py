"""What README.md shows is what happens."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from wattline.cli.main import cli

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The code blocks of a language; a fence that ends one block does not begin the next."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    return [text for name, text in found if name == language]


def shown() -> dict[str, list[str]]:
    """Every `$ wattline ...` line of the code blocks with the lines that stand below it."""
    found: dict[str, list[str]] = {}
    for block in blocks(""):
        command = None
        for line in block.splitlines():
            if line.startswith("$ "):
                command = line.removeprefix("$ ")
                found[command] = []
            elif command is not None:
                found[command].append(line)
    return {command: lines for command, lines in found.items() if command.startswith("wattline")}


def inline() -> list[str]:
    """Commands of the table of subjects; the rest of the text names commands in passing."""
    rows = [line for line in README.splitlines() if line.startswith("| ")]
    return re.findall(r"`(wattline [^`]*)`", "\n".join(rows))


@pytest.mark.parametrize("command", [*shown(), *inline()])
def test_commands_work_and_print_what_is_shown(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    result = CliRunner().invoke(cli, shlex.split(command)[1:], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    printed = [_timeless(line) for line in result.output.splitlines()]
    for line in shown().get(command, []):
        if line != "...":
            assert _timeless(line) in printed


def _timeless(line: str) -> str:
    """A line without the seconds that the engine took, which differ from run to run."""
    return re.sub(r" in [\d.e-]+ s$", " in ? s", line)


def test_the_python_block_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (block,) = blocks("python")
    names: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), names)
    assert names["alone"].ran.all()


def test_the_first_screen_has_a_sentence_the_commands_and_their_output() -> None:
    first = README[: README.index("## A short tour")]
    assert "make run" in first
    assert "make test" in first
    assert "report: runs/main/report/index.html" in first
