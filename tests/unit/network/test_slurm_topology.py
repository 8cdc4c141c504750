"""Interconnects from what Slurm is told of them, with the names of nodes."""

import json

import pytest
from tests.support.commands import call

from wattline.model.errors import InputError
from wattline.network.config import load_machine
from wattline.network.topology.slurm import read_slurm

CONF = """
SwitchName=leaf0 Nodes=n[00-03]
SwitchName=leaf1 Nodes=n[04-07]
SwitchName=leaf2 Nodes=n[08-11]
SwitchName=leaf3 Nodes=n[12-15]
SwitchName=mid0 Switches=leaf[0,2]
SwitchName=mid1 Switches=leaf[1,3]
SwitchName=top Switches=mid[0-1]
"""
SHOWN = """
SwitchName=leaf0 Level=0 LinkSpeed=1 Nodes=n[00-03]
SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[04-07]
SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n[08-11]
SwitchName=leaf3 Level=0 LinkSpeed=1 Nodes=n[12-15]
SwitchName=mid0 Level=1 LinkSpeed=1 Nodes=n[00-03,08-11] Switches=leaf[0,2]
SwitchName=mid1 Level=1 LinkSpeed=1 Nodes=n[04-07,12-15] Switches=leaf[1,3]
SwitchName=top Level=2 LinkSpeed=1 Nodes=n[00-15] Switches=mid[0-1]
"""
YAML = """
- topology: fabric
  cluster_default: true
  tree:
    switches:
      - {switch: "leaf[0-3]", nodes: ""}
- topology: racks
  block:
    block_sizes: [4]
    blocks:
      - {block: b0, nodes: "n[00-07]"}
      - {block: b1, nodes: "n[08-15]"}
"""


