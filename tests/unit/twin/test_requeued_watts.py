"""Watts of jobs that were requeued, by outages or to give way, and the joules they add up to."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.twin_sites import submit

import wattline as wl
from wattline.model.run import EventKind

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
{preempt}
NodeName=n[1-2] CPUs=4
PartitionName=low Nodes=ALL Default=YES PriorityTier=1 PreemptMode=REQUEUE
PartitionName=high Nodes=n2 PriorityTier=2 PreemptMode=OFF
"""
PREEMPTS = "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE"
DOWN = "NodeName|TimeStart|TimeEnd|State|Reason\nn1|100|200|DOWN|x\n"


def _run(folder: Path, preempts: bool, is_down: bool, down: str = DOWN, **given: Any) -> wl.Result:
    (folder / "slurm.conf").write_text(CONF.format(preempt=PREEMPTS if preempts else ""))
    (folder / "day.events").write_text(
        submit("-n 4 -t 10", run=300) + submit("-n 4 -t 10", run=300)
        + submit("-n 2 -t 10 -p high", at=150, run=50))
    (folder / "down.txt").write_text(down)
    outages = {"down": folder / "down.txt"} if is_down else {}
    twin = wl.make_twin(folder / "slurm.conf", events=folder / "day.events", idle_w=100.0,
                        cpu_w=10.0, **outages)
    return wl.simulate(twin.scenario, **given)


def _joules(run: wl.Result) -> np.ndarray:
    """Of each job, from its events alone: watts from each start to the end or the requeue."""
    found = np.zeros(len(run.jobs))
    since: dict[int, tuple[float, float]] = {}
    log = run.events
    for time_s, kind, job, value in zip(log.time_s, log.kind, log.job, log.value, strict=True):
        if kind == EventKind.START:
            assert job not in since
            since[job] = (time_s, value)
        elif kind in (EventKind.END, EventKind.REQUEUE):
            begun_s, power_w = since.pop(job)
            found[job] += power_w * (time_s - begun_s)
            assert found[job] == pytest.approx(value)  # an end says the joules up to it
    assert not since
    return found


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
@pytest.mark.parametrize("is_down", [False, True])
@pytest.mark.parametrize("preempts", [False, True])
def test_a_run_has_its_own_watts_and_the_power_of_events_is_the_energy(
    tmp_path: Path, preempts: bool, is_down: bool
) -> None:
    run = _run(tmp_path, preempts, is_down)
    log = run.events
    lost = preempts + is_down
    assert run.notes["requeues"] == lost
    assert wl.verify(run).sentences == []
    starts = log.kind == EventKind.START
    cpus = run.schedule.nodes[log.job[starts]]
    # A CPU draws 10 W, and its part of the 100 W of a node of four.
    assert log.value[starts] == pytest.approx(cpus * 35.0, rel=1e-3)
    held_s = np.diff(log.time_s, append=run.end_s)
    assert float(np.dot(log.power_w, held_s)) == pytest.approx(run.energy_j)
    busy_j = 25.0 * 2 * 4 * (run.end_s - run.start_s) + 10.0 * float(np.dot(log.busy, held_s))
    assert busy_j == pytest.approx(run.energy_j, rel=1e-3)
    own_j = 25.0 * float(np.dot(log.busy, held_s)) + 10.0 * float(np.dot(log.busy, held_s))
    assert run.schedule.energy_j.sum() == pytest.approx(own_j, rel=1e-3)
    said = [line for line in run.remarks if "requeued while it ran" in line]
    assert len(said) == (1 if lost else 0)


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
@pytest.mark.parametrize("given", [{}, {"cap": "270W"}, {"cap": "1kW"}])
@pytest.mark.parametrize("is_down", [False, True])
@pytest.mark.parametrize("preempts", [False, True])
def test_runs_that_were_lost_have_rows_and_add_up(
    tmp_path: Path, preempts: bool, is_down: bool, given: dict[str, Any]
) -> None:
    run = _run(tmp_path, preempts, is_down, **given)
    log = run.events
    requeues = np.bincount(log.job[log.kind == EventKind.REQUEUE], minlength=3)
    starts = np.bincount(log.job[log.kind == EventKind.START], minlength=3)
    assert requeues.sum() == run.notes["requeues"]
    assert (run.jobs.restart == requeues).all()
    assert (starts == requeues + 1).all()
    assert wl.verify(run).sentences == []
    assert _joules(run) == pytest.approx(run.schedule.energy_j)
    run.save(tmp_path / "run")
    again = wl.open_run(tmp_path / "run")
    assert (again.events.kind == log.kind).all()
    assert (again.jobs.restart == requeues).all()
    assert wl.verify(again).sentences == []


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_a_run_that_was_lost_for_ever_has_its_joules(tmp_path: Path) -> None:
    down = DOWN.splitlines()[0] + "\nn[1-2]|50|Unknown|DOWN|x\n"
    run = _run(tmp_path, False, True, down=down)
    assert wl.verify(run).sentences == []
    assert np.isnan(run.schedule.start_s[:2]).all()
    # Four CPUs of 10 W and a node of 100 W for 50 s.
    assert run.schedule.energy_j.tolist() == pytest.approx([7000.0, 7000.0, 0.0])
    assert _joules(run) == pytest.approx(run.schedule.energy_j)
    assert run.jobs.restart.tolist() == [1, 1, 0]


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_the_folder_has_what_every_run_had_on_its_nodes(tmp_path: Path) -> None:
    run = _run(tmp_path, True, True)
    assert wl.verify(run).sentences == []
    kept = wl.open_run(run.save(tmp_path / "run"))
    assert wl.verify(kept).sentences == []
    held = kept.node_stays
    assert held is not None
    begins = {(int(job), float(time_s)) for job, time_s, kind in zip(
        kept.events.job, kept.events.time_s, kept.events.kind, strict=True)
        if kind == EventKind.START}
    assert len(begins) == 3 + kept.events.kind.tolist().count(EventKind.REQUEUE) > 4
    assert {(int(job), float(time_s)) for job, time_s in zip(
        held.job, held.from_s, strict=True)} == begins
    idle_w = 100.0 * held.cpus / 4
    drawn_j = np.bincount(held.job, (held.watts_w + idle_w) * (held.to_s - held.from_s))
    assert drawn_j == pytest.approx(kept.schedule.energy_j)
    last = (held.from_s == kept.schedule.start_s[held.job]).tolist().index(False)
    lost = replace(held, **{each.name: np.delete(getattr(held, each.name), last)
                            for each in fields(held)})
    found = wl.verify(replace(kept, node_stays=lost)).sentences
    assert any("times by the log" in line for line in found)
