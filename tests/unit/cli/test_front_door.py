"""Words that people type first, and what they are told."""

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


@pytest.mark.parametrize(("given", "words"), [
    (["--nodes", "65", "--set", "machine.nodes=70"], "--nodes and --set machine.nodes both set"),
    (["--set", "machine.nodes=70", "--set", "machine.nodes=71"], "--set machine.nodes is given"),
    (["--vary", "machine.nodes=64", "--nodes", "65"], "--nodes and --vary machine.nodes both set"),
    (["--vary", "policy.order=fcfs,sjf", "--set", "policy.order=sjf"], "both set policy.order"),
])
def test_a_field_that_is_given_twice_is_refused(
    given: list[str], words: str, tmp_path: Path
) -> None:
    answer = CliRunner().invoke(cli, ["compare", TINY, "--out", str(tmp_path / "x"),
                                      *given])
    assert words in str(answer.exception or answer.output)
    assert not (tmp_path / "x").exists()


def test_a_start_needs_a_table_and_is_said(tmp_path: Path) -> None:
    answer = CliRunner().invoke(cli, ["advise", "job", "--app", "EP.A", "--price", "0.1",
                                      "--start", "2023-01-02"])
    assert "--start is a date in a table" in str(answer.exception or answer.output)
    table = tmp_path / "prices.csv"
    table.write_text("Datetime (UTC),Price (EUR/kWh)\n" + "".join(
        f"2023-01-0{day} 00:00,{price}\n" for day, price in ((1, 0.4), (2, 0.1), (3, 0.1))))
    answer = CliRunner().invoke(cli, ["advise", "job", "--app", "EP.A", "--price", str(table),
                                      "--start", "2023-01-02"])
    assert "the job starts at 2023-01-02 in the table of prices" in answer.output
