"""One agent, order by order, on clocks that the test moves; no broker."""

from __future__ import annotations

import math

import pytest
from tests.support.emulated_node import FOUND_W, KNOB, EmulatedNode

from wattline.live.actuators.powercap import PowercapLimit
from wattline.live.agent.agent import Agent, Clocks
from wattline.live.agent.caps import Caps
from wattline.live.agent.meter import Meter
from wattline.live.agent.settings import AgentSettings
from wattline.live.sensors.powercap import Powercap
from wattline.live.transport.messages import Kind, Order, key_of, sign, unpack_report

KEY = key_of(bytes(32), "bed", "n1")
BROKER = {"host": "localhost", "ca": "ca", "certificate": "crt", "key": "key"}
LIMITS = {"knobs": (KNOB,), "low": 100.0, "high": 400.0, "safe": 150.0, "lease": 60.0}


class Node:
    """A node with an agent, two clocks, and a controller's pen."""

    def __init__(self, folder, **limits):
        self.emulated = EmulatedNode(folder)
        self.folder = folder
        self.day_s, self.steady_s = 1e9, 50.0
        self.settings = AgentSettings.model_validate(
            {"cluster": "bed", "node": "n1", "broker": BROKER, "order_key": "key",
             "readings": 60, "limits": {**LIMITS, **limits}})
        self.said: list[str] = []
        self.order = 0
        self.start()

    def start(self):
        meter = Meter(Powercap(self.emulated.tree, lambda: self.steady_s), clock=lambda: self.day_s,
                      steady=lambda: self.steady_s)
        actuator = PowercapLimit(self.emulated.tree) if self.settings.limits.knobs else None
        self.agent = Agent(
            "n1", KEY, self.settings, meter, Caps(actuator, self.settings.limits), self.folder,
            clocks=Clocks(lambda: self.day_s, lambda: self.steady_s), say=self.said.append)

    def pass_s(self, seconds):
        self.day_s += seconds
        self.steady_s += seconds

    def capped(self, cap_w, *, order=None, stamp_s=0.0, lease_s=30.0, key=KEY):
        self.order = order if order is not None else self.order + 1
        self.pass_s(0.001)
        signed = sign(Order(Kind.CAP, int((self.day_s + stamp_s) * 1e6), self.order, lease_s,
                            cap_w), key)
        self.agent.hear(signed)
        return signed

    def report(self):
        self.pass_s(1.0)
        ((_, report),) = unpack_report("n1", self.agent.tick()).readings
        return report


@pytest.fixture
def node(tmp_path):
    return Node(tmp_path)


def test_an_agent_that_never_had_an_order_changes_nothing(node):
    for _ in range(100):
        report = node.report()
    node.agent.close()
    assert node.emulated.cap_w == FOUND_W
    assert (report.cap_w, report.order) == (FOUND_W, 0)


def test_a_signed_order_is_obeyed_and_reported(node):
    node.capped(250.0)
    assert node.emulated.cap_w == 250.0
    report = node.report()
    assert (report.cap_w, report.order, report.reason) == (250.0, 1, "the meter was read for the "
                                                           "first time")


def refused(node, word):
    assert node.emulated.cap_w == FOUND_W
    assert word in node.report().reason
    assert any(word in line for line in node.said)


def test_an_order_that_another_signed_is_refused_and_said(node):
    node.report()
    node.capped(250.0, key=key_of(b"x" * 32, "bed", "n1"))
    refused(node, "did not sign")


@pytest.mark.parametrize("cap_w", [99.9, 400.1, -1.0, 0.0, math.nan, -math.inf])
def test_an_order_outside_of_the_nodes_own_limits_is_refused_and_said(node, cap_w):
    node.report()
    node.capped(cap_w)
    refused(node, "outside of what this node allows (100 to 400 W)")


@pytest.mark.parametrize("stamp_s", [-31.0, 31.0])
def test_an_order_that_is_too_old_or_from_the_future_is_refused_and_said(node, stamp_s):
    node.report()
    node.capped(250.0, stamp_s=stamp_s)
    refused(node, "old by this node's clock")


def test_an_order_without_a_lease_is_refused(node):
    node.capped(250.0, lease_s=math.nan)
    refused(node, "no lease")


def test_an_order_is_obeyed_once_also_after_a_kill(node):
    first = node.capped(250.0)
    node.capped(300.0)
    node.agent.hear(first)
    assert node.emulated.cap_w == 300.0
    node.start()  # what was before is gone without a word
    node.agent.hear(first)
    assert node.emulated.cap_w == 300.0
    assert "came before" in node.report().reason


def test_an_order_whose_number_is_not_above_the_last_is_ignored_and_said(node):
    node.capped(250.0, order=7)
    node.capped(300.0, order=7)
    assert node.emulated.cap_w == 250.0
    assert "order 7 is not above 7" in node.report().reason


