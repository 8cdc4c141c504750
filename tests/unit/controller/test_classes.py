"""Claims choose among the classes of node that a job may have: those it names, its partition's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.controller.test_modes import SITE, OneSlurm, ordered

from wattline.controller.configuration import SiteConfig, read_configuration
from wattline.controller.serving import serving
from wattline.live.slurm.client import Seen
from wattline.live.slurm.reading import SlurmNode

CLAIMS = """application,node_class,threads,cap_w,nodes,time_s,energy_j
lu,big,8,,1,10,2400
lu,small,4x2,,1,10,1500
"""
PARTITIONS = {"n1": ("batch", "bigs"), "n2": ("batch", "bigs", "odd"),
              "n3": ("batch", "odd"), "n4": ("batch",)}


class Parted(OneSlurm):
    """Two nodes of each class, in partitions with some of them."""

    def look(self) -> Seen:
        seen = super().look()
        return Seen(seen.time_s, seen.jobs, tuple(
            SlurmNode(name, ("idle",), 1, partitions) for name, partitions in PARTITIONS.items()))

    def start(self, label: str, nodes: Any, **more: Any) -> None:
        super().start(label, nodes)
        self.settings[label] = more.get("settings", "")

    @property
    def settings(self) -> dict[str, str]:
        return self.__dict__.setdefault("_settings", {})


@pytest.fixture
def claimed(tmp_path: Path) -> SiteConfig:
    (tmp_path / "claims.csv").write_text(CLAIMS)
    (tmp_path / "site.toml").write_text(
        SITE + 'classes = [{ name = "big", nodes = "n[1-2]" }, { name = "small", nodes = "n[3-4]" '
        f'}}]\n[policy]\nplacement = "claims"\nconfigure = {{ name = "claims", claims = '
        f'"{tmp_path}/claims.csv" }}\n')
    return read_configuration(tmp_path / "site.toml")


@pytest.mark.parametrize(("fields", "nodes", "said"), [
    ({}, ("n3",), "class=small threads=4x2"),
    ({"required_nodes": ("n4",)}, ("n4",), "class=small threads=4x2"),
    ({"required_nodes": ("n2",)}, ("n2",), "class=big threads=8"),
    ({"required_nodes": ("n1", "n2"), "nodes": 2}, ("n1", "n2"), "class=big threads=8"),
    ({"partition": "bigs"}, ("n1",), "class=big threads=8"),
    ({"partition": "odd"}, ("n3",), "class=small threads=4x2"),
])
def test_claims_choose_of_the_classes_that_a_job_may_have(
    claimed: SiteConfig, fields: dict[str, Any], nodes: tuple[str, ...], said: str
) -> None:
    slurm = Parted()
    slurm.submit("1", **{"name": "lu", **fields})
    with serving(claimed, act=True, slurm=slurm) as here:
        here.cycle()
    assert slurm.jobs["1"].node_list == nodes
    assert slurm.settings["1"] == f"wattline: {said}"


@pytest.mark.parametrize(("fields", "said"), [
    ({"required_nodes": ("n2", "n3"), "nodes": 2}, "are of the classes big and small"),
    ({"required_nodes": ("n2",), "nodes": 2}, "it names 1 of its 2 nodes"),
    ({"partition": "odd", "nodes": 2}, "no class has 2 nodes in the partition odd"),
])
def test_where_they_cannot_it_is_said_and_others_are_not_kept(
    claimed: SiteConfig, fields: dict[str, Any], said: str
) -> None:
    slurm = Parted()
    slurm.submit("1", **{"name": "lu", **fields})
    slurm.submit("2", name="lu")
    with serving(claimed, act=True, slurm=slurm) as here:
        here.cycle()
        assert slurm.starts == ["2"]
        found = ordered(here, claimed, "explain", job="1")
        assert found.result["reason"] == "not managed"
        assert said in found.said
        assert said in slurm.jobs["1"].admin_comment
        slurm.jobs["1"] = replace(slurm.jobs["1"], required_nodes=("n1",), nodes=1,
                                  partition="batch")
        here.cycle()
    assert slurm.starts == ["2", "1"]
    assert slurm.jobs["1"].node_list == ("n1",)


def test_one_that_waits_and_then_names_its_nodes_is_decided_anew(claimed: SiteConfig) -> None:
    """Under 400 W nothing begins beside four idle nodes."""
    slurm = Parted()
    slurm.submit("1", name="lu")
    with serving(claimed, act=True, slurm=slurm) as here:
        ordered(here, claimed, "set_cap", watts=400.0)
        assert slurm.starts == []
        for names in (("n2", "n3"), ("n2",)):
            slurm.jobs["1"] = replace(slurm.jobs["1"], required_nodes=names, nodes=len(names))
            here.cycle()
        ordered(here, claimed, "set_cap", watts=900.0)
        here.cycle()
    assert slurm.settings["1"] == "wattline: class=big threads=8"
    assert slurm.jobs["1"].node_list == ("n2",)


def test_a_job_that_no_claim_knows_runs_as_if_there_were_none(claimed: SiteConfig) -> None:
    slurm = Parted()
    slurm.submit("1", name="unheard", partition="odd")
    with serving(claimed, act=True, slurm=slurm) as here:
        here.cycle()
    assert slurm.starts == ["1"]
    assert slurm.jobs["1"].node_list[0] in {"n2", "n3"}
