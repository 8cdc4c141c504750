"""Nodes without a reading are said once, and the cap is kept by what is booked for them."""

from __future__ import annotations

import math

import pytest
from tests.unit.controller.fakes import FakeFleet
from tests.unit.controller.test_keeping_cap import Site

from wattline.controller.metering import STALE_S
from wattline.controller.silent_nodes import SilentNodes
from wattline.live.fleet import NodeReport
from wattline.live.sensor import Quality


class Gaps(FakeFleet):
    """Nodes of which some report that they have no reading."""

    silent: tuple[str, ...] = ()

    def reports(self) -> list[NodeReport]:
        gaps = [NodeReport(name, self.now_s, math.nan, 0.0, math.inf, quality=Quality.MISSING,
                           reason="psys@0: the counter has stood still for 6 s")
                for name in self.silent]
        return gaps + [each for each in super().reports() if each.node not in self.silent]


def with_gaps(cap_w: float = 600.0) -> tuple[Site, Gaps, SilentNodes]:
    site = Site(cap_w=cap_w)
    fleet = Gaps({"n1": 300.0, "n2": 300.0})
    site.fleet = site.keeper.fleet = site.keeper.meters.fleet = fleet
    return site, fleet, SilentNodes(site.keeper.meters, [], 0.0)


def test_silent_nodes_are_said_once_with_the_reason_and_when_all_are_back() -> None:
    site, fleet, said = with_gaps()
    for now_s in (0.0, 10.0):
        site.keep(now_s)
        said.look(now_s)
    assert said.notes == []
    fleet.silent = ("n2",)
    for now_s in range(11, 40):
        site.keep(float(now_s))
        said.look(float(now_s))
    assert said.notes == ["no reading of n2 (psys@0: the counter has stood still for 6 s): what is "
                          "booked there counts, or what a node draws idle"]
    fleet.silent = ()
    for now_s in (40.0, 41.0):
        site.keep(now_s)
        said.look(now_s)
    assert said.notes[1:] == ["all nodes have readings again"]


@pytest.mark.parametrize("out", ["down", "off"])
def test_nodes_that_are_out_of_use_and_those_that_have_just_been_asked_are_not(out: str) -> None:
    site, fleet, said = with_gaps()
    fleet.silent = ("n2",)
    site.keep(0.0)
    said.look(STALE_S)
    getattr(site.watcher, out).add("n2")
    del site.watcher.told["1"]
    fleet.now_s = STALE_S + 1.0
    site.keeper.meters.hear(STALE_S + 1.0)
    said.look(STALE_S + 1.0)
    assert said.notes == []


def test_a_node_that_drains_is_in_use_as_long_as_its_job_runs() -> None:
    site, fleet, said = with_gaps()
    fleet.silent = ("n2",)
    site.keep(0.0)
    site.watcher.down.add("n2")
    fleet.now_s = STALE_S + 1.0
    site.keeper.meters.hear(STALE_S + 1.0)
    said.look(STALE_S + 1.0)
    assert [note.partition(" (")[0] for note in said.notes] == ["no reading of n2"]


@pytest.mark.parametrize("silent", [("n2",), ("n1", "n2")])
def test_a_cap_is_kept_by_what_is_booked_where_nodes_are_silent(silent: tuple[str, ...]) -> None:
    site, fleet, _ = with_gaps(cap_w=500.0)
    site.keep(0.0)
    fleet.silent = silent
    for now_s in range(1, 30):
        caps = site.keep(float(now_s))
        if now_s > STALE_S:
            assert math.isnan(site.keeper.meters.machine_w(float(now_s)))
        assert 0.0 < sum(caps.values()) <= 500.0


def test_what_was_learnt_above_the_cap_is_kept_while_one_node_is_silent() -> None:
    """n1 draws 60 W more than its cap; n2 has fallen silent and may draw what it is told to."""
    site, fleet, _ = with_gaps(cap_w=500.0)
    fleet.silent = ("n2",)
    drawn_w = []
    for step in range(60):
        caps = site.keep(0.5 * step)
        fleet.power_w["n1"] = caps["n1"] + 60.0
        drawn_w.append(fleet.power_w["n1"] + caps["n2"])
    assert drawn_w[0] > 550.0
    assert min(drawn_w[20:]) <= 500.0
    assert max(drawn_w[20:]) < 520.0  # now and then it is tried whether less would do
