"""Claims, energy, power, views and networks from Python say what the commands say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.commands import ok

import wattline as wl

ROOT = Path(__file__).parents[3]
MACHINE = wl.Machine(nodes=10, cores_per_node=4, node_idle_w=100, node_active_w=300, node_off_w=5,
                     nodes_per_rack=5)
OPTIONS = ("--nodes", 10, "--cores", 4, "--node-idle-w", 100, "--node-active-w", 300,
           "--node-off-w", 5, "--nodes-per-rack", 5)


def plain(found) -> dict:
    """As JSON says it: NaN and infinity are null."""
    from wattline.cli.output import _plain

    return json.loads(json.dumps(_plain(found.to_dict())))


def printed(capsys, *words) -> dict:
    return json.loads(ok(capsys, *words, "--json"))


def test_claims(capsys, tmp_path):
    listed = wl.list_claims(application="CG.A")
    assert printed(capsys, "claims", "list", "--application", "CG.A") == plain(listed)
    assert len(listed.to_pandas()) == len(listed.claims) > 2
    ranked = wl.choose_claim("CG.A", objective="time", free={"odroid-c1": 1, "odroid-c2": 1})
    words = ("claims", "choose", "CG.A", "--objective", "time", "--free", "odroid-c1=1", "--free",
             "odroid-c2=1")
    assert printed(capsys, *words)["ranked"] == plain(ranked)["claims"]
    assert {claim.node_class for claim in ranked.claims} == {"odroid-c1", "odroid-c2"}
    with pytest.raises(wl.InputError, match=r"nothing is known to run 'CG\.A' on moon"):
        wl.choose_claim("CG.A", free={"moon": 1})


def test_claims_in_a_store(tmp_path):
    store, file = str(tmp_path / "claims.sqlite"), tmp_path / "runs.csv"
    first = wl.list_claims(application="CG.A", node_class="xeon").claims[0]
    cap = "" if first.setting.cap_w == float("inf") else f"{first.setting.cap_w:g}"
    file.write_text("application,node_class,threads,cap_w,time_s,energy_j,mood\n"
                    f"CG.A,xeon,{first.setting.threads},{cap},{2 * first.time_s},"
                    f"{first.energy_j},fine\n")
    taken = wl.import_claims("npb", store)
    assert taken.imported == len(wl.list_claims().claims) == len(wl.list_claims(store).claims)
    with pytest.warns(wl.WattlineWarning, match="nothing is read from column mood"):
        judged = wl.verify_claims(file, store)
    assert judged.verified[0].time_error == pytest.approx(1.0)
    assert (judged.corrected, judged.already_counted) == (True, 0)
    with pytest.warns(wl.WattlineWarning):
        assert wl.verify_claims(file, store).already_counted == 1
    assert wl.import_claims("npb", store).verified_kept == 1


def test_energy(capsys):
    words = ("--energy", "48kWh", "--period", "1d", "--price", "0.2EUR", "--carbon", "300")
    given = {"machine": MACHINE, "period": "1d", "price": "0.2EUR", "carbon": 300}
    plan = wl.plan_energy("48kWh", **given)
    assert printed(capsys, "energy", "plan", *words, *OPTIONS) == plain(plan)
    slots = plan.to_pandas()
    spent_j = ((slots["end_s"] - slots["start_s"]) * slots["power_w"]).sum()
    assert spent_j == pytest.approx(plan.planned_j)
    trial = wl.try_budget("48kWh", jobs=15, **given)
    assert printed(capsys, "energy", "budget", *words, *OPTIONS, "--jobs", 15) == plain(trial)
    assert list(trial.to_pandas().index) == ["no limit", "constant cap", "budget"]


def test_power(capsys, tmp_path):
    assert printed(capsys, "power", "show", *OPTIONS) == plain(wl.power_status(MACHINE))
    mine, theirs = tmp_path / "mine.toml", tmp_path / "theirs.toml"
    for path in (mine, theirs):
        path.write_text('[trace]\ngenerate = "lublin"\njobs = 5\n[machine]\nnodes = 100\n'
                        "node_idle_w = 100\nnode_active_w = 300\n")
    with pytest.warns(wl.WattlineWarning, match="nothing keeps this cap yet"):
        found = wl.set_power(mine, cap="80%", floor="1kW")
    assert printed(capsys, "power", "set", theirs, "--cap", "80%", "--floor", "1kW") == plain(found)
    assert found.plan.watts == pytest.approx(0.8 * found.limits.max_w)
    with pytest.warns(wl.WattlineWarning):
        wl.reserve_power(mine, start="1h", duration="2h", watts=2000, name="chiller")
    words = ("--start", "1h", "--duration", "2h", "--watts", "2kW", "--name", "chiller")
    ok(capsys, "power", "reserve", theirs, *words)
    assert mine.read_text() == theirs.read_text()
    now = wl.power_status(mine, at="2h")
    assert now.status.cap_w == pytest.approx(found.plan.watts - 2000)
    assert [each.name for each in now.reservations] == ["chiller"]
    with pytest.raises(wl.InputError, match="nothing to set"):
        wl.set_power(mine)


def test_views(capsys):
    view = wl.machine_view("power", MACHINE, limits={"rack0": 1200.0})
    words = ("view", "show", "power", *OPTIONS, "--limit", "rack0=1200W", "--depth", 2)
    assert printed(capsys, *words)["rows"] == view.rows(depth=2)
    by_file = wl.machine_view("rack", ROOT / "examples" / "small.toml")
    assert by_file.rows(depth=0)[0]["entity"]
    with pytest.raises(wl.InputError, match="give a machine"):
        wl.machine_view("power")
    with pytest.raises(wl.InputError, match="the machine needs node_idle_w and node_active_w"):
        wl.machine_view("power", wl.Machine(nodes=4))


def test_networks(capsys, tmp_path):
    assert printed(capsys, "network", "show", "dragonfly-272") == wl.describe_network(
        "dragonfly-272")
    file = tmp_path / "jobs.toml"
    file.write_text('machine = "dragonfly-272"\n[[job]]\nname = "a"\nnodes = 8\n'
                    'pattern = "halo3d"\n')
    placed = wl.place_jobs(file, placement="simple")
    assert printed(capsys, "network", "place", file, "--placement", "simple") == plain(placed)
    assert placed.to_pandas()["name"].tolist() == ["a"]
    placed.plot(tmp_path / "placed.svg")
    assert (tmp_path / "placed.svg").read_text().lstrip().startswith("<?xml")
    with pytest.raises(wl.InputError, match="there is no placement 'best'"):
        wl.place_jobs(file, placement="best")
