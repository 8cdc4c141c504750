"""Watts of devices, of nodes and at the wall under one bound, with nodes that stand idle."""

import pytest
from tests.support.commands import refused

import wattline as wl
from wattline.account.configurations import ConfigurationStore
from wattline.account.store import Store
from wattline.model.errors import InputError
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.measurements import read_measurements
from wattline.physics.overprovisioning import choose
from wattline.physics.power_scope import NodePower
from wattline.physics.regression import fit, load_models, save_models, shipped_models
from wattline.physics.regression.files import with_scope
from wattline.studies.rmap.tables import tables_of

HEAD = "nodes,gpus,gpu_cap_w,time_s,power_w"
ROWS = [(1, 4, 300, 800, 1100), (2, 4, 300, 420, 2200), (4, 4, 300, 220, 4400),
        (8, 4, 300, 120, 8800)]


def write(path, head=HEAD, extra="", rows=ROWS):
    path.write_text("\n".join([head, *(",".join(map(str, row)) + extra for row in rows)]) + "\n")
    return path


@pytest.fixture
def gpus(tmp_path):
    """1,100 W of GPUs on each node."""
    return write(tmp_path / "sim.csv")


def of(scope, power_w=(1100.0, 2200.0)):
    return ConfigurationTable.of("sim", [1, 2], {"gpus": [4, 4]}, [800.0, 420.0], power_w,
                                 power_scope=scope)


@pytest.mark.parametrize(("scope", "bound_at", "each_w"), [
    ("devices", "wall", (1100 + 300) / 0.8), ("devices", "node", 1100 + 300),
    ("node", "wall", 1100 / 0.8), ("node", "node", 1100),
    ("wall", "wall", 1100), ("wall", "node", 1100 * 0.8)])
def test_watts_are_turned_into_those_of_the_bound(scope, bound_at, each_w):
    power = NodePower(300.0, None, 0.8, bound_at)
    found = power.at_bound(of(scope))
    assert found.power_w.tolist() == pytest.approx([each_w, 2 * each_w])
    assert found.power_scope == bound_at
    again = power.at_bound(found)  # what has been turned is not turned again
    assert again.power_w.tolist() == pytest.approx(found.power_w.tolist())


def test_without_figures_of_nodes_the_watts_stay_to_the_last_digit():
    table = shipped_models()["BT-MZ"].table()
    for power in (NodePower(), NodePower(0.0, 0.0, 1.0)):
        assert (power.at_bound(table).power_w == table.power_w).all()


def test_the_power_beside_the_devices_decides(gpus):
    """9 kW feed 8 nodes of 1,100 W of GPUs; with 900 W beside them, 4."""
    asked = {"table": gpus, "power_scope": "devices"}
    assert wl.configure("sim", "9kW", **asked, base_power=0).best.nodes == 8
    best = wl.configure("sim", "9kW", **asked, base_power="900W").best
    assert (best.nodes, best.power_w) == (4, 8000.0)
    # The same GPUs behind supplies that lose a seventh: 9,333 W for four nodes.
    tight = wl.configure("sim", "9kW", **asked, base_power="900W", supply_efficiency="85%")
    assert tight.best.nodes == 2
    at_node = wl.configure("sim", "9kW", **asked, base_power="900W", supply_efficiency="85%",
                           bound_at="node")
    assert at_node.best.nodes == 4


def test_nodes_that_are_left_idle_count(gpus):
    asked = {"table": gpus, "power_scope": "node", "node_idle": "400W"}
    assert wl.configure("sim", "5kW", **asked).best.nodes == 4
    found = wl.configure("sim", "5kW", **asked, nodes=8)
    assert (found.best.nodes, found.best.power_w) == (2, 2200 + 6 * 400)
    # Rated at 4 x 300 W of GPUs and 30 W: 2 x 1,230 W beside six idle nodes, 4,860 W.
    assert found.choice.worst_case.nodes == 2
    with pytest.raises(InputError, match=r"draws 3900 W with the nodes that it leaves idle"):
        wl.configure("sim", "3.8kW", **asked, nodes=8)


def test_a_configuration_cannot_draw_less_than_its_own_nodes_idle(capsys):
    said = refused(capsys, "configure", "BT-MZ", "--power", "4kW", "--node-idle", "180W")
    assert ("(32 x 4, 65 W) draws 2,674 W, less than its 32 nodes idle (5,760 W, --node-idle): its "
            "watts are of its devices (counters of CPUs, memory, GPUs); say what a node draws "
            "beside them (--base-power)") in said
    with pytest.raises(InputError, match="are they of its devices"):
        NodePower(idle_w=1200.0).at_bound(of("node"))
    assert NodePower(idle_w=1100.0).at_bound(of("node")).power_w[0] == 1100.0


def test_22_nodes_that_idle_at_3960_w_run_nothing_under_4_kw():
    """The same bound without what is beside the devices gave 20 nodes at full speed."""
    with pytest.raises(InputError, match="4000 W is below the smallest configuration"):
        wl.configure("BT-MZ", "4kW", nodes=22, node_idle="180W", base_power="145W")
    assert wl.configure("BT-MZ", "4kW", nodes=22).best.time_s < 6.1


