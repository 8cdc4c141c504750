"""Caps of nodes come down first and rise last; jobs step aside only where the site lets them."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace

import pytest
from tests.unit.controller.fakes import FakeFleet, FakeSlurm

from wattline.controller.keeping_cap import CapKeeper, shared
from wattline.controller.metering import Meters
from wattline.controller.node_power import NodePower
from wattline.controller.suspended_jobs import jobs_aside
from wattline.controller.told import Told
from wattline.controller.watching import Watcher
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import SlurmJob

LEAST_W = {"a": 100.0, "b": 100.0}


def test_nodes_share_what_is_lacking_in_proportion_and_never_go_below_their_least() -> None:
    caps, lacking_w = shared({"a": 300.0, "b": 200.0}, 400.0, LEAST_W, 0.0)
    assert sum(caps.values()) == pytest.approx(400.0)
    assert (300 - caps["a"]) / 200 == pytest.approx((200 - caps["b"]) / 100)
    assert lacking_w == -200.0
    caps, lacking_w = shared({"a": 300.0, "b": 200.0}, 150.0, LEAST_W, 0.0)
    assert caps == {"a": 100.0, "b": 100.0}
    assert lacking_w == 50.0
    assert shared({"a": 300.0}, 300.0, LEAST_W, 10.0)[0] == {}
    assert shared({}, 100.0, {}, 10.0) == ({}, -100.0)


class Site:
    """Two nodes with a job each of 300 W, of which the second came last."""

    def __init__(self, when_short: str = "", cap_w: float = 600.0) -> None:
        self.cap_w = cap_w
        self.fleet = FakeFleet({"n1": 300.0, "n2": 300.0})
        self.slurm = FakeSlurm()
        self.watcher = Watcher(["n1", "n2"], mark="ours")
        for number in (0, 1):
            self.watcher.told[str(number)] = Told(str(number), 1, 60.0, 300.0, (number,), True)
        meters = Meters(self.fleet, self.watcher, lambda: 600.0, lambda: 0.0)
        self.policy_caps: dict[str, float] = {}
        self.keeper = CapKeeper(self.fleet, self.slurm, self.watcher, meters, lambda: self.cap_w,
                                self.policy_caps, 90.0, 120.0, when_short, act=True)

    def keep(self, now_s: float) -> dict[str, float]:
        self.fleet.now_s = now_s
        self.keeper.meters.hear(now_s)
        self.keeper.keep(now_s)
        return {name: cap for name, cap in self.fleet.caps_w.items() if math.isfinite(cap)}


def seen_job(label: str) -> SlurmJob:
    return SlurmJob(label, int(label), 0, "RUNNING", 1, 1, 60.0, 0.0, math.nan, 0.0)


class RefusesOne(FakeSlurm):
    """As of a job that was submitted with --no-requeue."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self.refused = label

    def requeue(self, label: str, *, hold: bool = False) -> None:
        if label == self.refused:
            raise SlurmError("requested operation is presently disabled")
        self.told.append(("requeue", label, hold))


def test_a_lowered_cap_lowers_nodes_at_once_and_a_raised_one_lifts_them() -> None:
    site = Site()
    assert site.keep(10.0) == {}
    site.cap_w = 500.0
    caps = site.keep(10.5)
    assert 480.0 < sum(caps.values()) <= 500.0
    assert site.keeper.throttled == {"n1", "n2"}
    site.fleet.power_w = dict(caps)
    assert site.keep(11.0) == caps
    site.cap_w = 700.0
    assert site.keep(11.5) == {}
    assert site.fleet.orders == sorted(set(site.fleet.orders))