def write(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def test_a_list_of_nodes_may_go_on_in_the_next_line(tmp_path):
    continued = CONF.replace("n[04-07]", "n[04-05],\\\nn06,n07 ")
    assert "\\\n" in continued
    network = load_machine(str(write(tmp_path, "topology.conf", continued)))
    assert network.hosts == load_machine(str(write(tmp_path, "as_it_was.conf", CONF))).hosts


@pytest.mark.parametrize(("name", "text"), [
    ("topology.conf", "SwitchName=s0 Nodes=ALL\n"),
    ("topology.yaml", "- topology: a\n  tree:\n    switches:\n      - {switch: s0, nodes: ALL}\n")])
def test_all_nodes_of_slurm_are_not_one_node(tmp_path, name, text):
    with pytest.raises(InputError, match="'s0' has Nodes=ALL"):
        load_machine(str(write(tmp_path, name, text)))


def test_leaves_are_routers_and_the_switches_above_them_groups(tmp_path):
    network = load_machine(str(write(tmp_path, "topology.conf", CONF)))
    assert network.nodes == 16
    assert network.routers == 7
    # Leaves of one group stand beside each other, so nodes are numbered by groups.
    assert network.hosts[:8] == tuple(f"n{k:02}" for k in (0, 1, 2, 3, 8, 9, 10, 11))
    assert network.node_group.tolist() == [0] * 8 + [1] * 8
    up = network.link_gbit_s[(network.link_from == 0) & (network.link_to == 2)]
    assert up.tolist() == [400.0]  # what four nodes of 100 Gbit/s send
    assert "100 Gbit/s for each node" in network.remarks[0]


def test_a_tree_is_shown_as_it_is_wired(capsys, tmp_path):
    """Leaves of a group and the switch above them are one group; the top switch is in none."""
    path = str(write(tmp_path, "topology.conf", CONF))
    network = load_machine(path)
    assert network.router_group.tolist() == [0, 0, 0, 1, 1, 1, 2]
    found = json.loads(call(capsys, "network", "show", path, "--json")[1])
    assert (found["groups"], found["routers_per_group"]) == (2, 3)
    kinds = {kind.pop("kind"): kind for kind in found["links_by_kind"]}
    assert kinds == {
        "local": {"count": 8, "gbit_s": 400.0, "gbit_s_least": 400.0, "gbit_s_most": 400.0,
                  "gbit_s_total": 3200.0},
        "global": {"count": 4, "gbit_s": 800.0, "gbit_s_least": 800.0, "gbit_s_most": 800.0,
                   "gbit_s_total": 3200.0}}
    uneven = CONF.replace("n[12-15]", "n[12-13]")
    said = call(capsys, "network", "show", str(write(tmp_path, "topology.conf", uneven)))[1]
    assert "200 to 400" in said


def test_what_scontrol_prints_is_the_same_network(tmp_path):
    written = read_slurm(write(tmp_path, "topology.conf", CONF))
    shown = load_machine(str(write(tmp_path, "shown.txt", SHOWN)))
    assert shown.hosts == written.hosts
    for field in ("node_router", "router_group", "link_from", "link_to", "link_gbit_s"):
        assert getattr(shown, field).tolist() == getattr(written, field).tolist()


def test_blocks_of_a_yaml_file_are_groups(tmp_path):
    network = read_slurm(write(tmp_path, "topology.yaml", YAML), section="racks", taper=2.0)
    assert network.node_group.tolist() == [0] * 8 + [1] * 8
    assert sorted(set(network.link_gbit_s.tolist())) == [400.0]  # eight nodes, over two
    assert "a core that joins them is assumed" in network.remarks[-1]


@pytest.mark.parametrize(("text", "message"), [
    ("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\nSwitchName=t Switches=a,b\n",
     "'n1' hangs on two switches, 'a' and 'b'"),
    ("SwitchName=t Switches=a\n", "leads to 'a', which the file does not describe"),
    ("SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "no switch leads to a node"),
    ("SwitchName=a Nodes=n1\nSwitchName=b Switches=c\nSwitchName=c Switches=b\n",
     "lies above itself"),
    ("SwitchName=a Nodes=n1\nSwitchName=b Switches=a\nSwitchName=c Switches=a\n",
     "hangs on two switches, 'b' and 'c'"),
    ("\n", "topology.conf is empty"),
])
def test_a_file_that_is_no_tree_is_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        load_machine(str(write(tmp_path, "topology.conf", text)))


def test_any_network_can_have_names_for_its_nodes(tmp_path):
    path = write(tmp_path, "machine.toml", "[network]\nhosts = 'nid[000-271]'\n")
    assert load_machine(str(path)).host(271) == "nid271"
    write(tmp_path, "machine.toml", "[network]\nhosts = 'nid[000-270]'\n")
    with pytest.raises(InputError, match=r"hosts has 271 names .*, and the network 272 nodes"):
        load_machine(str(path))
    write(tmp_path, "machine.toml",
          "[network]\nmachine = 'dragonfly-272'\nhosts = 'nid[000-271]'\n")
    assert load_machine(str(path)).host(271) == "nid271"
    write(tmp_path, "topology.conf", CONF)
    write(tmp_path, "machine.toml", "[network]\nmachine = 'topology.conf'\nhosts = 'x[00-15]'\n")
    with pytest.raises(InputError, match="hosts are named by its file already"):
        load_machine(str(path))


def test_nodes_without_names_are_numbers_and_that_is_said(capsys):
    _, out, err = call(capsys, "network", "nodes", "dragonfly-272", "--size", "4", "--busy",
                       "[0-5]")
    assert out == "[8-11]\n"
    assert "nodes of 'dragonfly-272' have no names, these are their numbers" in err


def test_a_host_list_for_sbatch_of_nodes_that_are_free(capsys, tmp_path):
    path = str(write(tmp_path, "topology.conf", CONF))
    status, out, err = call(capsys, "network", "nodes", path, "--size", "3", "--free",
                            "n[02-07,12-15],login1", "--placement", "level-spread")
    assert (status, out) == (0, "n[04-06]\n")  # the first leaf with the most idle nodes
    assert "does not have 1 host (login1); left out" in err
    assert "are assumed" in err
    found = json.loads(call(capsys, "network", "nodes", path, "--size", "6", "--busy", "n[00-03]",
                            "--placement", "simple", "--json")[1])
    assert found["hosts"] == ["n08", "n09", "n10", "n11", "n04", "n05"]
    assert (found["routers"], found["groups"], found["free"]) == (2, 2, 12)
    assert not any("login" in remark for remark in found["remarks"])


def test_a_host_list_is_on_the_fewest_leaves(capsys, tmp_path):
    """A job of 20 nodes on leaves of 18 is on two of them, whatever the size of the tree."""
    leaves = [f"SwitchName=leaf{n} Nodes=n[{18 * n + 1}-{18 * n + 18}]" for n in range(12)]
    path = str(write(tmp_path, "topology.conf", "\n".join(
        [*leaves, "SwitchName=top Switches=leaf[0-11]", ""])))
    status, out, err = call(capsys, "network", "nodes", path, "--size", "20")
    assert (status, out) == (0, "n[1-20]\n")
    assert "placement 'best-fit' is taken, the default on a tree" in err


@pytest.mark.parametrize(("argv", "message"), [
    (("--size", "17"), "asks for 17 nodes, but network 'topology' has only 16"),
    (("--size", "5", "--free", "n[00-03]"), "only 4 of 16 are free"),
    (("--size", "1", "--free", "n00", "--busy", "n01"), "give one of them"),
    (("--size", "1", "--free", "x[1-3]"), "has none of the hosts given (x1, x2, x3)"),
    (("--size", "1", "--free", "0-5"), "write a range in brackets: [0-5]"),
    (("--size", "1", "--placement", "nedd"), "goes by the counters of routers, and none are given"),
    (("--size", "1", "--free", "n[0"), "is not a host list"),
])
def test_what_cannot_be_answered_is_one_line(capsys, tmp_path, argv, message):
    path = str(write(tmp_path, "topology.conf", CONF))
    status, out, err = call(capsys, "network", "nodes", path, *argv)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_load_says_which_bandwidths_it_took(capsys, tmp_path):
    path = str(write(tmp_path, "topology.conf", CONF))
    argv = ("network", "load", path, "--pattern", "uniform", "--routing", "minimal", "--messages",
            "15")
    found = json.loads(call(capsys, *argv, "--json")[1])
    assert found["limit"] == pytest.approx(1.0)  # without a taper nothing but node links is full
    assert "are assumed" in found["remarks"][0]
    assert len(found["remarks"]) == 1
    found = json.loads(call(capsys, *argv[:6], "valiant", *argv[7:], "--json")[1])
    assert "has no detours: packets take its shortest ways" in found["remarks"][1]
    assert "are assumed" in call(capsys, *argv)[1]


def test_nothing_said_of_nodes_is_said(capsys, tmp_path):
    path = str(write(tmp_path, "topology.conf", CONF))
    assert "all are taken to be" in call(capsys, "network", "nodes", path, "--size", "1")[2]
