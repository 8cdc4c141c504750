"""The help shows what can be chosen and what goes together; a wrong word is told the nearest."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.commands import refused
from tests.support.plain import plain_environment

from wattline.cli.main import cli
from wattline.policies.registry import places

TINY = Path(__file__).parents[3] / "examples" / "tiny.swf"


def words_of(*arguments: str) -> str:
    """Return what is printed, in one line: how the help is wrapped does not matter."""
    result = CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return " ".join(result.output.replace("-\n", "-").split()).replace("- ", "-")


@pytest.mark.parametrize("command", [("simulate",), ("compare",), ("advise", "cap")])
def test_the_help_lists_every_policy_of_every_axis(command: tuple[str, ...]) -> None:
    printed = words_of(*command, "--help")
    for axis, known in places().items():
        if axis != "regulation":
            assert ", ".join(known) in printed, axis
    assert "--granularity [node|core]" in printed
    assert "--overrun [extend|kill]" in printed


def test_the_help_says_what_needs_what() -> None:
    printed = words_of("simulate", "--help")
    assert "What goes together:" in printed
    keepers = "block, wait, dvfs, watts, adaptive"
    assert f"--cap needs a --power-policy that keeps it: {keepers}" in printed
    assert "--configure claims needs --placement claims" in printed
    assert "go with --power-policy watts (taken by itself) and lending" in printed
    assert "all but adaptive with block and wait too, none with those that slow down" in printed
    assert "wattline policies --pairs" in printed


def test_the_help_leaves_out_what_a_command_always_refuses() -> None:
    printed = words_of("advise", "cap", "--help")
    assert "--watch-cap" not in printed
    assert "--cap WATTS" not in printed
    assert "--policy MODULE" not in printed
    assert "--power-policy lending" not in printed
    assert "--power-policy NAME" in printed
    result = CliRunner().invoke(cli, ["advise", "cap", "examples/tiny.swf", "--wait", "+10%",
                                      "--cap", "70%"])
    assert "the cap is what is looked for; leave it out" in str(result.exception)


def test_the_help_of_a_command_loads_no_compiler() -> None:
    code = ("import sys\nfrom wattline.cli.main import cli\n"
            "cli.main(['simulate', '--help'], standalone_mode=False)\n"
            "assert 'numba' not in sys.modules and 'llvmlite' not in sys.modules\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                          env={**plain_environment(), "WATTLINE_PLAIN": ""})
    assert done.returncode == 0, done.stderr


def test_accounting_loads_no_compiler() -> None:
    """The ledger of a site is asked often and simulates nothing."""
    code = ("import sys\nimport wattline as wl\n"
            "wl.account_run, wl.account_bill, wl.account_import, wl.account_job, wl.fairshare\n"
            "wl.verify_claims, wl.fit\n"
            "assert 'numba' not in sys.modules and 'llvmlite' not in sys.modules\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                          env={**plain_environment(), "WATTLINE_PLAIN": ""})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("arguments", "nearest"), [
    (("simulate", str(TINY), "--order", "fcsf"), "fcfs"),
    (("simulate", str(TINY), "--granularity", "cores"), "core"),
    (("simulate", str(TINY), "--set", "policy.overrun=kil"), "kill"),
    (("account", "--by", "usr"), "user"),
    (("network", "place", str(TINY), "--routing", "adaptve"), "adaptive"),
    (("simluate",), "simulate"),
])
def test_a_wrong_choice_names_the_nearest(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], nearest: str
) -> None:
    assert refused(capsys, *arguments).endswith(f"; did you mean '{nearest}'?\n")


def test_a_wrong_policy_names_all_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "simulate", str(TINY), "--backfill", "magic")
    assert "there are: none, easy, conservative" in said


@pytest.mark.parametrize("name", ["log.swf", "log.swf.gz"])
def test_a_log_in_the_place_of_the_scenario_is_a_log(tmp_path: Path, name: str) -> None:
    log = tmp_path / name
    log.write_bytes(gzip.compress(TINY.read_bytes()) if name.endswith("gz") else TINY.read_bytes())
    given, named = (json.loads(CliRunner().invoke(
        cli, ["simulate", *how, "--no-folder", "--json"], catch_exceptions=False).stdout)
        for how in ((str(log),), ("--trace", str(log))))
    assert given["jobs"] == 12
    assert given["metrics"] == named["metrics"]


def test_two_logs_are_one_too_many(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "simulate", str(TINY), "--trace", "other.swf")
    assert "give one of them, or a scenario" in said


def test_a_run_folder_in_the_place_of_the_scenario_is_told_what_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "scenario.toml").write_text("")
    assert "is a run folder, not a scenario" in refused(capsys, "simulate", str(tmp_path))


@pytest.mark.parametrize("group", ["advise", "claims", "energy", "network", "power", "view"])
def test_the_help_of_a_group_cuts_no_sentence(group: str) -> None:
    commands = words_of(group, "--help").split("Commands:")[1]
    assert "..." not in commands


@pytest.mark.parametrize(("field", "meant"), [("nodes", "machine"), ("order", "policy")])
def test_a_field_outside_of_its_section_is_told_where_it_stands(
    capsys: pytest.CaptureFixture[str], field: str, meant: str
) -> None:
    said = refused(capsys, "simulate", str(TINY), "--set", f"{field}=1", "--no-folder")
    assert f"{field}: there is no such field; did you mean '{meant}.{field}'?" in said


def test_whoever_leaves_an_argument_out_is_shown_the_usage(
    capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, "report").endswith("Write: wattline report [OPTIONS] RUN...\n")
    assert refused(capsys, "advise", "job").endswith(
        "Write: wattline advise job --app NAME [OPTIONS]\n")


@pytest.mark.parametrize(("option", "hint"), [
    (("--node-active-w", "2kw"), "2kW"), (("--cap", "2KW", "--power-policy", "block"), "2kW"),
    (("--node-active-w", "1mw"), "1MW"),
])
def test_a_unit_in_the_wrong_case_is_shown_in_the_right_one(
    capsys: pytest.CaptureFixture[str], option: tuple[str, ...], hint: str
) -> None:
    assert refused(capsys, "simulate", str(TINY), *option).endswith(f"; did you mean {hint}?\n")


def test_a_table_without_a_map_is_told_the_maps_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n")
    assert "(eagle, eurora, fdata, pm100)" in refused(capsys, "simulate", str(table))
