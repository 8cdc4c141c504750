"""Limits on one type of GPUs and on all of them stand beside each other in a twin."""

from __future__ import annotations

from pathlib import Path

from tests.support.twin_sites import ACCOUNTS, CONF, site, submit

from wattline.shared_nodes.machine import NO_LIMIT

TWO_TYPES = CONF + "NodeName=g2 CPUs=8 Gres=gpu:v100:2\nPartitionName=more Nodes=g2\n"


def test_a_limit_on_a_type_and_one_on_all(tmp_path: Path) -> None:
    limits = "GrpTRES=gres/gpu=8,gres/gpu:a100=4,gres/fpga=1"
    found = site(tmp_path, submit("-n 1"), TWO_TYPES,
                 ACCOUNTS.replace("MaxTRESPerUser=cpu=8", limits))
    assert found.machine.nodes.gres_kinds == (("gpu", "a100"), ("gpu", "v100"))
    row = found.machine.qos.limits.group_tres[1].tolist()
    assert row == [NO_LIMIT, NO_LIMIT, NO_LIMIT, 4, NO_LIMIT, 8]
    (said,) = [line for line in found.lists.not_modelled if "GrpTRES" in line]
    assert said.endswith("GrpTRES of gres/fpga: no node has it")


def test_a_weight_on_all_gpus_is_counted_once(tmp_path: Path) -> None:
    conf = TWO_TYPES.replace("PriorityWeightAge=1000",
                             "PriorityWeightTRES=cpu=10,gres/gpu=100,gres/gpu:v100=7")
    found = site(tmp_path, submit("-n 1"), conf)
    assert found.rules.priority.tres == (10.0, 0.0, 0.0, 0.0, 7.0, 100.0)
