"""README.md shows what happens."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.shown import blocks, in_tables, missing, shown

from wattline.cli.main import cli

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [*shown(README), *in_tables(README)])
def test_commands_work_and_print_what_is_shown(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undrawn: None
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    result = CliRunner().invoke(cli, shlex.split(command)[1:], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert missing(shown(README).get(command, []), result.output) == []


def test_the_python_block_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (block,) = blocks(README, "python")
    names: dict[str, object] = {}
    exec(compile(block, "README.md", "exec"), names)
    assert names["alone"].ran.all()


def test_the_first_screen_has_a_sentence_the_commands_and_their_output() -> None:
    first = README[: README.index("## A short tour")]
    assert "make run" in first
    assert "make test" in first
    assert "report: runs/main/report/index.html" in first