@pytest.mark.parametrize("noise", [0.01, 0.02])
@pytest.mark.parametrize("level", [0.99, 1.0, 1.01])
def test_caps_do_not_follow_noise_where_the_power_sits_at_the_cap(noise, level) -> None:
    """Ten minutes at a look per half second and a reading per second."""
    site, source = Site(), random.Random(1)
    lowered: list[bool] = []
    for step in range(1200):
        if step % 2 == 0:
            site.fleet.power_w = {
                name: min(300.0 * level * (1.0 + source.uniform(-noise, noise)),
                          site.fleet.caps_w.get(name, math.inf)) for name in ("n1", "n2")}
        lowered.append(bool(site.keep(0.5 * step)))
    changes = sum(one != other for one, other in itertools.pairwise(lowered))
    assert changes <= 1  # lowered once, where noise has reached the cap
    assert len(site.fleet.orders) <= 600 / (site.keeper.lease_s / 3) + 4  # leases, and few others
    site.watcher.told["1"].running = False  # and lifted once there is room
    site.fleet.power_w["n2"] = 90.0
    assert site.keep(610.0) == {}


def test_readings_that_come_late_on_nodes_without_jobs_leave_others_no_more_room() -> None:
    """A tenth of a second late: 90 W look like 81, and like 99 in the next reading."""
    site = Site(cap_w=300.0)
    del site.watcher.told["1"]  # it has just ended
    left_w = []
    for second in range(20):
        site.fleet.power_w = {"n1": 205.0, "n2": 81.0 if second % 2 else 99.0}
        left_w.append(300.0 - 90.0 - site.keep(float(second))["n1"])
    assert min(left_w[4:]) > -0.5, left_w
    assert max(left_w[8:]) < 5.0, left_w
    site.fleet.power_w["n2"] = 180.0  # no reading is so late
    assert site.keep(20.0) == {"n1": 120.0}


@pytest.mark.parametrize(("off", "off_w", "left_w"), [
    (set(), 0.0, 201.0), ({"n2"}, 0.0, 291.0), ({"n2"}, 15.0, 276.0)])
def test_a_silent_node_that_is_off_draws_what_it_draws_when_off(
    off: set[str], off_w: float, left_w: float
) -> None:
    """Under 292.5 W less the margin of half a per cent, beside a node without a job: 292.5 x 0.995
    is 291 W, of which an idle node takes 90 W, and one that is off what is said of it."""
    site = Site(cap_w=292.462)
    del site.watcher.told["1"], site.fleet.power_w["n2"]
    site.watcher.power = NodePower(off_w=off_w)
    site.watcher.off = off
    assert site.keep(10.0) == {"n1": pytest.approx(left_w, abs=0.01)}


def test_nodes_of_a_class_come_down_to_a_least_of_their_own() -> None:
    """Of 300 W each: 60 W is as low as the first can go, and 200 W the second."""
    site = Site("suspend", cap_w=265.0)
    site.watcher.power = NodePower({}, {}, {"n1": 60.0, "n2": 200.0})
    assert site.keep(10.0) == pytest.approx({"n1": 62.595, "n2": 201.081}, abs=0.01)
    site.cap_w = 259.0
    site.keep(20.0)
    site.keep(22.0)
    assert site.slurm.told[0] == ("suspend", "1")
    site.fleet.power_w = {"n1": 60.0, "n2": 90.0}
    site.keep(23.0)
    site.cap_w = 265.0  # 60 and 200 W, and 2 % of the cap to spare
    site.keep(30.0)
    assert [told[0] for told in site.slurm.told if told[0] != "explain"] == ["suspend"]
    site.cap_w = 270.0
    site.keep(31.0)
    assert site.slurm.told[-2] == ("resume", "1")


