"""Values that slurm.conf may have are read as Slurm reads them; unknown words are listed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import site, submit

from wattline.scenario.twin.site import Site
from wattline.shared_nodes.machine import EXCLUSIVE_USER, KEEP, REQUEUE
from wattline.shared_nodes.rules import BASIC, MULTIFACTOR
from wattline.site.slurm_conf import read_slurm_conf

CONF = """ClusterName=small
NodeName=n[1-2] CPUs=4 RealMemory=4000
PartitionName=p Nodes=ALL Default=YES {partition}
{lines}
"""


def _site(folder: Path, lines: str = "", partition: str = "", accounts: str | None = None) -> Site:
    return site(folder, submit("-n 1"), CONF.format(lines=lines, partition=partition), accounts)


@pytest.mark.parametrize(("lines", "kind", "said"), [
    ("", BASIC, "priority/multifactor (not in slurm.conf; Slurm's default since 23.11"),
    ("PriorityWeightFairshare=1000", MULTIFACTOR, "default since 23.11"),
    ("PriorityWeightAge=0", BASIC, "default since 23.11"),
    ("PriorityType=priority/basic\nPriorityWeightAge=5", BASIC, ""),
    ("PriorityType=priority/multifactor", MULTIFACTOR, ""),
])
def test_priority_type(tmp_path: Path, lines: str, kind: str, said: str) -> None:
    found = _site(tmp_path, lines)
    assert found.rules.priority.kind == kind
    assumed = [line for line in found.lists.assumed if line.startswith("PriorityType")]
    assert [said in line for line in assumed] == [True] * bool(said)


@pytest.mark.parametrize(("word", "kept"), [
    ("YES", "any"), ("up", "any"), ("TRUE", "any"), ("1", "any"), ("ANY", "any"), ("ALL", "all"),
    ("NO", "no"), ("0", "no"), ("FALSE", "no"), ("down", "no"),
])
def test_enforce_part_limits(tmp_path: Path, word: str, kept: str) -> None:
    assert _site(tmp_path, f"EnforcePartLimits={word}").rules.enforce_part_limits == kept


@pytest.mark.parametrize("line", [
    "EnforcePartLimits=maybe", "PriorityType=priority/odd", "SchedulerType=sched/odd",
    "PriorityFavorSmall=maybe", "PriorityFlags=FOO", "PreemptMode=odd", "PreemptType=preempt/odd",
])
def test_an_unknown_word_is_listed(tmp_path: Path, line: str) -> None:
    key, word = line.split("=")
    listed = [said for said in _site(tmp_path, line).lists.unknown if key in said]
    assert len(listed) == 1
    assert word in listed[0]


def test_preempt_mode_priority_is_not_modelled(tmp_path: Path) -> None:
    found = _site(tmp_path, "PreemptType=preempt/qos\nPreemptMode=REQUEUE,PRIORITY")
    assert found.machine.partitions.preempt_mode.tolist() == [REQUEUE]
    assert any("PreemptMode PRIORITY" in line for line in found.lists.not_modelled)
    assert found.lists.contradictions == ()


@pytest.mark.parametrize(("kind", "mode", "goes"), [
    ("partition_prio", "OFF", False), ("partition_prio", "", False), ("qos", "GANG", False),
    ("none", "REQUEUE", False), ("none", "OFF", True), ("none", "", True),
    ("qos", "CANCEL", True), ("partition_prio", "SUSPEND,GANG", True), ("", "REQUEUE", False),
])
def test_preemption_that_slurm_does_not_start_with(
    tmp_path: Path, kind: str, mode: str, goes: bool
) -> None:
    lines = (f"PreemptType=preempt/{kind}\n" if kind else "") + (
        f"PreemptMode={mode}\n" if mode else "")
    found = _site(tmp_path, lines)
    assert any("does not go with PreemptMode" in line
               for line in found.lists.contradictions) == (not goes)
    if mode in ("", "OFF", "GANG"):
        assert found.machine.partitions.preempt_mode.tolist() == [KEEP]


@pytest.mark.parametrize("word", ["YES", "TRUE", "up", "1", "NO", "false", "0", "odd"])
def test_exclusive_user(tmp_path: Path, word: str) -> None:
    found = _site(tmp_path, partition=f"ExclusiveUser={word}")
    is_own = word in ("YES", "TRUE", "up", "1")
    assert (found.machine.partitions.sharing[0] == EXCLUSIVE_USER) == is_own
    assert any("ExclusiveUser=odd" in line for line in found.lists.unknown) == (word == "odd")


def test_suspend_time_none_is_never(tmp_path: Path) -> None:
    assert _site(tmp_path, "SuspendTime=NONE").rules.suspend_time_s < 0


def test_an_option_without_its_number_is_passed_over(tmp_path: Path) -> None:
    found = _site(tmp_path, "SchedulerParameters=bf_interval,bf_window=60")
    assert found.rules.bf_interval_s == 30.0
    assert found.rules.bf_window_s == 3600.0
    assert any("bf_interval has no value" in line for line in found.lists.contradictions)


def test_of_an_option_that_stands_twice_the_first_counts(tmp_path: Path) -> None:
    found = _site(tmp_path, "SchedulerParameters=bf_interval=10,bf_interval=100")
    assert found.rules.bf_interval_s == 10.0
    assert any("bf_interval=100" in line and "first counts" in line
               for line in found.lists.contradictions)


@pytest.mark.parametrize("setting", ["AllowAccounts", "DenyAccounts"])
@pytest.mark.parametrize("named", ["phys", "sub", "bio"])
def test_accounts_below_those_named_count_with_them(
    tmp_path: Path, setting: str, named: str
) -> None:
    accounts = ("add cluster Name=small\nadd account name=phys\nadd account name=sub parent=phys\n"
                "add account name=deep parent=sub\nadd account name=bio\n"
                "add user name=ada account=deep\n")
    found = _site(tmp_path, partition=f"{setting}={named}", accounts=accounts)
    below = {"phys": {"phys", "sub", "deep"}, "sub": {"sub", "deep"}, "bio": {"bio"}}[named]
    allowed = dict(zip(found.machine.associations.accounts,
                       found.machine.partitions.allowed_accounts[0].tolist(), strict=True))
    for name in ("phys", "sub", "deep", "bio"):
        assert allowed[name] == ((name in below) == (setting == "AllowAccounts"))
    assert any("since 23.02" in line for line in found.lists.assumed) == (len(below) > 1)


@pytest.mark.parametrize("plugin", ["", "topology/default", "topology/3d_torus", "topology/block",
                                    "topology/tree"])
@pytest.mark.parametrize("given", [True, False])
def test_a_topology_that_is_not_followed_is_said(
    tmp_path: Path, plugin: str, given: bool
) -> None:
    switches = tmp_path / "topology.conf"
    switches.write_text("SwitchName=s1 Nodes=n[1-2]\n")
    lines = f"TopologyPlugin={plugin}" if plugin else ""
    found = site(tmp_path, submit("-n 1"), CONF.format(lines=lines, partition=""), None,
                 **({"topology": str(switches)} if given else {}))
    is_tree = plugin == "topology/tree"
    assert found.rules.topology_tree == (is_tree and given)
    assert any("nothing is done with the file" in line
               for line in found.lists.not_modelled) == (given and not is_tree)
    followed = plugin in ("topology/default", "topology/tree")
    assert any(plugin and plugin in line for line in found.lists.understood) == followed
    other = plugin in ("topology/3d_torus", "topology/block")
    said = [line for line in found.lists.not_modelled if "TopologyPlugin=" in line]
    assert any(plugin in line for line in said) == (other or (is_tree and not given))


@pytest.mark.parametrize(("given", "tree", "said"), [
    ("", True, 0), ("RouteTree,NoInAddrAny", True, 0), ("TopoOptional", False, 0),
    ("Dragonfly", True, 1), ("Dragonfly,topooptional,Other", False, 2)])
def test_options_of_the_topology_are_followed_or_said(
    tmp_path: Path, given: str, tree: bool, said: int
) -> None:
    switches = tmp_path / "topology.conf"
    switches.write_text("SwitchName=s1 Nodes=n[1-2]\n")
    lines = "TopologyPlugin=topology/tree\n" + (f"TopologyParam={given}" if given else "")
    found = site(tmp_path, submit("-n 1"), CONF.format(lines=lines, partition=""), None,
                 topology=str(switches))
    assert found.rules.topology_tree == tree
    listed = [line for line in found.lists.not_modelled if "TopologyParam=" in line]
    assert len(listed) == said
    assert any("no job is placed by the tree" in line for line in found.lists.assumed) != tree
    assert any(line == f"TopologyParam={given}" for line in found.lists.understood) == bool(given)


def test_included_files_lie_beside_the_first(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "slurm.conf").write_text("ClusterName=small\nInclude sub/n.conf\n")
    (tmp_path / "sub" / "n.conf").write_text("Include nn.conf\n")
    (tmp_path / "sub" / "nn.conf").write_text("NodeName=wrong CPUs=1\n")
    (tmp_path / "nn.conf").write_text("NodeName=right CPUs=1\nPartitionName=p Nodes=right\n")
    found = read_slurm_conf(tmp_path / "slurm.conf")
    assert [node.name for node in found.nodes] == ["right"]
