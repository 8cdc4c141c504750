"""Views from a site's files: names as they are written, and what was left out is said."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from tests.shared_data import shared
from tests.support.commands import call, ok, refused

import wattline as wl
from wattline.model.errors import InputError, WattlineWarning
from wattline.model.views.build import read_views

CONF = """ClusterName=tiny
NodeName=cn1-gpu-[01-02] Sockets=2 CoresPerSocket=8 RealMemory=1000 Gres=gpu:a100:4
NodeName=cn1-cpu-[01-02] CPUs=32 RealMemory=2000
"""
TOPOLOGY = """SwitchName=leaf1 Nodes=cn1-gpu-[01-02],cn1-cpu-01,old1
SwitchName=leaf2 Nodes=cn1-cpu-01
SwitchName=top Switches=leaf[1-2],leaf9
"""


@pytest.fixture
def slurm(tmp_path):
    for name, text in (("slurm.conf", CONF), ("topology.conf", TOPOLOGY),
                       ("gres.conf", "NodeName=cn1-gpu-01 Name=gpu Count=3\n")):
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in ("gres.conf", "topology.conf", "slurm.conf")]


@pytest.mark.filterwarnings("ignore::wattline.model.errors.WattlineWarning")
def test_slurm_files_make_views_that_check_takes(slurm, tmp_path, capsys):
    file = tmp_path / "views.toml"
    found = wl.import_views(*slurm, output=file)
    again = read_views(file)
    assert list(again) == list(found.views) == ["resources", "network"]
    for views in (found.views, again):
        assert views["resources"].get("tiny", "cores") == 2 * 16 + 2 * 32
        assert views["resources"].get("tiny", "gres/gpu") == 8
        tree = views["network"].tree
        assert [tree.names[place] for place in tree.of_type("node")] == [
            "cn1-gpu-01", "cn1-gpu-02", "cn1-cpu-01"]
        assert views["network"].get("top", "memory_mb") == 4000
    assert "network           6     4       0" in ok(capsys, "view", "check", file)
    said = " / ".join(found.remarks)
    assert "cn1-gpu-01 has 4 x gpu by slurm.conf and 3 by gres.conf; the former counts" in said
    assert "old1 are no nodes of slurm.conf" in said
    assert "cn1-cpu-01 hang on several switches" in said
    assert "cn1-cpu-02 of slurm.conf hang on no switch" in said
    assert "'top' leads to 'leaf9'" in said
    assert all(f"# {line}" in file.read_text() for line in found.remarks)


def test_the_command_says_what_python_says(slurm, tmp_path, capsys):
    with pytest.warns(WattlineWarning, match="hang on no switch"):
        found = wl.import_views(*slurm)
    status, out, err = call(capsys, "view", "import", *slurm)
    assert (status, out) == (0, found.toml)
    assert err.splitlines() == [f"wattline: {line}" for line in found.remarks]
    printed = json.loads(ok(capsys, "view", "import", *slurm, "--json"))
    assert printed == found.to_dict() | {"toml": found.toml}
    file = tmp_path / "v.toml"
    printed = json.loads(ok(capsys, "view", "import", *slurm, "-o", file, "--json"))
    assert printed == found.to_dict() | {"file": str(file)}
    assert file.read_text() == found.toml


def test_a_table_of_parents_becomes_a_bounded_view(tmp_path):
    """Lists in brackets with commas need no quotes; with watts the view has bounds."""
    file = tmp_path / "power.csv"
    file.write_text('parent,child\npdu1,rack1\npdu1,"rack2"\nrack1,n[1,3]\nrack2,n[01-02]\n'
                    ',"a ""b"""\n')
    found = wl.import_views(file, idle_w="100W", limits={"rack1": "1kW"})
    view = found.views["power"]
    assert view.get("pdu1", "power_w") == 400
    assert view.get("rack1", "limit_w") == 1000
    assert view.headroom("n3") == 800
    assert {view.tree.names[place] for place in view.tree.of_type("node")} == {
        "n1", "n3", "n01", "n02", 'a "b"'}
    assert found.remarks == ()


def test_with_a_slurm_conf_the_nodes_of_a_table_are_its_nodes(slurm, tmp_path):
    table = tmp_path / "cooling.csv"
    table.write_text("cn1-gpu-[01-02];loop1\npump;loop1\n")
    with pytest.warns(WattlineWarning):
        found = wl.import_views(slurm[2], table)
    assert found.views["cooling"].get("loop1", "nodes") == 2
    assert any("pump have nothing below them" in line for line in found.remarks)
    assert any("cn1-cpu-[01-02] of slurm.conf are not in the table" in line
               for line in found.remarks)


