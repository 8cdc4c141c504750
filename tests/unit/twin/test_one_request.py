"""GPUs that a job asks for in several ways are one request."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.shared_judged import findings
from tests.support.twin_sites import submit

from wattline.scenario.twin.section import TwinSection
from wattline.scenario.twin.site import Site, read_site
from wattline.shared_nodes.outcome import REASONS
from wattline.shared_nodes.simulate import simulate_shared

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu
NodeName=n[1-3] CPUs=4 Gres=gpu:a:4
PartitionName=p Nodes=ALL Default=YES
"""


def _site(folder: Path, options: str) -> Site:
    (folder / "slurm.conf").write_text(CONF)
    (folder / "day.events").write_text(submit(f"-t 10 {options}"))
    return read_site(TwinSection(slurm_conf=str(folder / "slurm.conf"), log="events"),
                     folder / "day.events")


@pytest.mark.parametrize(("options", "gpus"), [
    ("-n 4 --gpus-per-task=1 --gpus=4", [4]),
    ("--gpus-per-task=2 --gpus=4", [4]),
    ("-N 2 -n 2 --gpus-per-task=2 --gpus=4", [2, 2]),
    ("-n 4 --gpus=4 --gpus-per-node=2", [2, 2]),
    ("-n 2 --gpus=2 --gres=gpu:1", [1, 1]),
    ("-N 1-3 -n 3 --gpus=6 --gpus-per-node=2", [2, 2, 2]),
    ("-n 4 --gpus-per-node=2 --gpus-per-task=1", [2, 2]),
    ("-n 6 --gpus=6 --gpus-per-node=2 --gpus-per-task=1", [2, 2, 2]),
    ("-n 2 --gpus=a:2 --gpus-per-task=a:1", [2]),
])
def test_ways_that_agree_are_not_added_up(
    tmp_path: Path, options: str, gpus: list[int]
) -> None:
    site = _site(tmp_path, options)
    assert site.made.unfit == ()
    found = simulate_shared(site.machine, site.made.requests, site.rules)
    assert findings(site.machine, site.made.requests, site.rules, found) == []
    assert found.allocation_gres.sum(axis=1).tolist() == gpus


@pytest.mark.parametrize("options", [
    "-n 2 --gpus-per-task=1 --gpus=3", "-n 3 --gpus-per-task=1 --gpus=2",
    "--gpus=3 --gpus-per-node=2", "-N 3 --gpus=4 --gpus-per-node=2",
    "-N 1 --gpus=4 --gpus-per-node=2", "--gpus=2 --gpus-per-node=4",
    "-n 2 --gpus-per-node=3 --gpus-per-task=2",
    "-n 4 --ntasks-per-node=4 --gpus-per-node=2 --gpus-per-task=1",
])
def test_ways_that_contradict_each_other_are_refused_and_named(
    tmp_path: Path, options: str
) -> None:
    site = _site(tmp_path, options)
    assert len(site.made.unfit) == 1
    assert "contradicts its nodes or tasks or itself" in site.made.unfit[0]
    found = simulate_shared(site.machine, site.made.requests, site.rules)
    assert REASONS[found.reason[0]] == "what it asks for contradicts itself"