def test_nodes_that_do_not_obey_are_not_called_lowered_and_others_come_down_for_them() -> None:
    site = Site(cap_w=500.0)
    site.fleet.without_knobs = {"n1"}
    for second in range(40):
        site.fleet.power_w["n2"] = min(300.0, site.fleet.caps_w.get("n2", math.inf))
        site.keep(float(second))
    assert site.keeper.throttled == {"n2"}
    assert 190.0 < site.fleet.caps_w["n2"] <= 200.0
    site.fleet.power_w["n2"] = 300.0
    site.fleet.without_knobs = {"n1", "n2"}
    site.keeper.remarks.clear()
    for second in range(40, 60):
        site.keep(float(second))
    assert site.keeper.throttled == set()
    assert any("cannot be kept" in said for said in site.keeper.remarks)
    assert not any("nodes lowered" in said for said in site.keeper.remarks)
    site.fleet.without_knobs = set()
    for second in range(60, 72):
        site.keep(float(second))
    assert site.keeper.throttled == {"n1", "n2"}


@pytest.mark.parametrize(("drawn_w", "told"), [(150.0, []), (300.0, [("suspend", "1")])])
def test_where_no_node_obeys_a_job_steps_aside_for_what_is_drawn_and_not_for_a_claim(
    drawn_w: float, told: list[tuple[str, str]]
) -> None:
    """Two jobs of 300 W by what they say, under a cap of 500 W."""
    site = Site("suspend", cap_w=500.0)
    site.fleet.without_knobs = {"n1", "n2"}
    site.fleet.power_w = {"n1": drawn_w, "n2": drawn_w}
    for second in range(9):
        site.keep(float(second))
    assert [each[:2] for each in site.slurm.told if each[0] != "explain"] == told


def test_while_slurm_is_busy_no_job_steps_aside_and_caps_come_down_all_the_same() -> None:
    site = Site("suspend", cap_w=215.0)
    for now_s in (10.0, 11.5, 13.0):
        site.keeper.meters.hear(now_s)
        site.keeper.keep(now_s, caps_alone=True)
    assert site.slurm.told == []
    assert site.fleet.caps_w == {"n1": 120.0, "n2": 120.0}
    site.keep(13.5)
    assert site.slurm.told[0] == ("suspend", "1")


def test_jobs_that_draw_more_than_they_said_are_brought_down() -> None:
    site = Site()
    site.fleet.power_w = {"n1": 380.0, "n2": 300.0}
    assert sum(site.keep(10.0).values()) <= 600.0


def test_meters_that_stay_above_the_cap_bring_caps_further_down() -> None:
    site = Site(cap_w=500.0)
    first = sum(site.keep(10.0).values())
    site.fleet.power_w = {"n1": 275.0, "n2": 275.0}  # 50 W more than was ordered
    for now_s in (11.0, 12.0, 13.0):
        site.keep(now_s)
    assert sum(site.keep(14.0).values()) < first - 40.0


def test_a_node_that_drains_and_draws_more_than_its_cap_is_noticed() -> None:
    site = Site(cap_w=500.0)
    site.watcher.down = {"n1"}
    first = sum(site.keep(10.0).values())
    site.fleet.power_w = {"n1": 300.0, "n2": 250.0}
    for now_s in (11.0, 12.0, 13.0):
        site.keep(now_s)
    assert sum(site.keep(14.0).values()) < first - 40.0


def test_the_policys_own_caps_stay() -> None:
    site = Site()
    site.policy_caps["n1"] = 200.0
    assert site.keep(10.0) == {"n1": 200.0}
    site.cap_w = 450.0
    caps = site.keep(11.0)
    assert caps["n1"] < 200.0
    assert sum(caps.values()) <= 450.0


def test_where_caps_are_not_enough_the_job_that_came_last_steps_aside_and_comes_back() -> None:
    site = Site("suspend", cap_w=215.0)
    site.keep(10.0)
    assert site.slurm.told == []
    site.keep(11.5)
    assert site.slurm.told[0] == ("suspend", "1")
    assert site.slurm.told[1][:2] == ("explain", "1")
    assert site.slurm.told[1][2].startswith("ours: ")
    site.fleet.power_w = {"n1": 120.0, "n2": 90.0}
    site.keep(12.0)
    site.cap_w = 600.0
    site.keep(13.0)
    assert site.slurm.told[-2] == ("resume", "1")
    assert not site.watcher.told["1"].aside


