"""The end of `wattline sweep` when nothing came of it, and when it is interrupted."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from wattline.cli.main import main
from wattline.sweeps import api, optimise, running

SWEEP = """
[scenario.trace]
generate = "lublin"
jobs = 30
parameters = {nodes = 64}
[scenario.machine]
nodes = 64
[axes]
"machine.nodes" = NODES
"""


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("WATTLINE_PLAIN", "1")
    monkeypatch.chdir(tmp_path)


def sweep(nodes: list[int], *options: str) -> int:
    """The status of a sweep over sizes of the machine, some of which are too small for the jobs."""
    Path("sweep.toml").write_text(SWEEP.replace("NODES", str(nodes)))
    with pytest.raises(SystemExit) as end:
        main(["sweep", "sweep.toml", "--no-report", *options])
    assert isinstance(end.value.code, int)
    return end.value.code


SEARCH = ("--optimise", "wait_s", "--trials", "3")
ONE = ("--workers", "1")


@pytest.mark.parametrize("how", [ONE, SEARCH])
def test_a_sweep_of_which_all_points_fail_fails(capsys, how):
    assert sweep([2, 3], *how) == 1
    out, said = capsys.readouterr()
    assert out == ""
    # A search asks for a setting that failed once only: there are no more than these two.
    assert said.startswith("wattline: all 2 points failed: ")
    assert "nodes" in said
    assert said.count("\n") == 1


def test_so_it_does_in_json_where_its_rows_say_why(capsys):
    assert sweep([2], *ONE, "--json") == 1
    out, said = capsys.readouterr()
    assert json.loads(out)["failed"] == 1
    assert said.startswith("wattline: the one point failed: ")


def test_one_point_that_does_not_fail_is_enough(capsys):
    assert sweep([2, 64], *ONE) == 0
    assert "a point failed" in capsys.readouterr().err


@pytest.mark.parametrize(("how", "module", "name"), [
    (ONE, running, "run_chunk"), (SEARCH, optimise, "run_point")])
def test_ctrl_c_says_how_it_goes_on(capsys, monkeypatch, how, module, name):
    real, calls = getattr(module, name), []

    def interrupted_at_the_second(*args):
        calls.append(args)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return real(*args)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(module, name, interrupted_at_the_second)
    try:
        assert sweep([64, 65, 66], *how) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    said = capsys.readouterr().err
    assert said.strip() == ("wattline: interrupted; what is done is kept: go on with "
                            "--out runs/sweep-001 --resume (resume=True)")
    assert sweep([64, 65, 66], *how, "--out", "runs/sweep-001", "--resume") == 0


def test_a_folder_says_what_kind_of_sweep_it_has(capsys):
    assert sweep([64, 96], *ONE, "--out", "points") == 0
    assert sweep([64, 96], *SEARCH, "--out", "search") == 0
    capsys.readouterr()
    assert sweep([64, 96], *ONE, "--out", "search", "--resume") == 2
    assert "search has a search in it; go on with it with --optimise" in capsys.readouterr().err
    assert sweep([64, 96], *SEARCH, "--out", "points", "--resume") == 2
    assert "points has a sweep in it, not a search" in capsys.readouterr().err


@pytest.mark.parametrize("how", [ONE, SEARCH])
def test_the_seconds_with_table_and_report_stand_beside_those_without(capsys, monkeypatch, how):
    for module in (api, optimise):
        true = module.written
        monkeypatch.setattr(module, "written", lambda *given, true=true: (
            time.sleep(0.3), true(*given))[1])
    assert sweep([64, 96], *how, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["seconds"] + 0.3 <= found["seconds_in_all"]


def test_a_cap_of_none_is_computed_once_for_all_power_policies(capsys):
    """Each policy is said to be left out, also of points whose row is another's."""
    Path("caps.toml").write_text(SWEEP.replace('"machine.nodes" = NODES', """
"power.cap" = ["none", "60%"]
"policy.power" = ["block", "wait", "dvfs"]
"""))
    for _ in range(2):
        with pytest.raises(SystemExit) as end:
            main(["sweep", "caps.toml", "--no-report", "--no-cache", *ONE, "--json"])
        assert end.value.code == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["points"], found["computed"], found["cached"]) == (6, 4, 2)
        for power in ("block", "wait", "dvfs"):
            said = f"the power policy '{power}' has nothing to keep and is left out"
            assert any(said in line for line in found["remarks"])
