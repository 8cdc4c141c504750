"""GPUs of a whole job that its nodes cannot have in equal parts, and what else keeps them away."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import submit

from wattline.scenario.twin.node_choice import UNEQUAL
from wattline.scenario.twin.section import TwinSection
from wattline.scenario.twin.site import Site, read_site

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu
NodeName=n[1-2] CPUs=4 RealMemory=4000 Gres=gpu:a:2
NodeName=n3 CPUs=4 RealMemory=4000 Gres=gpu:{model}:4
PartitionName=p Nodes=ALL Default=YES
"""


def _site(folder: Path, options: str, model: str = "b") -> Site:
    (folder / "slurm.conf").write_text(CONF.format(model=model))
    (folder / "day.events").write_text(submit(f"-t 10 {options}"))
    return read_site(TwinSection(slurm_conf=str(folder / "slurm.conf"), log="events"),
                     folder / "day.events")


@pytest.mark.parametrize("model", ["a", "b"])
@pytest.mark.parametrize("options", ["-n 2 -N 2 --gpus=6", "-n 8 -N 2 --gpus=6", "-N 3 --gpus=8"])
def test_unequal_parts_are_said_not_to_be_modelled(
    tmp_path: Path, options: str, model: str
) -> None:
    made = _site(tmp_path, options, model).made
    assert len(made.unfit) == 1
    assert UNEQUAL in made.unfit[0]
    assert any(UNEQUAL in line for line in made.not_modelled)


@pytest.mark.parametrize(("options", "why"), [
    ("-N 2 --gpus=7", "more devices for the whole job than its nodes have (7 gpu)"),
    ("-N 3 --gpus=9", "more devices for the whole job than its nodes have (9 gpu)"),
    ("-N 1 --gpus=a:3", "more devices for the whole job than its nodes have (3 gpu:a)"),
    ("-N 1 -n 1 --gpus=2 --mem-per-gpu=2001",
     "more memory for each GPU than the nodes with its devices have (2 gpu, 2,001 each)"),
    ("-N 1 -n 1 --gpus=2 --cpus-per-gpu=3",
     "more CPUs for each GPU than the nodes with its devices have (2 gpu, 3 each)"),
])
def test_the_reason_is_what_is_missing(tmp_path: Path, options: str, why: str) -> None:
    made = _site(tmp_path, options).made
    assert len(made.unfit) == 1
    assert why in made.unfit[0]
    assert made.not_modelled == ()