@pytest.mark.parametrize(("cap_w", "comes_back"), [
    (230.0, False), (240.0, False), (244.0, False), (245.0, True), (600.0, True)])
def test_a_job_comes_back_only_with_room_to_spare(cap_w: float, comes_back: bool) -> None:
    """Both at their least draw 240 W; at just that the job would step aside and back for ever."""
    site = Site("suspend", cap_w=215.0)
    site.keep(10.0)
    site.keep(11.5)
    site.fleet.power_w = {"n1": 120.0, "n2": 90.0}
    site.keep(12.0)
    site.cap_w = cap_w
    for at_s in range(13, 40):
        site.keep(float(at_s))
    assert [told[0] for told in site.slurm.told if told[0] != "explain"] == (
        ["suspend", "resume"] if comes_back else ["suspend"])


def test_a_site_may_have_jobs_requeued_or_left_alone() -> None:
    site = Site("requeue", cap_w=215.0)
    site.watcher.seen = (replace(seen_job("1"), comment="ours"),)
    site.keep(10.0)
    site.keep(11.5)
    assert site.slurm.told == [
        ("explain", "1", "ours: queued again to keep the cap (life 1)"), ("requeue", "1", True)]
    site = Site(cap_w=215.0)
    site.keep(10.0)
    site.keep(11.5)
    site.keep(13.0)
    assert site.slurm.told == []
    assert [said for said in site.keeper.remarks if "when_short" in said] == [
        "the cap of 215 W cannot be kept: at the lowest caps of nodes 240 W are drawn, 25 W more, "
        "and the site lets no job be suspended or requeued (when_short)"]


def test_a_job_of_others_is_requeued_without_a_hold_that_nobody_would_lift() -> None:
    site = Site("requeue", cap_w=215.0)
    site.watcher.seen = (seen_job("1"),)
    site.keep(10.0)
    site.keep(11.5)
    assert site.slurm.told == [("requeue", "1", False)]


def test_where_slurm_refuses_to_put_a_job_aside_the_next_has_to_go_and_it_is_said_once() -> None:
    site = Site("requeue", cap_w=215.0)
    site.slurm = site.keeper.slurm = RefusesOne("1")
    for at_s in range(10, 30):
        site.keep(float(at_s))
    assert site.slurm.told[0][:2] == ("requeue", "0")
    said = [each for each in site.keeper.remarks if "could not be put aside" in each]
    assert len(said) == 1, said
    site.cap_w = 600.0
    site.keep(31.0)
    site.cap_w = 215.0
    site.keep(32.0)
    site.keep(33.5)
    assert len([each for each in site.keeper.remarks if "could not be put aside" in each]) == 2


def test_a_running_job_that_the_books_did_not_take_is_slowed_and_put_aside_like_others() -> None:
    """Slurm gives the nodes of a suspended job to others; the books count them for that one."""
    site = Site("suspend", cap_w=500.0)
    site.watcher.told["0"].suspended = True
    site.watcher.told["2"] = Told("2", 1, 60.0, 300.0, (0,), running=False, untold=True)
    assert set(site.keep(10.0)) == {"n1", "n2"}
    site.cap_w = 215.0
    site.keep(11.0)
    site.keep(12.5)
    assert ("suspend", "2") in site.slurm.told


def test_a_cap_that_cannot_be_kept_is_said_once_when_no_job_is_left_and_again_of_another() -> None:
    site = Site("suspend", cap_w=100.0)
    for told in site.watcher.told.values():
        told.suspended = True
    site.fleet.power_w = {"n1": 90.0, "n2": 90.0}

    def said() -> list[str]:
        return [remark for remark in site.keeper.remarks if "cannot be kept" in remark]

    for now_s in (10.0, 11.5, 12.0, 13.0):
        site.keep(now_s)
    assert said() == ["the cap of 100 W cannot be kept: at the lowest caps of nodes 180 W are "
                      "drawn, 80 W more, and no running job is left to suspend"]
    site.cap_w = 150.0
    site.keep(14.0)
    assert len(said()) == 2
    site.cap_w = 200.0
    site.keep(15.0)
    site.cap_w = 150.0
    site.keep(16.0)
    site.keep(17.5)
    assert len(said()) == 3
    assert site.slurm.told == []


