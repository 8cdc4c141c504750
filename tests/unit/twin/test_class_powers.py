"""Watts of classes of nodes: [[twin.power]]."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import wattline as wl

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")

CONF = """ClusterName=tiny
NodeName=a[1-2] CPUs=4 RealMemory=1000
NodeName=g[1-2] CPUs=4 RealMemory=1000 Gres=gpu:v100:2
GresTypes=gpu
SelectTypeParameters=CR_Core
PartitionName=all Nodes=ALL Default=YES
"""
JOBS = """\
-dt 0 -e submit_batch_job | -J on_a1 -n 4 -w a1 -t 10 -sim-walltime 100 x
-dt 0 -e submit_batch_job | -J on_a2 -n 4 -w a2 -t 10 -sim-walltime 100 x
-dt 0 -e submit_batch_job | -J on_g1 -n 1 -w g1 --gres=gpu:2 -t 10 -sim-walltime 100 x
-dt 0 -e submit_batch_job | -J on_g2 -n 1 -w g2 --gres=gpu:2 -t 10 -sim-walltime 100 x
"""
CLASSES = """
[[twin.power]]
nodes = "a2"
idle_w = 200
cpu_w = 20

[[twin.power]]
nodes = "g2"
gres_w = { "gpu:v100" = 300 }
"""


def made(folder: Path, classes: str = CLASSES, watts: float | None = 10.0) -> Path:
    (folder / "slurm.conf").write_text(CONF)
    (folder / "jobs.events").write_text(JOBS)
    wl.make_twin(folder / "slurm.conf", events=folder / "jobs.events", idle_w=100, cpu_w=watts,
                 gpu_w=50, out=folder / "twin.toml")
    file = folder / "twin.toml"
    file.write_text(file.read_text() + classes)
    return file


def test_a_job_draws_by_the_class_of_its_nodes(tmp_path: Path) -> None:
    run = wl.simulate(made(tmp_path))
    # Idle 3 x 100 + 200; CPUs 4 x 10, 4 x 20, 10, 10; cards 2 x 50 and 2 x 300.
    assert run.power_w_peak == 500.0 + 40.0 + 80.0 + 10.0 + 10.0 + 100.0 + 600.0
    energy = run.schedule.energy_j / np.maximum(run.schedule.end_s - run.schedule.start_s, 1e-9)
    assert energy[1] - energy[0] == pytest.approx(100.0 + 40.0)
    assert energy[3] - energy[2] == pytest.approx(2 * 250.0)
    assert wl.verify(run).sentences == []


def test_a_cap_counts_the_watts_of_the_class(tmp_path: Path) -> None:
    """With 600 W above idle on g2, that job waits under a cap that the others fit below."""
    run = wl.simulate(made(tmp_path), cap=1200)
    start_s = run.schedule.start_s
    assert start_s[3] > start_s[2]
    assert run.power_w_peak <= 1200.0
    assert run.time_above_cap_s == 0.0


def test_nodes_added_like_one_of_a_class_draw_like_it(tmp_path: Path) -> None:
    few = wl.simulate(made(tmp_path))
    more = wl.simulate(made(tmp_path), twin__add_nodes={"like": "a2", "count": 2})
    assert more.machine.power_w_idle == few.machine.power_w_idle + 400.0


@pytest.mark.parametrize(("classes", "said"), [
    ('[[twin.power]]\nnodes = "b7"\nidle_w = 3\n', "has no node 'b7'"),
    ('[[twin.power]]\nnodes = "a1"\n[[twin.power]]\nnodes = "a[1-2]"\n', "'a1' is named twice"),
])
def test_a_class_of_strange_or_repeated_nodes_is_refused(
    tmp_path: Path, classes: str, said: str
) -> None:
    with pytest.raises(wl.InputError, match=said):
        wl.simulate(made(tmp_path, classes))


def test_watts_are_assumed_only_of_nodes_that_no_class_names(tmp_path: Path) -> None:
    whole = '[[twin.power]]\nnodes = "a[1-2],g[1-2]"\ncpu_w = 3\n'
    for classes, said in ((CLASSES, "cpu_w = 6.5 W of a1,g[1-2]"), (whole, "")):
        assumed = [line for line in wl.simulate(made(tmp_path, classes, None)).assumed
                   if line.startswith("cpu_w")]
        assert bool(assumed) == bool(said)
        assert all(line.startswith(said) for line in assumed)


def test_nodes_that_are_added_have_given_watts_and_are_not_said_to_have_assumed_ones(
    tmp_path: Path
) -> None:
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "jobs.events").write_text(JOBS)
    file = tmp_path / "twin.toml"
    wl.make_twin(tmp_path / "slurm.conf", events=tmp_path / "jobs.events", out=file)
    classes = CLASSES.replace("gres_w", "idle_w = 300\ncpu_w = 10\ngres_w")
    file.write_text(file.read_text() + classes)
    run = wl.simulate(file, twin__add_nodes={"like": "g2", "count": 2})
    said = [line for line in run.remarks if line.startswith(("idle_w", "cpu_w", "gpu_w"))]
    assert [line.partition(" (")[0] for line in said] == [
        "idle_w = 90 W of a1,g1", "cpu_w = 6.5 W of a1,g1", "gpu_w = 250 W of g1"]
