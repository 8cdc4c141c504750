"""What people type first, and what they are told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from wattline.cli.main import cli, main

TINY = "examples/tiny.swf"


def test_a_policy_that_is_named_twice_is_tried_once() -> None:
    words = ["advise", "cap", TINY, "--wait", "+50%", "--only", "dvfs,dvfs", "--json"]
    found = json.loads(CliRunner().invoke(cli, words, catch_exceptions=False).stdout)
    assert list(found["policies"]) == ["dvfs"]


@pytest.mark.parametrize(("words", "said"), [
    (["advise", "cap", TINY, "--wait", "+5%", "--only", ""], "--only names no power policy"),
    (["simulate", "--trace", TINY, "--set", "machine.nodes=0", "--set", "power.alpha=9"],
     "(1 more mistake)"),
    (["advise", "config"], "No such command 'config'. There are: cap, job, policy"),
])
def test_what_is_wrong_is_said(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_the_help_names_the_policies() -> None:
    assert "dvfs" in CliRunner().invoke(cli, ["advise", "cap", "--help"]).stdout


def test_a_log_is_known_by_what_it_holds(tmp_path: Path) -> None:
    log = shutil.copy(TINY, tmp_path / "tiny.txt")
    words = ["simulate", str(log), "-o", str(tmp_path / "run"), "--json"]
    found = json.loads(CliRunner().invoke(cli, words, catch_exceptions=False).stdout)
    assert found["jobs"] == 12
