"""`wattline policies`: what can be chosen, with which parameters, and what goes together."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.support.commands import call
from tests.support.in_shell import in_shell

import wattline as wl
from wattline.model.errors import InputError
from wattline.model.plugins import installed
from wattline.policies.registry import _installed, built_in, places

PLUG_IN = '''
"""Orders of our own."""
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from wattline.model.fields import FileName, Number
from wattline.model.kernel import implement, kernel
from wattline.policies.contract import queue_key
from wattline.policies.declaration import Declaration, Parameters
from wattline.policies.state import State

Path("it-ran").touch()


class Smallest(NamedTuple):
    weight: float


@implement(queue_key, Smallest)
@kernel
def _key(st: State, order: Smallest, job: int) -> float:
    return float(st.live[job].units * st.live[job].requested_s**order.weight)


class Given(Parameters):
    weight: Number = Field(0.5, ge=0, le=10)
    ties: Literal["first", "last"] = "first"
    users: FileName | None = None


def make(setting, given):
    if given.users is not None:
        assert Path(given.users).is_absolute()
        Path(given.users).read_text()
    return Smallest(given.weight)


SMALLEST = Declaration("order", "smallest", "Narrow and short jobs first.", make, Given)


class Patient:
    """Waits and waits."""

    def decide(self, view):
        return []
'''
LOG = "".join(f"{n} {n} -1 100 {size} -1 -1 {size} 100 -1 1 1 1 1 1 -1 -1 -1\n"
              for n, size in ((1, 8), (2, 8), (3, 2), (4, 2)))
SCENARIO = """
[trace]
file = "log.swf"
[machine]
nodes = 8
[policy]
order = ORDER
"""


def about(capsys, name):
    status, out, err = call(capsys, "policies", name, "--json")
    assert status == 0, err
    return json.loads(out)["policies"]


@pytest.fixture
def plug_in(tmp_path, monkeypatch):
    """A folder with a plug-in and a log, where commands are given."""
    (tmp_path / "our_policies.py").write_text(PLUG_IN)
    (tmp_path / "log.swf").write_text(LOG)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("our_policies", None)


def simulate(folder, order, *more, pipe=False):
    """A simulation by which a plug-in is loaded that was not loaded before."""
    text = SCENARIO.replace("ORDER", order)
    if pipe:
        text = text.replace("log.swf", str(folder / "log.swf"))
    (folder / "s.toml").write_text(text)
    (folder / "elsewhere").mkdir(exist_ok=True)
    sys.modules.pop("our_policies", None)
    return in_shell("simulate", "/dev/stdin" if pipe else "../s.toml", "--json", "--no-folder",
                    *more, folder=folder if pipe else folder / "elsewhere", sent=text)


def test_every_policy_is_described_with_typed_defaults(capsys):
    for axis, named in built_in().items():
        for name, declaration in named.items():
            found = about(capsys, f"{axis}.{name}")[0]
            assert (found["axis"], found["name"]) == (axis, name)
            assert found["summary"] == declaration.summary
            for row in found["parameters"]:
                numeric = row["kind"] in ("number", "whole number")
                assert not numeric or isinstance(row["default"], (int, float, type(None)))
                assert row["range"]
                assert (row["kind"] == "choice") == bool(row["choices"]) or " or " in row["kind"]


def test_choices_files_units_and_what_is_needed_are_shown(capsys):
    rows = {row["name"]: row for row in about(capsys, "budget")[0]["parameters"]}
    assert rows["strategy"]["choices"] == ["idle", "shut", "dvfs", "mix", "cap"]
    assert rows["price"]["file"]
    assert rows["price"]["default"] is None
    assert (rows["energy"]["needed"], rows["energy"]["unit"]) == (True, "J")
    assert rows["period"]["default"] == 604800.0
    assert rows["periods"]["default"] == 0
    out = call(capsys, "policies", "budget")[1]
    assert "idle, shut, dvfs, mix" in out
    assert "needed" in out


def test_an_unknown_policy_is_refused(capsys):
    status, _, err = call(capsys, "policies", "consevative")
    assert (status, err.count("\n")) == (2, 1)
    assert "did you mean 'conservative'?" in err


def test_every_refused_pair_has_a_reason_of_what_would_be_wrong(capsys):
    _, out, _ = call(capsys, "policies", "--pairs", "--json")
    found = json.loads(out)
    assert found["pairs"] > 10 * len(found["refused"]) > 0
    reasons = {pair["reason"] for pair in found["refused"]}
    assert all(len(reason) > 60 for reason in reasons)
    assert not [reason for reason in reasons if "support" in reason or "implement" in reason]


def test_the_pairs_of_one_policy_are_its_own(capsys):
    _, out, _ = call(capsys, "policies", "--pairs", "--json")
    everything = json.loads(out)
    _, out, _ = call(capsys, "policies", "dvfs", "--pairs", "--json")
    own = json.loads(out)
    assert own["refused"] == [
        pair for pair in everything["refused"]
        if ("power", "dvfs") in ((pair["axis"], pair["name"]), (pair["other_axis"], pair["other"]))]
    assert 0 < len(own["refused"]) < own["pairs"] < everything["pairs"]
    _, out, _ = call(capsys, "policies", "easy", "--pairs")
    assert out.startswith("0 pairs of ")
    status, _, err = call(capsys, "policies", "dvsf", "--pairs")
    assert (status, err.count("\n")) == (2, 1)


def test_a_plug_in_is_described_by_its_place(capsys, plug_in):
    found = about(capsys, "our_policies:SMALLEST")[0]
    assert (found["axis"], found["summary"]) == ("order", "Narrow and short jobs first.")
    assert [(row["name"], row["kind"], row["range"], row["default"])
            for row in found["parameters"]] == [
        ("weight", "number", ">= 0, <= 10", 0.5), ("ties", "choice", "first, last", "first"),
        ("users", "file", "any", None)]
    assert found["refused"] == []


def test_a_policy_in_python_is_described_by_its_place(capsys, plug_in):
    found = about(capsys, "our_policies.py:Patient")[0]
    assert (found["axis"], found["summary"], found["parameters"]) == ("python", "Waits and waits.",
                                                                      [])
    status, _, err = call(capsys, "policies", "our_policies:Given")
    assert (status, err.count("\n")) == (2, 1)
    assert "neither" in err


def forget():
    for kept in (installed, places, _installed):
        kept.cache_clear()


def test_an_installed_plug_in_is_listed_like_a_built_in_one(capsys, plug_in, monkeypatch):
    info = plug_in / "our_policies-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: our-policies\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[wattline.policies]\norder.smallest = our_policies:SMALLEST\n")
    monkeypatch.syspath_prepend(plug_in)
    forget()
    try:
        assert about(capsys, "smallest")[0]["from"] == "our_policies:SMALLEST"
        (info / "entry_points.txt").write_text(
            "[wattline.policies]\norder.fcfs = our_policies:SMALLEST\n")
        forget()
        status, _, err = call(capsys, "policies")
        assert (status, err.count("\n")) == (2, 1)
        assert "two policies are called order.fcfs" in err
    finally:
        forget()


def test_a_scenario_names_a_plug_in_beside_it(plug_in):
    """The two narrow jobs go before the second wide one; its folder is not the current one."""
    (plug_in / "users.txt").write_text("ada")
    done = simulate(plug_in, '{name = "our_policies:SMALLEST", weight = 0.3, users = "users.txt"}')
    assert done.returncode == 0, done.stderr
    usual = simulate(plug_in, '"fcfs"', "--backfill", "none")
    narrow = simulate(plug_in, '"our_policies:SMALLEST"', "--backfill", "none")
    waits = [json.loads(each.stdout)["metrics"]["wait_s"]["mean"] for each in (usual, narrow)]
    assert waits[1] < waits[0]


@pytest.mark.parametrize(("given", "words"), [
    ("weight = -1", "must be at least 0"), ('users = "nowhere.txt"', "failed"),
    # Processes of half a second each; parameters of built-in policies are refused in this one.
    *(pytest.param(*case, marks=pytest.mark.long) for case in (
        ('weight = "x"', "must be a number"), ("colour = 1", "has no parameter 'colour'"),
        ('ties = "none"', "must be 'first' or 'last'"))),
])
def test_a_bad_parameter_of_a_plug_in_gives_one_line(plug_in, given, words):
    done = simulate(plug_in, f'{{name = "our_policies:SMALLEST", {given}}}')
    assert done.returncode == (1 if words == "failed" else 2)
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("more", "status"), [
    ([], 2), (["--allow-code"], 0), (["--order", "our_policies:SMALLEST"], 0),
    (["--set", "policy.order.weight=1"], 2)])
def test_a_plug_in_of_a_scenario_from_a_pipe_has_to_be_allowed(plug_in, more, status):
    done = simulate(plug_in, '{name = "our_policies:SMALLEST"}', *more, pipe=True)
    assert done.returncode == status, done.stderr
    assert Path("it-ran").exists() == (status == 0)


def test_a_journal_that_names_code_has_to_be_allowed_to_run_it(plug_in):
    journal = plug_in / "j"
    done = simulate(plug_in, '"our_policies:SMALLEST"', "--journal", str(journal))
    assert done.returncode == 0, done.stderr

    def replay(*more):
        sys.modules.pop("our_policies", None)
        return in_shell("replay", str(journal), *more, folder=plug_in)

    refused = replay()
    assert refused.returncode == 2
    assert "--allow-code" in refused.stderr
    assert replay("--allow-code").returncode == 0


def test_fields_in_python_that_name_a_plug_in_have_to_be_allowed(plug_in):
    fields = {"trace": "log.swf", "machine__nodes": 8,
              "policy__order": {"name": "our_policies:SMALLEST"}}
    with pytest.raises(InputError, match="allow_code=True"):
        wl.simulate(**fields)
    (plug_in / "s.toml").write_text(SCENARIO.replace("ORDER", '"fcfs"'))
    with pytest.raises(InputError, match="allow_code=True"):
        wl.simulate("s.toml", policy__order="our_policies:SMALLEST")
    assert not Path("it-ran").exists()
