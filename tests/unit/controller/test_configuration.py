"""The file of a site: what is wrong in it is said in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from wattline.controller.configuration import SiteConfig, read_configuration
from wattline.controller.node_power import NodePower
from wattline.model.errors import InputError

GOOD = """nodes = "cn1-gpu-[01-02],cn1-cpu-01"
node_idle_w = "90W"
node_active_w = 300
cap = "1.2kW"
"""


def test_a_site_is_read(tmp_path: Path) -> None:
    file = tmp_path / "site.toml"
    file.write_text(GOOD + 'slurm_conf = "etc/slurm.conf"\n[policy]\nbackfill = "none"\n')
    site = read_configuration(file)
    assert site.node_names == ["cn1-gpu-01", "cn1-gpu-02", "cn1-cpu-01"]
    assert (site.cap, site.policy.backfill, site.policy.power) == (1200.0, "none", "watts")
    assert site.slurm_conf == str(tmp_path / "etc/slurm.conf")
    assert site.folder == str(tmp_path / "wattline-controller")


def test_classes_of_nodes_are_those_of_the_site_in_their_order(tmp_path: Path) -> None:
    file = tmp_path / "site.toml"
    kinds = '[[classes]]\nname = "gpu"\nnodes = "{}"\n[[classes]]\nname = "cpu"\nnodes = "{}"\n'
    file.write_text(GOOD + kinds.format("cn1-gpu-[01-02]", "cn1-cpu-01"))
    assert [kind.name for kind in read_configuration(file).kinds] == ["gpu", "cpu"]
    for nodes in (("cn1-gpu-[01-02]", "cn1-cpu-02"), ("cn1-cpu-01", "cn1-gpu-[01-02]")):
        file.write_text(GOOD + kinds.format(*nodes))
        with pytest.raises(InputError, match="classes: together they must have"):
            read_configuration(file)


def test_the_lowest_cap_of_a_node_is_that_of_its_class(tmp_path: Path) -> None:
    file = tmp_path / "site.toml"
    kinds = ('[[classes]]\nname = "gpu"\nnodes = "cn1-gpu-[01-02]"\nidle_w = 50\n{}'
             '[[classes]]\nname = "cpu"\nnodes = "cn1-cpu-01"\n')
    for said, whole, least in (("least_w = 70\n", "node_least_w = 120\n", (70.0, 120.0)),
                               ("", "node_least_w = 120\n", (120.0, 120.0)),
                               ("", "", (50.0, 90.0))):
        file.write_text(whole + GOOD + kinds.format(said))
        found = NodePower.of(read_configuration(file)).least_w
        assert (found["cn1-gpu-02"], found["cn1-cpu-01"]) == least
    file.write_text(GOOD + kinds.format("least_w = 400\n"))
    with pytest.raises(InputError, match=r"gpu: its least_w \(400 W\) is above its active_w"):
        read_configuration(file)


@pytest.mark.parametrize(("change", "reason"), [
    (('cap = "1.2kW"', 'cap = 1200\ncycle = "20s"\nlease = "5s"'),
     r"lease \(5 s\) is shorter than 2 cycles \(20 s each\)"),
    (('cap = "1.2kW"', 'cap = 1200\nmark = "our mark"'), "must be one word"),
    (('cap = "1.2kW"', 'cap = 1200\nnode_least_w = 500'), r"above node_active_w \(300 W\)"),
    (("cap = \"1.2kW\"", ""), "cap"), (("cap = \"1.2kW\"", "cap = 0"), "cap"),
    (("300", "80"), "below node_idle_w"), (("cn1-cpu-01", "cn1-gpu-01"), "named twice"),
    (("cn1-cpu-01", "cn1-[x"), "nodes"), (("node_idle_w", "node_idle"), "node_idle_w"),
    (("= 300", "= "), "TOML")])
def test_a_wrong_file_is_refused_in_one_line(tmp_path: Path, change, reason: str) -> None:
    file = tmp_path / "site.toml"
    file.write_text(GOOD.replace(*change))
    with pytest.raises(InputError, match=reason) as found:
        read_configuration(file)
    assert "\n" not in str(found.value)


TWIN = """name = "tiny"
[trace]
file = "no.events"
[twin]
slurm_conf = "slurm.conf"
log = "events"
idle_w = 100
cpu_w = 5
[[twin.power]]
nodes = "g1"
idle_w = 200
gres_w = { "gpu:a100" = 300 }
"""
CONF = """NodeName=n[1-2] CPUs=8 RealMemory=1000
NodeName=g1 CPUs=16 RealMemory=1000 Gres=gpu:a100:2
PartitionName=all Nodes=ALL Default=YES
"""


def shared_site(folder: Path, text: str) -> SiteConfig:
    (folder / "twin.toml").write_text(TWIN)
    (folder / "slurm.conf").write_text(CONF)
    (folder / "site.toml").write_text('twin = "twin.toml"\ncap = 1000\n' + text)
    return read_configuration(folder / "site.toml")


def test_a_twins_machine_file_has_the_nodes_and_their_watts(tmp_path: Path) -> None:
    site = shared_site(tmp_path, 'mode = "guard"\n')
    assert site.node_names == ["g1", "n1", "n2"]
    assert site.parts is not None
    assert site.parts.idle_w == 400.0
    kinds = site.parts.classes()
    assert [(kind.count, kind.idle_w) for kind in kinds] == [(16, 12.5), (16, 12.5)]
    assert kinds[0].active_w == (200 + 16 * 5 + 2 * 300) / 16
    fewer = shared_site(tmp_path, 'mode = "guard"\nnodes = "n[1-2]"\n')
    assert fewer.parts is not None
    assert fewer.parts.idle_w == 200.0


@pytest.mark.parametrize(("text", "said"), [
    ('mode = "guard"\nnodes = "n[1-3]"\n', "has no node 'n3'"),
    ('mode = "guard"\nnode_idle_w = 90\n', "node_idle_w does not go with twin"),
])
def test_what_does_not_go_with_a_twin_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        shared_site(tmp_path, text)