def test_the_lowest_priority_goes_first_and_comes_back_last() -> None:
    site = Site("suspend", cap_w=215.0)
    site.watcher.seen = tuple(
        SlurmJob(label, int(label), 0, "RUNNING", 1, 1, 60.0, 0.0, math.nan, 0.0, priority=priority)
        for label, priority in (("0", 5), ("1", 9)))
    site.keep(10.0)
    site.keep(11.5)
    assert site.slurm.told[0] == ("suspend", "0")
    site.watcher.told["1"].aside = True
    assert [told.label for told in jobs_aside(site.watcher)] == ["1", "0"]


def test_a_dry_run_orders_nothing_and_says_what_it_would() -> None:
    site = Site("suspend", cap_w=215.0)
    site.keeper.act = False
    site.keep(10.0)
    site.keep(12.0)
    site.keeper.leave(12.5)
    assert (site.slurm.told, site.fleet.orders) == ([], [])
    assert "would be lowered" in site.keeper.remarks[0]
    assert [said for said in site.keeper.remarks if "cannot be kept" in said] == [
        "the cap of 215 W cannot be kept: at the lowest caps of nodes 240 W are drawn, 25 W more, "
        "and a dry run leaves jobs alone: it would suspend job 1 first"]


@pytest.mark.parametrize(("cap_w", "policy_w", "left"), [
    (600.0, {}, False), (600.0, {"n1": 200.0}, False), (500.0, {}, True),
    (590.0, {"n1": 200.0}, True), (math.inf, {"n1": 200.0}, False)])
def test_a_stop_lifts_caps_only_where_the_cap_has_room_for_what_jobs_want(
    cap_w: float, policy_w: dict[str, float], left: bool
) -> None:
    """Two jobs want 600 W; what the keeper or the policy has slowed draws less."""
    site = Site(cap_w=cap_w)
    site.policy_caps.update(policy_w)
    site.keep(10.0)
    before = site.keep(11.0)
    site.keeper.leave(12.0)
    assert site.fleet.caps_w == (before if left else {})
    assert any("600 W at full speed" in line for line in site.keeper.remarks) == left
    if left:
        assert sum(site.fleet.caps_w.get(name, 300.0) for name in ("n1", "n2")) <= cap_w


@pytest.mark.parametrize(("cap_w", "resumed"), [(400.0, True), (380.0, False)])
def test_a_stop_leaves_a_job_aside_where_it_would_break_the_cap(
    cap_w: float, resumed: bool
) -> None:
    """Beside 100 W on the first node, the second wants 300 W."""
    site = Site("suspend", cap_w=cap_w)
    site.fleet.power_w = {"n1": 100.0, "n2": 90.0}
    site.watcher.told["0"].watts = 100.0
    site.watcher.told["1"].suspended = site.watcher.told["1"].aside = True
    site.keeper.meters.hear(9.0)
    site.keeper.leave(10.0)
    assert [told[:2] for told in site.slurm.told if told[0] != "explain"] == (
        [("resume", "1")] if resumed else [])
    assert any("job 1 stays suspended" in line for line in site.keeper.remarks) != resumed


def test_caps_that_are_left_are_a_later_order_also_where_the_clock_was_set_back() -> None:
    site = Site(cap_w=500.0)
    site.keeper._order = 10**15
    site.keep(10.0)
    site.keeper.leave(11.0)
    assert site.fleet.orders == [10**15 + 1, 10**15 + 2]