def test_what_was_not_said_is_asked_for_where_it_matters_and_else_said(gpus):
    for given in ({"base_power": 900}, {"supply_efficiency": 0.9}):
        with pytest.raises(InputError, match="of what the watts of 'sim' are; say power_scope"):
            wl.configure("sim", "9kW", table=gpus, **given)
    remarks = wl.configure("sim", "9kW", table=gpus).remarks
    assert any("nobody said of what the watts of 'sim' are" in line for line in remarks)
    assert any("counts as 0 W" in line for line in wl.configure("BT-MZ", "3500W").remarks)
    for given in ({"base_power": 0, "power_scope": "devices"}, {"power_scope": "wall"}):
        said = wl.configure("sim", "9kW", table=gpus, **given).remarks
        assert not any("watts of" in line or "counts as" in line for line in said)


def test_a_file_says_of_what_its_watts_are(tmp_path):
    own = write(tmp_path / "own.csv", HEAD + ",power_scope", ",wall")
    assert read_measurements(own)["own"].power_scope == "wall"
    plain = write(tmp_path / "plain.csv")
    assert read_measurements(plain)["plain"].power_scope == ""
    assert read_measurements(plain, columns="power_scope=node")["plain"].power_scope == "node"
    named = write(tmp_path / "named.csv", HEAD.replace("power_w", "pkg_dram_w_all_nodes"))
    assert read_measurements(named)["named"].power_scope == "devices"
    with pytest.raises(InputError, match="power_scope is 'plug', must be one of devices, node"):
        read_measurements(write(tmp_path / "bad.csv", HEAD + ",power_scope", ",plug"))
    with pytest.raises(InputError, match="says 'node'"):
        read_measurements(own, columns="power_scope=node")
    with pytest.raises(InputError, match="are those of its nodes at the wall by their source"):
        wl.configure("own", "9kW", table=own, power_scope="devices")
    own.write_text(own.read_text().replace("120,8800,wall", "120,8800,node"))
    with pytest.raises(InputError, match="line 5: the watts of 'own' are of 'wall' in a row above"):
        read_measurements(own)


def test_models_and_stores_keep_what_their_watts_are_of(tmp_path):
    rows = [(n, g, cap, 4000 / (n * g) * (1 + 20 / cap), n * (60 + g * cap))
            for n in (1, 2, 4, 8) for g in (1, 2, 4) for cap in (200, 300, 400)]
    table = read_measurements(
        write(tmp_path / "sim.csv", HEAD + ",power_scope", ",node", rows))["sim"]
    found = wl.fit(tmp_path / "sim.csv", app="sim", train="50%")
    assert found.models["sim"].power_scope == "node"
    save_models({"sim": with_scope(fit(table), table.power_scope)}, tmp_path / "m.json")
    (model,) = load_models(tmp_path / "m.json").values()
    assert model.table().power_scope == "node"
    with Store(f"sqlite:///{tmp_path / 's.db'}") as opened:
        kept = ConfigurationStore(opened)
        kept.put(table)
        assert kept.table("sim").power_scope == "node"
        kept.put(of("wall"))
        assert kept.table("sim").power_scope == "wall"


def test_the_worst_case_counts_what_is_beside_the_devices():
    """Two packages of 115 W, 30 W of memory and 145 W of the rest: 405 W, so 9 nodes for 12."""
    plain, full = (wl.configure("BT-MZ", "3600W", **given) for given in
                   ({}, {"base_power": "145W"}))
    assert plain.to_dict()["node"]["power_w_max"] == 260.0
    assert full.to_dict()["node"]["power_w_max"] == pytest.approx(405.0)
    assert (plain.choice.worst_case.nodes, full.choice.worst_case.nodes) == (12, 8)
    assert full.choice.worst_case.power_w > plain.choice.worst_case.power_w / 12 * 8


@pytest.mark.parametrize("given", [
    {"supply_efficiency": 0}, {"supply_efficiency": 1.2}, {"base_power": -1},
    {"node_idle": float("nan")}, {"power_scope": "plug"}, {"bound_at": "plug"}])
def test_impossible_figures_are_refused(given):
    with pytest.raises(InputError):
        wl.configure("BT-MZ", "3500W", **given)


def test_published_choices_stay_to_the_digit():
    """Base 0 and watts of devices are the arithmetic of the publication."""
    table = shipped_models()["BT-MZ"].table()
    found = wl.configure("BT-MZ", "3500W", base_power=0)
    assert found.best == choose(table, 3500.0).best
    assert found.choice.worst_case == choose(table, 3500.0).worst_case


def test_a_prediction_says_of_what_its_watts_are():
    asked = {"nodes": 16, "cores": 16, "cap": "115W"}
    assert wl.predict("BT-MZ", **asked).to_dict()["power_scope"] == "devices"


def test_the_study_of_power_shares_takes_watts_of_devices_alone(tmp_path):
    wall = write(tmp_path / "wall.csv", HEAD + ",power_scope", ",wall")
    with pytest.raises(InputError, match="the watts of 'wall' are of its nodes at the wall, and"):
        tables_of([wall], None, 32)
