"""Power of nodes that sleep, boot or are down, and CPUs in use of jobs that ran twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.support.twin_sites import submit

import wattline as wl
from wattline.model.run import EventKind
from wattline.scenario.twin.nodes_down import DOWN_DRAWS

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=n[1-2] CPUs=4 RealMemory=8000
PartitionName=p Nodes=n[1-2] Default=YES MaxTime=1-0
"""
SLEEPS = ("SuspendTime=50\nSuspendProgram=/x\nResumeProgram=/y\nResumeTimeout=20\n"
          "SuspendTimeout=10\n")
IDLE_W, CPU_W = 100.0, 10.0


def _twin(folder: Path, conf: str, log: str, down: str | None = None) -> Path:
    (folder / "slurm.conf").write_text(conf)
    (folder / "day.events").write_text(log)
    file = None
    if down is not None:
        file = folder / "down.txt"
        file.write_text(f"NodeName|TimeStart|TimeEnd|State|Reason\n{down}\n")
    wl.make_twin(folder / "slurm.conf", events=folder / "day.events", down=file, idle_w=IDLE_W,
                 cpu_w=CPU_W, gpu_w=0, out=folder / "twin.toml")
    return folder / "twin.toml"


def _watts(run: wl.Run, time_s: float) -> float:
    return float(run.events.power_w[np.searchsorted(run.events.time_s, time_s, "right") - 1])


def test_a_node_that_boots_draws_its_idle_power(tmp_path: Path) -> None:
    """Both nodes sleep when the job comes; for 20 s they boot, within another 30 s it starts."""
    run = wl.simulate(_twin(tmp_path, SLEEPS + CONF, submit("-n 8 -t 10", 0, 0)
                            + submit("-n 8 -t 10", 300, 100)))
    start_s = float(run.schedule.start_s[1])
    woken_s = float(run.events.time_s[(run.events.time_s >= 300) & (run.events.power_w > 0)].min())
    assert 20.0 <= start_s - woken_s <= 50.0
    assert _watts(run, woken_s - 1) == pytest.approx(0.0)
    assert _watts(run, start_s - 1) == pytest.approx(2 * IDLE_W)
    assert _watts(run, start_s + 1) == pytest.approx(2 * IDLE_W + 8 * CPU_W)
    lasts_s = float(run.schedule.end_s[1]) - start_s
    assert lasts_s == pytest.approx(100.0, abs=2.0)
    drawn_j = (2 * IDLE_W + 8 * CPU_W) * lasts_s
    assert run.schedule.energy_j[1] == pytest.approx(drawn_j)
    assert wl.verify(run).sentences == []


def test_a_cap_counts_jobs_whose_nodes_boot(tmp_path: Path) -> None:
    """Two jobs come to sleeping nodes; both would be under the cap only while they boot."""
    log = submit("-n 1 -t 10", 0, 0) + 2 * submit("-N 1 -n 4 -t 10", 300, 100)
    run = wl.simulate(_twin(tmp_path, SLEEPS + CONF, log), cap=250)
    assert run.schedule.start_s[2] >= run.schedule.end_s[1]
    assert run.power_w_peak <= 250.0
    assert wl.verify(run).sentences == []


def test_a_job_that_is_lost_while_its_nodes_boot_drew_idle_power(tmp_path: Path) -> None:
    log = submit("-n 1 -t 10", 0, 0) + submit("-n 8 -t 10 --no-requeue", 300, 100)
    run = wl.simulate(_twin(tmp_path, SLEEPS + CONF, log, "n1|310|320|DOWN|x"))
    lasts_s = float(run.schedule.end_s[1] - run.schedule.start_s[1])
    assert 0.0 < lasts_s < 20.0
    assert run.schedule.energy_j[1] == pytest.approx(2 * IDLE_W * lasts_s)
    assert run.events.power_w.max() <= 2 * IDLE_W + CPU_W


def test_what_a_node_does_after_the_last_end_is_written_down(tmp_path: Path) -> None:
    """The run goes on to the submission of a job that never starts; nodes sleep before it."""
    log = submit("-n 4 -t 10", 0, 100) + submit("-n 8 -t 10", 300, 100)
    run = wl.simulate(_twin(tmp_path, SLEEPS + CONF, log), cap=240)
    assert run.end_s == 300.0
    slept = run.events.kind == EventKind.NODE
    assert _watts(run, 200.0) == pytest.approx(0.0)
    assert run.events.time_s[slept].max() > run.schedule.end_s[0]
    assert wl.verify(run).sentences == []


def test_idle_power_of_nodes_that_are_down_is_said(tmp_path: Path) -> None:
    log = submit("-n 4 -t 10", 0, 100)
    up = wl.simulate(_twin(tmp_path, CONF, log))
    assert DOWN_DRAWS not in up.assumed
    down = wl.simulate(_twin(tmp_path, CONF, log, "n2|10|50|DOWN|x"))
    assert DOWN_DRAWS in down.assumed
    assert down.energy_j == pytest.approx(up.energy_j)


def test_utilisation_of_a_check_has_all_runs_of_a_job(tmp_path: Path) -> None:
    """A node fails at 55 s: four CPUs are in use from the start to then, and for the whole run."""
    file = _twin(tmp_path, CONF.replace("n[1-2]", "n1"), submit("-n 4 -t 10", 0, 300),
                 "n1|55|60|DOWN|x")
    found = wl.check_twin(file, phases=1)
    run = found.run
    assert run.notes["requeues"] == 1.0
    used_s = 4 * float(np.dot(np.diff(run.events.time_s), run.events.busy[:-1] > 0))
    assert used_s > 4 * (300 + 50)
    last_s = float(run.schedule.end_s[0])
    assert found.utilisation["simulated"] == pytest.approx(used_s / (4 * last_s))
    assert found.utilisation["simulated"] == pytest.approx(wl.metrics(run)["utilisation"])
