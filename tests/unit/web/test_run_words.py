"""A recorded run in words: what jobs wait for, and parts above their limits."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tests.support.demos import KeptDemo

import wattline as wl
from wattline.web.sources.run_index import RunIndex
from wattline.web.sources.run_words import why_waiting


def why_the_third_waits(backfill: str) -> str:
    """Ten nodes: six are held, a job of eight waits, and one of three that would run long."""
    jobs = wl.JobTable.build(submit_s=[0.0, 1.0, 2.0], run_s=[100.0, 100.0, 500.0],
                             requested_s=[100.0, 100.0, 500.0], procs=[6, 8, 3])
    machine = wl.Machine(nodes=10, node_idle_w=90, node_active_w=300)
    index = RunIndex(wl.simulate(jobs, machine=machine, backfill=backfill))
    moment = index.at(10.0)
    assert moment.waiting.tolist() == [1, 2]
    assert why_waiting(index, moment, 1) == "nodes: it needs 8, 4 are free"
    return why_waiting(index, moment, 2)


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_a_start_that_is_kept_for_another_job_is_called_that() -> None:
    assert why_the_third_waits("easy").startswith("the earliest start kept for a job before it")
    assert why_the_third_waits("none") == "the jobs before it in the queue"


def test_a_feed_above_its_limit_is_an_alarm_of_the_demo_and_of_a_run() -> None:
    shown = KeptDemo(speed=0.0, jobs=200).shown
    assert shown.now().alarms == []
    drawn_w = shown.now().by["feed"][0].power_w
    assert drawn_w is not None
    tight = replace(shown, feeds=tuple(replace(feed, limit_w=0.9 * drawn_w)
                                       for feed in shown.feeds[:1]))
    said = tight.now().alarms
    assert [alarm.level for alarm in said] == ["critical"]
    assert said[0].text.startswith("feed A draws ")
    assert said[0].text.endswith("above what it may carry")


@pytest.mark.parametrize("power", ["dvfs", "watts", "block", "wait", "adaptive"])
@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_power_is_the_reason_of_those_who_would_start_without_the_cap(power: str) -> None:
    """Held against the same jobs under a cap that was lifted at that moment."""
    jobs = from_second_0(120)
    machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    cap_w = 5500.0
    index = RunIndex(wl.simulate(jobs, machine=machine, power=power, cap=f"{cap_w} W"))
    said: Counter[tuple[bool, bool]] = Counter()
    for share in np.linspace(0.05, 0.7, 9):
        time_s = index.run.start_s + float(share) * (index.run.end_s - index.run.start_s)
        moment = index.at(time_s)
        lifted = RunIndex(wl.simulate(jobs, machine=machine, power=power, cap=[
            {"time_s": 0.0, "watts": cap_w}, {"time_s": time_s, "watts": 1e9}]))
        for row in moment.waiting.tolist():
            why = why_waiting(index, moment, row)
            assert "cannot be told" not in why
            said[why.startswith("power"), bool(lifted.start_s[row] <= time_s + 1.0)] += 1
    assert said[True, False] == said[False, True] == 0, said
    assert sum(said.values()) > 20
    assert power == "dvfs" or said[True, True] > 0, said


def from_second_0(count: int) -> wl.JobTable:
    """Jobs that come fast, each of which could start under the cap alone."""
    jobs = wl.generate("lublin", seed=11, jobs=count, nodes=32).jobs
    return replace(jobs, submit_s=(jobs.submit_s - jobs.submit_s[0]) / 3,
                   procs=np.minimum(jobs.procs, 12))


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_where_the_run_cannot_be_made_again_nothing_is_claimed() -> None:
    """A run whose starts its scenario does not lead to, as one of another version."""
    jobs = from_second_0(60)
    machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    run = wl.simulate(jobs, machine=machine, power="watts", cap="5500 W")
    index = RunIndex(run)
    time_s = float(np.median(run.schedule.start_s)) - 1.0
    moment = index.at(time_s)
    fits = [row for row in moment.waiting.tolist()
            if index.units_of[row] <= run.units - moment.busy]
    assert fits
    assert not any("cannot be told" in why_waiting(index, moment, row) for row in fits)
    starts_s = run.schedule.start_s.copy()
    starts_s[starts_s < time_s] += 0.5
    other = RunIndex(replace(run, schedule=replace(run.schedule, start_s=starts_s)))
    assert all("cannot be told" in why_waiting(other, moment, row) for row in fits)
