"""Watts of devices that a job did not ask for by type: those of the ones that it takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import submit

import wattline as wl

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
NodeName=g1 CPUs=4 RealMemory=8000 Gres=gpu:a:1,gpu:b:1
PartitionName=p Nodes=g1 Default=YES
"""
WATTS = """
[[twin.power]]
nodes = "g1"
gres_w = { "gpu:a" = 100, "gpu:b" = 400 }
"""


def _twin(folder: Path, log: str) -> Path:
    (folder / "slurm.conf").write_text(CONF)
    (folder / "day.events").write_text(log)
    file = folder / "twin.toml"
    wl.make_twin(folder / "slurm.conf", events=folder / "day.events", idle_w=0, cpu_w=0, gpu_w=0,
                 out=file)
    file.write_text(file.read_text() + WATTS)
    return file


@pytest.mark.parametrize("first", ["gpu:a:1", "gpu:1"])
def test_a_job_draws_the_watts_of_the_device_that_is_left(tmp_path: Path, first: str) -> None:
    """The first job has the device of 100 W, so the second draws 400 W."""
    log = submit(f"-n 1 -t 10 --gres={first}") + submit("-n 1 -t 10 --gres=gpu:1")
    run = wl.simulate(_twin(tmp_path, log))
    watts = run.schedule.energy_j / (run.schedule.end_s - run.schedule.start_s)
    assert list(watts) == pytest.approx([100.0, 400.0])
    assert run.power_w_peak == pytest.approx(500.0)


def test_a_cap_counts_the_device_that_is_left(tmp_path: Path) -> None:
    """Under 300 W the second job waits for the device of 100 W."""
    log = submit("-n 1 -t 10 --gres=gpu:a:1") + submit("-n 1 -t 10 --gres=gpu:1")
    run = wl.simulate(_twin(tmp_path, log), cap=300)
    assert run.schedule.start_s[1] >= run.schedule.end_s[0]
    assert run.power_w_peak == pytest.approx(100.0)


def test_devices_for_each_task_are_counted_by_tasks_and_not_by_whole_cores(tmp_path: Path) -> None:
    """One task on a core of two threads uses one device, though it holds both CPUs."""
    log = submit("-n 1 -t 10 --gpus-per-task=1")
    file = _twin(tmp_path, log)
    conf = CONF.replace("CPUs=4", "CPUs=4 CoresPerSocket=2 ThreadsPerCore=2")
    (tmp_path / "slurm.conf").write_text(conf)
    assert wl.simulate(file).power_w_peak == pytest.approx(100.0)


@pytest.mark.parametrize("name", ["gpuu", "gpu:A", "gpu:c", "gpu:a:1", ""])
def test_watts_of_a_kind_that_no_node_has_are_refused(tmp_path: Path, name: str) -> None:
    file = _twin(tmp_path, submit("-n 1 -t 10"))
    with pytest.raises(wl.InputError, match=f"twin.gres_w: no node has '{name}', must be one of: "
                                            "gpu, gpu:a, gpu:b"):
        wl.simulate(file, **{"twin.gres_w": {name: 900}})
    file.write_text(file.read_text().replace('"gpu:b"', f'"{name}"'))
    with pytest.raises(wl.InputError, match=f"no node of nodes = \"g1\" has '{name}'"):
        wl.simulate(file)


def test_watts_of_all_devices_of_a_name_are_those_of_each_type(tmp_path: Path) -> None:
    file = _twin(tmp_path, submit("-n 1 -t 10 --gres=gpu:1"))
    file.write_text(file.read_text().replace(WATTS, ""))
    run = wl.simulate(file, **{"twin.gres_w": {"gpu": 300}})
    assert run.power_w_peak == pytest.approx(300.0)
