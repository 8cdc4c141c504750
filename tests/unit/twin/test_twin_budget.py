"""An energy budget on a twin: no period draws more than its joules.

Five nodes draw 100 W each and a job 80 W more, on n1 to n4. Twelve jobs of 240 s, with limits of
600 s, are submitted every 30 s from 0 s on.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.support.twin_sites import sacct, submit

import wattline as wl
from wattline.cli.main import cli
from wattline.controller.sharing.parts import read_section

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")

PERIOD_S = 1200.0
IDLE_J = 500.0 * PERIOD_S
BUDGET = {"name": "budget", "energy": IDLE_J + 130_000.0, "period": PERIOD_S, "strategy": "idle"}


@pytest.fixture
def twin(tmp_path: Path) -> Path:
    files = sacct(tmp_path)
    wl.make_twin(files["slurm.conf"], sacct=files["sacct.txt"], assoc=files["assoc"], idle_w=100,
                 cpu_w=10, gpu_w=0, out=tmp_path / "twin.toml")
    return tmp_path / "twin.toml"


def drawn_j(run: Any) -> list[float]:
    """Joules of each period, from which CPUs each job held and when."""
    held = run.placement
    begin_s, end_s = run.schedule.start_s[held.job], run.schedule.end_s[held.job]
    edges = np.arange(run.start_s, run.end_s + PERIOD_S, PERIOD_S)
    return [500.0 * (min(until_s, run.end_s) - from_s) + 10.0 * float(np.dot(
        held.count, np.clip(np.minimum(end_s, until_s) - np.maximum(begin_s, from_s), 0.0, None)))
        for from_s, until_s in pairwise(edges)]


def test_no_period_draws_more_than_its_joules(twin: Path, tmp_path: Path) -> None:
    free = wl.simulate(twin)
    assert max(drawn_j(free)) > BUDGET["energy"]
    run = wl.simulate(twin, policy__power=BUDGET)
    assert run.ran.all()
    assert max(drawn_j(run)) <= BUDGET["energy"]
    said = run.budget["by_period"]
    assert [row["energy_j"] for row in said] == pytest.approx(drawn_j(run))
    assert run.budget["over"] == [] == run.budget["no_room"]
    assert run.notes["budget_periods_over"] == 0.0
    assert run.metrics()["wait_s"]["mean"] > free.metrics()["wait_s"]["mean"]
    assert wl.verify(run).sentences == []
    again = wl.simulate(run.save(tmp_path / "run") / "scenario.toml")
    assert again.schedule.start_s.tolist() == run.schedule.start_s.tolist()


def test_a_cap_holds_beside_it(twin: Path) -> None:
    run = wl.simulate(twin, cap=660, policy__power=BUDGET)
    assert run.power_w_peak == 660.0
    assert max(drawn_j(run)) <= BUDGET["energy"]
    assert wl.verify(run).sentences == []


def test_jobs_without_room_are_named_with_what_they_need(twin: Path) -> None:
    """80 W for 600 s and at most 30 s more are 50,400 J."""
    tight = {**BUDGET, "energy": IDLE_J + 50_000.0, "carry": "charge-now"}
    for no_room, word in (("refuse", "refused"), ("hold", "held")):
        run = wl.simulate(twin, policy__power={**tight, "no_room": no_room})
        assert not run.ran.any()
        assert [job["state"] for job in run.budget["no_room"]] == [word] * 12
        first = run.budget["no_room"][0]
        assert (first["needs_j"], first["gives_j"]) == (pytest.approx(50_400.0), 50_000.0)
        assert any("no period of the energy budget has the joules for" in line
                   for line in run.remarks)
        assert ("energy budget: job 1: it needs 14 Wh above idle power in one period, and the "
                "most that a period gives is 13.9 Wh") in run.remarks


def test_what_it_takes_for_granted_is_said(twin: Path) -> None:
    asked = {key: value for key, value in BUDGET.items() if key != "strategy"}
    run = wl.simulate(twin, policy__power=asked)
    assert wl.simulate(twin, power=wl.Budget(
        energy=BUDGET["energy"], period=PERIOD_S)).schedule.start_s.tolist() == (
            run.schedule.start_s.tolist())
    assert any("is kept by not starting jobs" in line for line in run.remarks)


def test_by_command(twin: Path) -> None:
    options = [f"policy.power.energy={BUDGET['energy']}", "policy.power.period=20m",
               "policy.power.strategy=idle"]
    given = [word for option in options for word in ("--set", option)]
    ran = CliRunner().invoke(cli, ["simulate", str(twin), "--power-policy", "budget", *given,
                                    "--json"])
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.stdout)["metrics"]
    assert found["budget"]["periods"] >= 2
    assert all(row["energy_j"] <= BUDGET["energy"] for row in found["budget"]["by_period"])


@pytest.mark.parametrize(("power", "said"), [
    ("budget", "a budget needs energy"),
    ({**BUDGET, "strategy": "dvfs"}, "policy.power.strategy: jobs on shared nodes run at full"),
    ({**BUDGET, "beta": 0.5}, "policy.power.beta: jobs on shared nodes run at full speed"),
    ({**BUDGET, "energy": 1000.0}, "0.2778 Wh is below the 166.7 Wh that the machine draws idle"),
])
def test_what_it_cannot_be_is_refused(twin: Path, power: Any, said: str) -> None:
    with pytest.raises(wl.InputError, match=said):
        wl.simulate(twin, policy__power=power)


def test_energy_status_is_of_whole_nodes(twin: Path) -> None:
    run = wl.simulate(twin, policy__power=BUDGET)
    with pytest.raises(wl.InputError, match="of a twin's run the periods are in its metrics"):
        wl.energy_status(run)


@pytest.mark.parametrize("line", [
    'power = { name = "budget", energy = "1MWh" }', 'order = "energy-share"'])
def test_the_controller_refuses_what_it_does_not_count(twin: Path, line: str) -> None:
    twin.write_text(twin.read_text().replace("[policy]\n", f"[policy]\n{line}\n", 1))
    with pytest.raises(wl.InputError, match="is for simulations: the controller counts no joules"):
        read_section(str(twin))


def test_beside_a_cap_the_cap_is_the_reason_where_every_period_has_the_joules(
    tmp_path: Path
) -> None:
    """Two nodes of 100 W; a job of 160 W for at most 630 s needs 100,800 J of 101,000 J, and the
    cap leaves 100 W."""
    (tmp_path / "slurm.conf").write_text(
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
        "NodeName=n[1-2] CPUs=8 RealMemory=16000\n"
        "PartitionName=low Nodes=ALL Default=YES MaxTime=2:00:00\n")
    (tmp_path / "day.events").write_text(
        submit("-t 10 -n 16", run=300) + submit("-t 5 -n 4", run=300))
    site = wl.make_twin(tmp_path / "slurm.conf", events=tmp_path / "day.events", idle_w=100,
                        cpu_w=10).scenario
    budget = {"name": "budget", "energy": 200.0 * 1800.0 + 101_000.0, "period": 1800.0}
    assert wl.simulate(site, policy__power=budget).ran.all()
    run = wl.simulate(site, cap=300, policy__power=budget)
    assert run.ran.tolist() == [False, True]
    assert any("the power cap leaves no room for it (1)" in line for line in run.remarks)
    assert not any("joules" in line for line in run.remarks if "never ran" in line)
    assert run.budget["no_room"] == []