def chassis(name, kind="Sled", **links):
    return {"@odata.type": "#Chassis.v1_22_0.Chassis", "@odata.id": f"/redfish/v1/Chassis/{name}",
            "ChassisType": kind, "Links": {
                key: [{"@odata.id": f"/redfish/v1/{each}"} for each in value]
                if isinstance(value, list) else {"@odata.id": f"/redfish/v1/{value}"}
                for key, value in links.items()}}


def system(name, host=""):
    return {"@odata.type": "#ComputerSystem.v1_5_0.ComputerSystem", "HostName": host,
            "@odata.id": f"/redfish/v1/Systems/{name}"}


RACK = [
    chassis("Rack1", "Rack", Contains=["Chassis/Sled1"],
            ComputerSystems=["Systems/S1", "Systems/Sled2"]),
    chassis("Sled1", ComputerSystems=["Systems/S1"], PoweredBy=[
        "PowerEquipment/RackPDUs/PDU-A/Outlets/A1", "PowerEquipment/RackPDUs/PDU-B/Outlets/B1",
        "Chassis/Sled1/PowerSubsystem/PowerSupplies/1"]),
    chassis("Sled2", ContainedBy="Chassis/Rack1", ComputerSystems=["Systems/Sled2"],
            PoweredBy=["PowerEquipment/RackPDUs/PDU-A/Outlets/A2"]),
    system("S1", "cn1-gpu-01"),
]


def test_redfish_links_make_a_view_of_chassis_and_one_per_feed(tmp_path):
    """A sled that is linked from above and one from below; the innermost chassis has the system."""
    for number, resource in enumerate(RACK):
        (tmp_path / f"{number}.json").write_text(json.dumps(resource))
    with pytest.warns(WattlineWarning):
        found = wl.import_views(tmp_path)
    rows = {name: {row["entity"]: row["nodes"] for row in view.rows()}
            for name, view in found.views.items()}
    assert rows["chassis"] == {"Rack1": 2, "Sled1": 1, "Sled2": 1, "cn1-gpu-01": 1,
                               "Systems/Sled2": 1}
    assert found.views["chassis"].tree.types[0] == "rack"
    assert rows["feedA"] == {"PDU-A": 2, "cn1-gpu-01": 1, "Systems/Sled2": 1}
    assert rows["feedB"] == {"PDU-B": 1, "cn1-gpu-01": 1}
    assert len(found.remarks) == 2
    assert "1 systems without a HostName" in found.remarks[0]
    assert "1 nodes have no feed number 2" in found.remarks[1]
    single = tmp_path / "all.json"
    single.write_text(json.dumps({"Members": RACK}))
    with pytest.warns(WattlineWarning):
        assert wl.import_views(single).to_dict()["views"] == found.to_dict()["views"]


@pytest.mark.parametrize(("name", "text", "said"), [
    ("a.csv", "n1,r1\nn1,r2\n", "a.csv:2: 'n1' is in 'r2', and by"),
    ("a.csv", "n1\n", "a.csv:1: 'n1' is not two columns"),
    ("a.csv", "n1,r1,x\n", "a.csv:1: 'n1,r1,x' is not two columns"),
    ("a.csv", "", "has no lines"),
    ("a.csv", "a,b\nb,a\n", "cyclic"),
    ("a.csv", "n\x00,b\n", "a.csv:1: 'n\\x00' is no name"),
    ("a.csv", "n1,r1\n,\n", "a.csv:2: '' is no name"),
    ("a.json", "{", "a.json:1: not a JSON file"),
    ("a.json", "[" * 100_000, "not a JSON file"),
    ("a.json", "[]", "has no chassis"),
    ("a.json", json.dumps([chassis("A"), chassis("A")]), "/redfish/v1/Chassis/A stands in"),
    ("a.json", json.dumps([chassis("A", Contains=["Chassis/B"]),
                           chassis("B", ContainedBy="Chassis/C")]), "it can stand in one"),
    ("a.json", json.dumps([chassis("A", ContainedBy="Chassis/A", ComputerSystems=["S/1"])]),
     "circle"),
    ("gres.conf", "Name=gpu\n", "give the slurm.conf"),
    ("slurm.conf", "ClusterName=a\n", "no NodeName line"),
    ("topology.yaml", "- {topology: plain, flat: true}", "has no switches to show"),
])
def test_a_source_that_cannot_be_is_refused_in_one_line(tmp_path, name, text, said, capsys):
    file, views = tmp_path / name, tmp_path / "views.toml"
    file.write_text(text)
    assert said in refused(capsys, "view", "import", file, "-o", views)
    assert not views.exists()


