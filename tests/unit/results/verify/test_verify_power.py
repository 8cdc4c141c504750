"""The checker of runs on powers that cannot be: of a job, of the machine, of a rack."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.support.run_maker import changed, fcfs_run, some_jobs

from wattline.analysis import rundir
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine, NodeClass
from wattline.model.run import EventKind, EventLog, Outcome, PowerBound, Run, Schedule
from wattline.results.verify.judge import verify


def sentences(run: Run, part: str) -> list[str]:
    return [sentence for sentence in verify(run).sentences if part in sentence]


@pytest.fixture(scope="module")
def good() -> Run:
    """First come, first served on sixteen nodes, 100 W idle and 250 W busy, nodes by number."""
    return fcfs_run(some_jobs(200))


def levels(good: Run) -> Run:
    """The same log under a policy that slows all jobs at once: powers of jobs are not known."""
    kind = good.events.kind.copy()
    wake = int(np.flatnonzero(kind == EventKind.SUBMIT)[0])
    columns = {name: np.insert(values, wake, values[wake])
               for name, values in vars(good.events).items()}
    columns["kind"][wake], columns["job"][wake] = int(EventKind.RATE), -1
    columns["power_w"][wake] = 16 * 100.0
    columns["busy"][wake] = columns["queued"][wake] = 0
    return replace(good, events=EventLog(**columns))


def test_a_run_whose_jobs_change_their_speed_together_is_good(good: Run) -> None:
    assert verify(levels(good)).sentences == []


def shifted(run: Run, watts: float) -> Run:
    """One row in the middle, which lasts, with other watts."""
    lasts = np.flatnonzero(np.diff(run.events.time_s) > 0)
    row = lasts[lasts.size // 2]
    power_w = run.events.power_w.copy()
    power_w[row] = watts
    return changed(run, "events", power_w=power_w)


def test_a_machine_below_its_idle_units_is_reported(good: Run) -> None:
    found = sentences(shifted(levels(good), 99.0), "below that of the units without a job")
    assert len(found) == 1
    assert "99.0 W" in found[0]


def test_a_machine_above_all_its_jobs_at_full_speed_is_reported(good: Run) -> None:
    found = sentences(shifted(levels(good), 16 * 250.0 + 1), "above what the machine can draw")
    assert len(found) == 1
    assert "4001.0 W" in found[0]


def test_jobs_with_watts_of_their_own_may_draw_more_than_busy_nodes_and_no_more() -> None:
    """A job of two nodes that the log gives 900 W, where busy nodes draw 500 W."""
    run = fcfs_run(JobTable.build(submit_s=[0], run_s=[10], procs=[2], power_w=[900.0]), nodes=2)
    assert verify(run).sentences == []
    nodes_only = replace(run, jobs=run.jobs.with_columns(power_w=np.array([np.nan])))
    assert sentences(nodes_only, "draw more than at full speed")
    assert sentences(nodes_only, "above what the machine can draw")
    assert verify(replace(nodes_only, policy_powers=True)).sentences == []  # a policy asked for it


def switched_run(shutdown_w: float = 120.0) -> Run:
    """Four nodes, 100 W idle, 10 W off; two shut down from 0 s to 5 s at 120 W each and boot from
    20 s to 30 s at 150 W each; a job of a node runs from 2 s to 12 s at 250 W.
    """
    rows = [  # time, kind, job, power, busy, value
        (0.0, EventKind.SUBMIT, 0, 400, 0, 0.0), (0.0, EventKind.NODE, -1, 440, 0, -2.0),
        (2.0, EventKind.START, 0, 590, 1, 250.0), (5.0, EventKind.NODE, -1, 370, 1, -2.0),
        (12.0, EventKind.END, 0, 220, 0, 2500.0), (20.0, EventKind.NODE, -1, 500, 0, 2.0),
        (30.0, EventKind.NODE, -1, 400, 0, 2.0), (40.0, EventKind.WAKE, -1, 400, 0, 0.0),
    ]
    columns = (np.array(column) for column in zip(*rows, strict=True))
    time_s, kind, job, power_w, busy, value = columns
    held_s = np.diff(time_s, append=40.0)
    node = NodeClass(power_w_idle=100.0, power_w_active=250.0, power_w_off=10.0, boot_s=10.0,
                     boot_power_w=150.0, shutdown_s=5.0, shutdown_power_w=shutdown_w)
    energy_j = float(power_w @ held_s)
    return Run(
        jobs=JobTable.build(submit_s=[0], run_s=[10], procs=[1]),
        schedule=Schedule(np.array([2.0]), np.array([12.0]), np.array([1]), np.array([2500.0]),
                          np.array([int(Outcome.COMPLETED)]), np.array([0])),
        events=EventLog(time_s, kind.astype(np.int64), job, power_w.astype(float), busy,
                        np.array([1, 1, 0, 0, 0, 0, 0, 0]), value),
        machine=Machine.uniform(4, node), units=4, start_s=0.0, end_s=40.0, energy_j=energy_j,
        class_energy_j={"node": energy_j}, time_above_cap_s=0.0, energy_above_cap_j=0.0,
        power_w_peak=590.0,
    )


def test_nodes_that_shut_down_are_off_and_boot_draw_their_own_powers() -> None:
    assert verify(switched_run()).sentences == []
    assert sentences(switched_run(shutdown_w=121.0), "440.0 W instead of 442.0 W")


def test_a_machine_with_nodes_off_may_not_draw_less_than_they_do() -> None:
    log = switched_run().events
    low = changed(switched_run(), "events", power_w=np.where(log.time_s == 12.0, 200.0,
                                                             log.power_w))
    assert sentences(low, "these alone draw 220.0 W")


def rack(limit_w: float) -> PowerBound:
    return PowerBound("rack0", limit_w, idle_w=400.0, nodes=np.arange(4))


def test_a_rack_above_its_bound_is_reported(good: Run) -> None:
    """Four busy nodes of 250 W make 1,000 W."""
    assert verify(replace(good, bounds=(rack(1000.0),))).sentences == []
    found = sentences(replace(good, bounds=(rack(1000.0), rack(999.0))), "rack0 is above")
    assert len(found) == 1
    assert "bound of 999 W" in found[0]
    assert "draws 1000 W at most" in found[0]


def test_of_nodes_on_two_feeds_their_share_counts_on_each(good: Run) -> None:
    """Four busy nodes of 250 W; half of the first two is on this feed, and the third is not."""
    share = np.array([0.5, 0.5, 0.0, 1.0])

    def feed(limit_w: float) -> PowerBound:
        return PowerBound("feed0", limit_w, idle_w=200.0, nodes=np.arange(4), share=share)

    assert verify(replace(good, bounds=(feed(500.0),))).sentences == []
    (found,) = sentences(replace(good, bounds=(feed(499.0),)), "feed0 is above")
    assert "draws 500 W at most" in found


def test_bounds_without_nodes_by_name_cannot_be_checked_and_that_is_said(good: Run) -> None:
    assert sentences(replace(good, placement=None, bounds=(rack(1e6),)), "does not say which nodes")


def test_a_run_folder_keeps_the_bounds(good: Run, tmp_path) -> None:
    scattered = PowerBound("odd", 1e6, 300.0, np.array([0, 1, 5]))
    back = rundir.read(rundir.write(replace(good, bounds=(rack(999.0), scattered)), tmp_path / "r"))
    assert [bound.entity for bound in back.bounds] == ["rack0", "odd"]
    assert back.bounds[1].nodes.tolist() == [0, 1, 5]
    assert sentences(back, "rack0 is above its bound of 999 W")
