"""Agents of a bed's nodes beside a real Slurm: reports, caps, marks, and a killed process."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from tests.slurm.bedside import held_j, slurm, state, submit, truth, until
from wattline.controller.testbed.agents import fleet_of
from wattline.controller.testbed.daemons import Daemons, is_running
from wattline.controller.testbed.layout import Bed
from wattline.live.fleet import NodeReport
from wattline.live.mqtt_fleet import MqttFleet


class Watch:
    """A bed's fleet, and all that it said."""

    def __init__(self, bed: Bed) -> None:
        self.fleet: MqttFleet = fleet_of(bed)
        self.all: list[NodeReport] = []

    def last(self) -> dict[str, NodeReport]:
        self.all += self.fleet.reports()
        return {report.node: report for report in sorted(self.all, key=lambda each: each.time_s)}


@pytest.fixture
def watch(bed: Bed) -> Iterator[Watch]:
    made = Watch(bed)
    yield made
    made.fleet.restore()
    made.fleet.close()


def next_order(watch: Watch) -> int:
    return 1 + max((each.order for each in watch.last().values()), default=0)


def test_every_node_reports_its_power(bed, watch):
    until(lambda: set(watch.last()) == set(bed.names))
    until(lambda: all(abs(each.power_w - 90.0) < 5.0 for each in watch.last().values()))
    until(lambda: watch.last() and watch.fleet.silent() == [])


def test_a_cap_takes_the_power_of_a_running_job_down_and_is_put_back(bed, watch):
    until(lambda: set(watch.last()) == set(bed.names))
    job = submit(bed, 8, 300, "-N", "2")
    until(lambda: sum(each.power_w > 280.0 for each in watch.last().values()) == 2)
    watch.fleet.cap(next_order(watch), dict.fromkeys(bed.names, 200.0), 30.0)
    until(lambda: all(each.power_w < 205.0 for each in watch.last().values()))
    watch.fleet.restore()
    until(lambda: all(each.cap_w == bed.power.maximum_w for each in watch.last().values()))
    until(lambda: state(bed, job) == "COMPLETED")


def test_marks_give_the_joules_of_a_short_job(bed, watch):
    until(lambda: set(watch.last()) == set(bed.names))
    job = submit(bed, 3, 280, "-N", "2")
    until(lambda: state(bed, job) == "COMPLETED")
    marks = {}

    def marked() -> int:
        watch.last()
        marks.update({(each.node, each.job): each.energy_j for each in watch.all
                      if each.job.endswith(f" {job}")})
        return len(marks)

    until(lambda: marked() == 4)
    drawn_j = sum(energy_j if what.startswith("end") else -energy_j
                  for (_, what), energy_j in marks.items())
    until(lambda: len(held_j(bed, job)) == 2)
    assert drawn_j == pytest.approx(sum(held_j(bed, job)), rel=0.03)
    assert drawn_j > truth(bed, job)["energy_j"]


def test_killed_agents_lose_no_joule_and_keep_the_caps(bed, watch):
    until(lambda: set(watch.last()) == set(bed.names))
    watch.fleet.cap(next_order(watch), dict.fromkeys(bed.names, 250.0), 30.0)
    until(lambda: all(each.cap_w == 250.0 for each in watch.last().values()))
    pid = int((bed.pids / "agents").read_text())
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_running(pid))
    until(lambda: len(watch.fleet.silent()) == bed.nodes)
    before = watch.last()
    Daemons(bed).start_agents()
    until(lambda: watch.fleet.silent() == [] and set(watch.last()) == set(bed.names))
    until(lambda: all(watch.last()[name].time_s > before[name].time_s + 8.0 for name in bed.names))
    for name, report in watch.last().items():
        assert report.cap_w == 250.0
        mean_w = (report.energy_j - before[name].energy_j) / (report.time_s - before[name].time_s)
        assert mean_w == pytest.approx(bed.power.idle_w, rel=0.05)
    assert slurm(bed, "squeue", "-h") == ""
