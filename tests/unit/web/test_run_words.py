"""What a recorded run says in words: what jobs wait for, and parts above their limits."""

from __future__ import annotations

from dataclasses import replace

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
