"""slurm.conf, gres.conf and topology files: what they say, and where a mistake stands."""

from __future__ import annotations

import pytest
from tests.shared_data import shared

from wattline.model.errors import InputError
from wattline.site.gres import gres_of, read_gres
from wattline.site.slurm_conf import read_slurm_conf
from wattline.site.topology import read_topology

CONF = r"""
ClusterName=tiny  # the cluster
Include nodes_%c.conf
NODENAME=DEFAULT Sockets=2 corespersocket=8 ThreadsPerCore=2 RealMemory=64000 Feature=old Gres=gpu:1
NodeName=cn1-gpu-[01-02],cn1-cpu-01 \
    Features="ib,new" Weight=10
NodeName=DEFAULT Gres=gpu:a100:4(S:0-1) CPUs=16
NodeName=fat[1-2] Boards=1 Colour=red   RealMemory=2K
NodeSet=gpus Feature=new
PartitionName=DEFAULT MaxTime=60
PartitionName=all Nodes=ALL
PartitionName=some Nodes=gpus,extra1,cn9 MaxTime=30
DownNodes=fat[1-2] State=FAIL Reason="a \#1 fan"
SchedulerType=sched/backfill
schedulertype=sched/builtin
"""


@pytest.fixture
def conf(tmp_path):
    (tmp_path / "nodes_tiny.conf").write_text("NodeName=extra1 CPUs=4\n")
    path = tmp_path / "slurm.conf"
    path.write_text(CONF)
    return read_slurm_conf(path)


def test_nodes_have_their_own_words_and_those_of_default_lines_before_them(conf):
    nodes = {node.name: node for node in conf.nodes}
    assert list(nodes) == ["extra1", "cn1-gpu-01", "cn1-gpu-02", "cn1-cpu-01", "fat1", "fat2"]
    assert (nodes["extra1"].cpus, nodes["extra1"].cores, nodes["extra1"].gres) == (4, 4, "")
    gpu = nodes["cn1-gpu-01"]
    assert (gpu.cpus, gpu.cores, gpu.memory_mb, gpu.gres) == (32, 16, 64000, "gpu:1")
    assert gpu.features == ("ib", "new")
    assert gpu.settings["weight"] == "10"
    fat = nodes["fat2"]
    assert (fat.cpus, fat.cores, fat.memory_mb, fat.features) == (16, 16, 2048, ("old",))
    assert gres_of(fat.gres, "x") == {"gpu": 4}


def test_partitions_know_all_node_sets_and_what_no_line_defines(conf):
    parts = {part.name: part for part in conf.partitions}
    assert len(parts["all"].nodes) == 6
    assert parts["some"].nodes == ("cn1-gpu-01", "cn1-gpu-02", "cn1-cpu-01", "extra1")
    assert [parts[name].settings["maxtime"] for name in ("all", "some")] == ["60", "30"]
    assert any("partition 'some'" in line and "cn9" in line for line in conf.remarks)


def test_the_rest_is_kept_and_what_is_unknown_is_said(conf):
    assert conf.cluster == "tiny"
    assert conf.settings["schedulertype"] == "sched/builtin"
    assert (conf.down[0].nodes, conf.down[0].reason) == (("fat1", "fat2"), "a #1 fan")
    said = " / ".join(conf.remarks)
    assert "slurm.conf:8: nothing is done with Colour of a node" in said
    assert "slurm.conf:15: schedulertype again" in said


@pytest.mark.parametrize(("text", "said"), [
    ("CPUs=1 cpus=2", "CPUs=1 and cpus=2"), ("CPUs=2 CPUs=2", "CPUs=2 and CPUs=2")])
def test_of_a_key_that_stands_twice_in_a_line_the_last_counts(tmp_path, text, said):
    path = tmp_path / "slurm.conf"
    path.write_text(f"ClusterName=a\nNodeName=n1 {text}\n")
    found = read_slurm_conf(path)
    assert [node.cpus for node in found.nodes] == [2]
    assert found.remarks == (
        f"{path}:2: {said} stand in one line: the last one counts, as in Slurm",)
    gres = tmp_path / "gres.conf"
    gres.write_text("NodeName=n1 Name=gpu Count=3 Count=2\n")
    assert read_gres(gres).counts(["n1"]) == {"n1": {"gpu": 2}}
    assert "Count=3 and Count=2 stand in one line" in read_gres(gres).remarks[0]
    switches = tmp_path / "topology.conf"
    switches.write_text("SwitchName=s Nodes=n2 Nodes=n1\n")
    assert "Nodes=n2 and Nodes=n1 stand in one line" in read_topology(switches).remarks[0]


