"""Limits on racks and other parts of a twin's machine: no part draws more at any time.

Five nodes draw 100 W each and a job 80 W more, on n1 to n4. Jobs of 240 s, with limits of 600 s,
are submitted every 30 s from 0 s on.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.support.twin_sites import sacct

import wattline as wl
from wattline.cli.main import cli
from wattline.controller.sharing.parts import read_section

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")

VIEWS = """
[views.power]
bounds = [{used = "power_w", limit = "limit_w"}]
keys = [
  {name = "power_w", unit = "W", inherit = "children_sum"},
  {name = "limit_w", unit = "W"},
]
entities = [
  {name = "room", type = "room", limit_w = 740},
  {name = "rack1", type = "rack", parent = "room", limit_w = 300},
  {name = "rack2", type = "rack", parent = "room"},
  {name = "n[1-2]", type = "node", parent = "rack1", power_w = 100},
  {name = "n[3-4]", type = "node", parent = "rack2", power_w = 100},
  {name = "g1", type = "node", parent = "rack2", power_w = 100},
]
"""


@pytest.fixture
def twin(tmp_path: Path) -> Path:
    files = sacct(tmp_path)
    wl.make_twin(files["slurm.conf"], sacct=files["sacct.txt"], assoc=files["assoc"], idle_w=100,
                 cpu_w=10, gpu_w=0, out=tmp_path / "twin.toml")
    return tmp_path / "twin.toml"


def most_w(run: Any, *hosts: str) -> float:
    """The most that these nodes of 8 CPUs drew, from which CPUs each job held and when."""
    nodes = [list(run.machine.hosts).index(host) for host in hosts]
    held = run.placement
    node = held.first // 8
    assert np.all((held.first + held.count - 1) // 8 == node)
    start_s, end_s = run.schedule.start_s[held.job], run.schedule.end_s[held.job]
    inside = np.isin(node, nodes)
    return max(100.0 * len(nodes) + 10.0 * float(
        held.count[inside & (start_s <= time_s) & (end_s > time_s)].sum()) for time_s in start_s)


def test_no_list_of_nodes_draws_more_than_its_limit(twin: Path) -> None:
    free = wl.simulate(twin)
    assert most_w(free, "n1", "n2") == 360.0
    bounded = {"name": "bounded", "limits": {"n[1-2]": "300W"}}
    run = wl.simulate(twin, policy__placement=bounded)
    assert run.ran.all()
    assert most_w(run, "n1", "n2") == 280.0
    assert most_w(run, "n3", "n4") == 360.0
    assert run.power_w_peak == 740.0  # three jobs at a time
    assert any(line.startswith("limits of parts, drawn at most: n[1-2] 280 W of 300 W")
               for line in run.remarks)
    assert wl.verify(run).sentences == []
    assert run.metrics()["wait_s"]["mean"] > free.metrics()["wait_s"]["mean"]


def test_views_bound_racks_and_the_room_at_once(twin: Path, tmp_path: Path) -> None:
    views = tmp_path / "views.toml"
    views.write_text(VIEWS.replace("740", "660"))
    run = wl.simulate(twin, policy__placement={"name": "bounded", "views": str(views)})
    assert run.ran.all()
    assert most_w(run, "n1", "n2") <= 300.0
    assert most_w(run, "n1", "n2", "n3", "n4", "g1") == 660.0  # two jobs at a time
    again = wl.simulate(run.save(tmp_path / "run") / "scenario.toml")
    assert again.schedule.start_s.tolist() == run.schedule.start_s.tolist()


def test_limits_and_a_cap_go_together(twin: Path) -> None:
    bounded = {"name": "bounded", "limits": {"n[1-2]": "300W"}}
    run = wl.simulate(twin, cap=660, policy__placement=bounded)
    assert run.power_w_peak == 660.0
    assert most_w(run, "n1", "n2") <= 300.0
    assert wl.verify(run).sentences == []


def test_jobs_that_no_part_has_room_for_are_said(twin: Path) -> None:
    bounded = {"name": "bounded", "limits": {"ALL": "560W"}}
    run = wl.simulate(twin, policy__placement=bounded)
    assert not run.ran.any()
    assert any("a limit of a part of the machine leaves no room for them (12)" in line
               for line in run.remarks)


@pytest.mark.parametrize(("limits", "message"), [
    ({"rack0": 5000}, "'rack0' is no list of the twin's nodes"),
    ({"n[1-9]": 5000}, "it has no 'n5'"),
    ({"n[1-4]": 350}, r"n\[1-4\] is bounded to 350 W, and draws 400 W with all nodes idle"),
    ({}, "bounded needs limits"),
])
def test_limits_that_cannot_be_kept_are_refused(
    twin: Path, limits: dict[str, float], message: str
) -> None:
    with pytest.raises(wl.InputError, match=message):
        wl.simulate(twin, policy__placement={"name": "bounded", "limits": limits})


def test_the_controller_refuses_limits_that_it_would_not_keep(twin: Path) -> None:
    assert read_section(str(twin)).idle_w == 100.0
    text = twin.read_text()
    assert "[policy]" in text
    twin.write_text(text.replace("[policy]", '[policy]\nplacement = {name = "bounded", limits = '
                                 '{"n[1-2]" = "300W"}}'))
    with pytest.raises(wl.InputError, match="limits of parts of a twin are kept in simulations"):
        read_section(str(twin))


@pytest.mark.parametrize(("command", "runs"), [
    (["simulate", "--no-folder"], 1), (["compare", "--vary", "power.cap=none,90%"], 2)])
def test_what_parts_drew_is_printed_once_per_run(
    twin: Path, command: list[str], runs: int
) -> None:
    limits = "policy.placement={name = \"bounded\", limits = {\"n[1-2]\" = \"300W\"}}"
    found = CliRunner().invoke(cli, [*command, str(twin), "--set", limits])
    assert found.exit_code == 0, found.output
    said = [line for line in found.stderr.splitlines() if "limits of parts" in line]
    assert said[0].startswith("wattline: ")
    assert all("drawn at most: n[1-2] " in line for line in said)
    assert len(said) == len(set(said)) == runs, said


def test_the_folder_of_a_run_lets_limits_be_checked(twin: Path, tmp_path: Path) -> None:
    bounded = {"name": "bounded", "limits": {"n[1-2]": "300W"}}
    run = wl.open_run(wl.simulate(twin, policy__placement=bounded).save(tmp_path / "run"))
    held = run.node_stays
    assert held is not None
    assert wl.verify(run).sentences == []
    (limit,) = run.node_bounds
    tight = replace(run, node_bounds=(replace(limit, limit_w=270.0),))
    assert wl.verify(tight).sentences == ["n[1-2] draws 280 W at 0 s, and its limit is 270 W"]
    older = replace(tight, slurm=None)
    assert wl.verify(older).sentences == [
        "n[1-2] is above its limit of 270 W: its nodes draw 280 W at most"]
    wider = replace(run, node_stays=replace(held, watts_w=held.watts_w + 30.0))
    assert "n[1-2] draws 310 W at 0 s, and its limit is 300 W" in wl.verify(wider).sentences
    twice = replace(run, node_stays=replace(held, node=np.zeros_like(held.node)))
    assert any("gives 16 of 8 CPUs" in line for line in wl.verify(twice).sentences)
    assert any("gives 16 CPUs at a time, and has 8" in line
               for line in wl.verify(replace(twice, slurm=None)).sentences)
    less = replace(run, node_stays=replace(held, watts_w=held.watts_w - 30.0))
    assert any("draws 180 W from" in line and "and 150 W on its nodes" in line
               for line in wl.verify(less).sentences)
    assert wl.verify(replace(run, node_stays=None)).sentences == [
        "the run has limits of parts, and does not say what its jobs had on their nodes"]
