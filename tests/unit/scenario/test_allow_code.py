"""`policy.python` runs code: only of files and policies that the user named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.support.in_shell import in_shell
from tests.support.thinned import crossed

import wattline as wl
from wattline.cli.main import main
from wattline.model.errors import InputError
from wattline.scenario.build import plan
from wattline.scenario.load import load

POLICY = """
from pathlib import Path
from wattline.policies.view import Start

Path("it-ran").touch()


class Head:
    def decide(self, view):
        return [Start(job.job) for job in view.queue[:1] if job.units <= view.free]
"""
SCENARIO = """
[trace]
file = "log.swf"
[machine]
nodes = 8
[policy]
python = "headfirst:Head"
"""
LOG = "1 0 -1 10 4 -1 -1 4 10 -1 1 1 1 1 1 -1 -1 -1\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("headfirst.py").write_text(POLICY)
    Path("log.swf").write_text(LOG)
    Path("s.toml").write_text(SCENARIO)
    yield
    sys.modules.pop("headfirst", None)


def ran() -> bool:
    return Path("it-ran").exists()


@pytest.mark.parametrize("arguments", [
    ["simulate", "s.toml", "--no-folder"], ["compare", "s.toml", "s.toml", "--no-report"],
    ["simulate", "--trace", "log.swf", "--nodes", "8", "--policy", "headfirst:Head"],
    ["simulate", "--trace", "log.swf", "--nodes", "8", "--set", "policy.python=headfirst:Head"],
])
def test_who_names_the_file_or_the_policy_says_that_it_may_run(arguments):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 0
    assert ran()


@pytest.mark.parametrize(("command", "more"), crossed(
    [["simulate", "--no-folder"], ["compare", "--no-report"]], [[], ["--allow-code"]],
    later=pytest.mark.long))
def test_a_scenario_from_a_pipe_has_to_be_allowed(command, more):
    status = 0 if more else 2
    text = SCENARIO.replace("log.swf", str(Path("log.swf").absolute()))
    done = in_shell(*command, "/dev/stdin", *more, folder=Path.cwd(), sent=text)
    assert done.returncode == status, done.stderr
    assert ran() == (status == 0)
    if status:
        assert "--allow-code" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_file_that_python_names_may_run():
    assert len(wl.simulate("s.toml").jobs) == 1
    assert ran()


def test_fields_in_python_have_to_be_allowed():
    fields = {"trace": "log.swf", "machine__nodes": 8, "policy__python": "headfirst:Head"}
    with pytest.raises(InputError, match="allow_code=True"):
        wl.simulate(**fields)
    with pytest.raises(InputError, match="allow_code=True"):
        wl.simulate("s.toml", policy__python="headfirst:Head")
    assert not ran()
    wl.simulate(**fields, allow_code=True)
    assert ran()


def test_a_plan_refuses_code_unless_its_caller_knows_better():
    with pytest.raises(InputError, match="runs code of its own"):
        plan(load("s.toml"))
    assert not ran()