def test_without_allowed_knobs_orders_change_nothing(tmp_path):
    node = Node(tmp_path, knobs=())
    node.report()
    node.capped(250.0)
    refused(node, "no knobs")
    assert node.report().cap_w == math.inf


def test_when_the_lease_ends_the_safe_cap_holds_until_there_is_an_order_again(node):
    node.capped(250.0, lease_s=30.0)
    node.pass_s(28.5)
    node.report()
    assert node.emulated.cap_w == 250.0
    report = node.report()
    assert node.emulated.cap_w == report.cap_w == 150.0
    assert "the safe cap holds" in report.reason
    node.capped(300.0)
    assert node.emulated.cap_w == 300.0


def test_an_order_cannot_have_a_longer_lease_than_the_node_allows(node):
    node.capped(250.0, lease_s=1e9)
    node.pass_s(60.0)
    node.report()
    assert node.emulated.cap_w == 150.0


@pytest.mark.parametrize("step_s", [-3600.0, 3600.0])
def test_a_clock_that_is_set_does_not_touch_the_lease(node, step_s):
    node.capped(250.0, lease_s=30.0)
    node.day_s += step_s
    node.report()
    assert node.emulated.cap_w == 250.0
    node.pass_s(30.0)
    node.report()
    assert node.emulated.cap_w == 150.0


def test_a_clean_stop_puts_back_what_was_found(node):
    node.emulated.cap_w = 390.0
    node.start()
    node.capped(250.0)
    node.capped(200.0)
    node.agent.close()
    assert node.emulated.cap_w == 390.0


def test_an_order_to_restore_puts_back_what_was_found_and_ends_the_lease(node):
    node.capped(250.0)
    node.pass_s(1.0)
    node.agent.hear(sign(Order(Kind.RESTORE, int(node.day_s * 1e6)), KEY))
    assert node.emulated.cap_w == FOUND_W
    node.pass_s(1000.0)
    node.report()
    assert node.emulated.cap_w == FOUND_W


def test_an_infinite_cap_puts_back_what_was_found_and_keeps_the_lease(node):
    node.capped(250.0)
    node.capped(math.inf)
    assert node.emulated.cap_w == FOUND_W
    node.pass_s(30.0)
    node.report()
    assert node.emulated.cap_w == 150.0


def test_after_a_kill_the_cap_holds_for_a_lease_then_the_safe_one_and_a_stop_restores(node):
    node.capped(250.0, lease_s=30.0)
    node.start()
    assert node.emulated.cap_w == 250.0
    assert node.report().order == 1
    node.pass_s(30.0)
    node.report()
    assert node.emulated.cap_w == 150.0
    node.agent.close()
    assert node.emulated.cap_w == FOUND_W


def test_after_a_boot_the_limit_of_then_is_found_anew(node, monkeypatch):
    node.capped(250.0)
    node.emulated.cap_w = 380.0  # the firmware's own
    monkeypatch.setattr("wattline.live.agent.agent.boot_id", lambda: "another")
    node.start()
    node.pass_s(60.0)
    node.report()
    assert node.emulated.cap_w == 150.0  # orders held before: the safe cap, after a lease
    node.agent.close()
    assert node.emulated.cap_w == 380.0


def test_readings_that_were_lost_are_sent_again_with_their_own_times(node):
    times = [node.report().time_s for _ in range(70)]
    asked = sign(Order(Kind.AGAIN, int(node.day_s * 1e6) + 1, first=1, last=65), KEY)
    batches = [unpack_report("n1", message) for message in node.agent.hear(asked)]
    found = [(number, report.time_s) for batch in batches for number, report in batch.readings]
    assert found == [(number, times[number - 1]) for number in range(11, 66)]
    assert {batch.oldest for batch in batches} == {11}
    gone = sign(Order(Kind.AGAIN, int(node.day_s * 1e6) + 2, first=1, last=5), KEY)
    (empty,) = [unpack_report("n1", message) for message in node.agent.hear(gone)]
    assert (empty.oldest, list(empty.readings)) == (11, [])


def test_a_mark_is_a_reading_with_the_jobs_name_between_those_of_the_clock(node):
    node.report()
    node.report()
    node.emulated.draw(120.0)
    node.pass_s(0.3)
    ((number, report),) = unpack_report("n1", node.agent.mark("4711")).readings
    assert (number, report.job, report.energy_j) == (3, "4711", 120.0)
    assert node.report().job == ""


def test_with_a_full_disk_orders_are_refused_and_said_but_the_safe_cap_and_restoring_work(node):
    node.capped(250.0)
    node.report()
    (node.folder / "state.new").mkdir()  # the file cannot be written
    node.capped(300.0)
    assert node.emulated.cap_w == 250.0
    report = node.report()
    assert "cannot be kept on disk" in report.reason
    assert report.order == 1
    node.pass_s(30.0)
    node.report()
    assert node.emulated.cap_w == 150.0
    node.agent.close()
    assert node.emulated.cap_w == FOUND_W
