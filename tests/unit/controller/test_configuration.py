"""The file of a site: what is wrong in it is said in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from wattline.controller.configuration import read_configuration
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
    assert (site.cap, site.policy.backfill, site.policy.power) == (1200.0, "none", "block")
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


@pytest.mark.parametrize(("change", "reason"), [
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