def test_refusals_of_what_was_asked_for(slurm, tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("n[1-2],pdu\n")
    ask = ("view", "import", table)
    assert "no view has an entity 'pdo'" in refused(capsys, *ask, "--idle-w", 1, "--limit",
                                                    "pdo=1kW")
    assert "needs --idle-w" in refused(capsys, *ask, "--limit", "pdu=1kW")
    assert "power_w of entity 'pdu' would be 200, above its limit_w of 100" in refused(
        capsys, *ask, "--idle-w", "100W", "--limit", "pdu=100W")
    assert "is a second file of the kind of" in refused(capsys, "view", "import", slurm[2],
                                                        slurm[2])
    with pytest.raises(InputError, match="at least one file"):
        wl.import_views()


def test_names_that_a_views_file_cannot_hold_are_left_out_with_what_hangs_on_them(tmp_path):
    odd = chassis("Rack[A]", Contains=["Chassis/Sled1"], ComputerSystems=[])
    (tmp_path / "a.json").write_text(json.dumps([odd, chassis("Fine<b>=1+1")]))
    with pytest.warns(WattlineWarning, match=r"2 parts whose names .*'Rack\[A\]', 'Sled1'"):
        found = wl.import_views(tmp_path / "a.json")
    assert found.views["chassis"].tree.names == ("Fine<b>=1+1",)


@pytest.mark.filterwarnings("ignore::wattline.model.errors.WattlineWarning")
@pytest.mark.parametrize(("site", "cores", "gpus"), [("micro", 120, 2), ("medium", 7968, 20)])
def test_public_sites_become_views(site, cores, gpus):
    files = [shared(f"slurm_sites/{site}/{name}")
             for name in ("slurm.conf", "topology.conf", "gres.conf")]
    network = wl.import_views(*files).views["network"]
    assert (network.get("TOP", "cores"), network.get("TOP", "gres/gpu")) == (cores, gpus)


@pytest.mark.filterwarnings("ignore::wattline.model.errors.WattlineWarning")
@pytest.mark.parametrize(("folder", "names"), [
    ("ceems", {"Chassis-1", "System-1"}),
    ("telegraf", {"System.Embedded.1", "Enclosure.Internal.0-1:RAID.Integrated.1-1",
                  "tpa-hostname"})])
def test_public_redfish_resources_become_views(folder, names):
    view = wl.import_views(shared(f"fixtures/redfish/{folder}")).views["chassis"]
    assert set(view.tree.names) == names


def test_two_tables_of_feeds_bound_a_machine_with_names(tmp_path, capsys):
    """Half from each feed, and each must carry both: 900 W are 300 W more than idle, one busy node.

    Without the failure case each feed has 300 W and 600 W more: four busy nodes draw 400 W.
    """
    for name, order in (("feedA", "cn[1-6]"), ("feedB", "cn[4-6],cn[1-3]")):
        (tmp_path / f"{name}.csv").write_text(f'"{order}",ups{name[-1]}\n')
    tables = [tmp_path / "feedA.csv", tmp_path / "feedB.csv"]
    file = tmp_path / "feeds.toml"
    given = ("--idle-w", "100W", "--limit", "upsA=900W", "--limit", "upsB=900W", "-o", file)
    halves = ("--share", "feedA=50%", "--share", "feedB=0.5")

    def starts():
        jobs = pd.DataFrame({"submit_s": [0] * 4, "run_s": [10] * 4, "procs": [1] * 4})
        run = wl.simulate(jobs, machine=wl.Machine(nodes=6, node_idle_w=100, node_active_w=300,
                                                   node_names="cn[1-6]"),
                          placement=wl.Bounded(views=str(file)))
        assert wl.verify(run).sentences == []
        assert run.assumed == ()
        return run.schedule.start_s.tolist()

    ok(capsys, "view", "import", *tables, *given, *halves)
    assert starts() == [0, 0, 0, 0]
    ok(capsys, "view", "import", *tables, *given, *halves, "--failover")
    assert starts() == [0, 10, 20, 30]
    assert "there is no view 'feedC'" in refused(capsys, "view", "import", *tables, *given,
                                                 "--share", "feedC=1")
    assert "add up to 0.9, must be 1" in refused(capsys, "view", "import", *tables, *given,
                                                 "--share", "feedA=0.5", "--share", "feedB=40%",
                                                 "--failover")
    assert "at least two views" in refused(capsys, "view", "import", *tables, *given, "--failover")
    assert "is not like feedA=50%" in refused(capsys, "view", "import", *tables, *given, "--share",
                                              "x")