@pytest.mark.parametrize(("text", "said"), [
    ("NodeName=n[1-2]\nNodeName=n2\n", "slurm.conf:2: node 'n2' is defined a second time"),
    ("ClusterName=x\n", "slurm.conf: no NodeName line"),
    ("NodeName=n1 oops\n", "slurm.conf:1: 'oops' is not Key=Value"),
    ("NodeName=n1 CPUs=four\n", "slurm.conf:1: cpus is 'four'"),
    ("\n\nNodeName=n[3-1]\n", "slurm.conf:3: 'n[3-1]' counts down"),
    ("NodeName=n[1-\n", "slurm.conf:1: 'n[1-' is not a host list"),
    ("NodeName=n1 nodename=n2\n", "slurm.conf:1: nodename stands twice"),
    ("Include nowhere.conf\n", "slurm.conf:1: includes nowhere.conf, which is not there"),
    ("Include slurm.conf\n", "is included by itself"),
    ("NodeName=n\x01\n", "slurm.conf:1: 'n\\x01' is no name"),
    ("NodeName=n\0\n", "is no name"),
])
def test_a_mistake_is_one_line_with_its_place(tmp_path, text, said):
    path = tmp_path / "slurm.conf"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_slurm_conf(path)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_gres_by_count_by_files_or_for_all_nodes(tmp_path):
    path = tmp_path / "gres.conf"
    path.write_text("AutoDetect=nvml\nNodeName=g[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-3]\n"
                    "NodeName=g1 Name=gpu Type=t4 Count=1\nName=bandwidth Count=2K Odd=1\n")
    found = read_gres(path)
    assert found.counts(["g1", "g2", "c1"]) == {
        "g1": {"gpu": 5, "bandwidth": 2048}, "g2": {"gpu": 4, "bandwidth": 2048},
        "c1": {"bandwidth": 2048}}
    said = " / ".join(found.remarks)
    assert "gres.conf:4: nothing is done with Odd" in said
    assert "AutoDetect=nvml" in said


TREE = """
- topology: main
  cluster_default: true
  tree:
    switches:
      - switch: top
        children: s[1-2]
      - {switch: s1, nodes: "n[01-02]"}
      - {switch: s2, nodes: "n[03-04]"}
- topology: blocks
  block:
    block_sizes: [2]
    blocks: [{block: b1, nodes: "n[01-02]"}]
- {topology: plain, flat: true}
- {topology: ring, torus3d: {}}
"""


def test_a_topology_in_yaml_says_the_same_as_one_in_conf(tmp_path):
    first, second = tmp_path / "topology.yaml", tmp_path / "topology.conf"
    first.write_text(TREE)
    second.write_text("SwitchName=top Switches=s[1-2]\nSwitchName=s1 Nodes=n[01-02] LinkSpeed=9\n"
                      "SwitchName=s2 Nodes=n[03-04]\n")
    yaml, conf = read_topology(first), read_topology(second)
    assert [(t.name, t.kind, t.default) for t in yaml.found] == [
        ("main", "tree", True), ("blocks", "block", False), ("plain", "flat", False)]
    assert [(s.name, s.nodes, s.switches) for s in yaml.found[0].switches] == [
        (s.name, s.nodes, s.switches) for s in conf.found[0].switches]
    assert yaml.found[1].switches[0].nodes == ("n01", "n02")
    assert yaml.remarks == (f"{first}: topology 'ring' is neither tree, block nor flat (torus3d); "
                            "left out",)


@pytest.mark.parametrize(("name", "text", "said"), [
    ("topology.yaml", "- topology: [", "topology.yaml:1: not a YAML file"),
    ("topology.yaml", "tree: 1", "must be a list of topologies"),
    ("topology.yaml", "- topology: a\n  tree: {switches: 3}", "needs a list 'switches'"),
    ("topology.yaml", "- &a {topology: x}\n- *a", "has a YAML alias"),
    ("topology.yaml", "- topology: a\n  tree: {switches: [{switch: s}, {switch: s}]}",
     "'s' is defined a second time"),
    ("topology.yaml", "- !!python/object/apply:os.system ['true']", "not a YAML file"),
    ("topology.conf", "SwitchName=a Nodes=n1\nBlockName=b Nodes=n1\n", "both SwitchName and"),
    ("topology.conf", "SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n",
     "topology.conf:2: 'a' is defined a second time"),
])
def test_a_topology_that_cannot_be_is_refused_in_one_line(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as error:
        read_topology(tmp_path / name)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("site", "nodes", "cores", "gpus", "parts"), [
    ("micro", 10, 120, 1, [10, 2]), ("medium", 217, 87 * 32 + 2 * 32 + 128 * 40, 20, [215, 2])])
def test_the_files_of_public_sites_are_read(site, nodes, cores, gpus, parts):
    conf = read_slurm_conf(shared(f"slurm_sites/{site}/slurm.conf"))
    gres = read_gres(shared(f"slurm_sites/{site}/gres.conf"))
    topology = read_topology(shared(f"slurm_sites/{site}/topology.conf"))
    assert (len(conf.nodes), sum(node.cores for node in conf.nodes)) == (nodes, cores)
    assert [len(part.nodes) for part in conf.partitions] == parts
    counts = gres.counts([node.name for node in conf.nodes])
    assert sum(found.get("gpu", 0) for found in counts.values()) == gpus
    assert [s.name for s in topology.found[0].switches] == ["IBN", "IBM", "IBG", "TOP"]
    assert conf.remarks == gres.remarks == topology.remarks == ()
