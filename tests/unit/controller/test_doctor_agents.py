"""The doctor's findings about a broker and of agents, at a real mosquitto."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.broker import Broker, free_port, until

from wattline.controller.configuration import SiteConfig
from wattline.controller.doctor.agents import agent_checks
from wattline.controller.doctor.check import Check
from wattline.live.fleet import NodeReport
from wattline.live.transport.broker import CONTROLLER, BrokerFiles, make_broker_files
from wattline.live.transport.link import BrokerSettings, Link
from wattline.live.transport.messages import pack_reading, pack_report, pack_state, topic

pytestmark = [pytest.mark.waits, pytest.mark.seldom]

NODES = ["n1", "n2", "n3"]
LISTEN_S = 1.5


@pytest.fixture(scope="module")
def broker(tmp_path_factory) -> Iterator[Broker]:
    made = Broker(tmp_path_factory.mktemp("broker"), NODES)
    yield made
    made.kill()


@pytest.fixture(scope="module")
def strange(tmp_path_factory) -> BrokerFiles:
    """Keys of another authority."""
    return make_broker_files(tmp_path_factory.mktemp("strange") / "keys", "bed", NODES,
                             host="127.0.0.1", port=1, user="root")


def site_of(broker: Broker, nodes: str = "n[1-2]", **other: object) -> SiteConfig:
    settings = broker.files.of(CONTROLLER).model_dump() | other
    return SiteConfig(nodes=nodes, node_idle_w=90, node_active_w=300, cap=1000, cluster="bed",
                      broker=BrokerSettings(**settings),
                      order_key=str(broker.files.order_key(CONTROLLER)))


@contextmanager
def reporting(broker: Broker, node: str, off_s: float = 0.0, reason: str = "",
              safe_w: float | None = None) -> Iterator[None]:
    """An agent's side: a report each tenth of a second."""
    link = Link(broker.files.of(node), f"bed-{node}", [], lambda where, payload: None,
                state=topic("bed", node, "state"), greeting=pack_state(safe_w))
    until(lambda: link.connected)
    ended = threading.Event()

    def report() -> None:
        while not ended.wait(0.1):
            said = NodeReport(node, time.time() + off_s, 200.0, 5.0, math.inf, reason=reason)
            link.publish(topic("bed", node, "report"),
                         pack_report(1, 1, [pack_reading(1, said)]))

    thread = threading.Thread(target=report)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        link.close()


def by_name(site: SiteConfig) -> dict[str, Check]:
    return {check.name: check for check in agent_checks(site, LISTEN_S)}


def test_a_site_whose_agents_all_report(broker: Broker) -> None:
    with reporting(broker, "n1"), reporting(broker, "n2"):
        found = agent_checks(site_of(broker), 20.0)
    assert [check.name for check in found] == [
        "order key", "broker", "broker keys", "agents", "safe caps", "clocks of agents"]
    assert [check.mend for check in found] == [""] * 6
    assert all(check.ok for check in found)
    assert found[3].found == "2 of 2 nodes report"


@pytest.mark.parametrize(("safe_w", "kept"), [(500.0, True), (501.0, False)])
def test_safe_caps_that_do_not_keep_the_cap_are_named(
    broker: Broker, safe_w: float, kept: bool
) -> None:
    with reporting(broker, "n1", safe_w=safe_w), reporting(broker, "n2", safe_w=safe_w):
        found = by_name(site_of(broker))["safe caps"]
    assert (found.ok, found.must) == (kept, False)
    assert ("within the cap of 1,000 W" if kept else "add up to 1,002 W, above the cap"
            ) in found.found
    assert kept or "lower `safe`" in found.mend


@pytest.mark.parametrize(("cap", "kept"), [(600.0, True), (599.0, False)])
def test_nodes_without_knobs_count_with_what_they_draw_busy(
    broker: Broker, cap: float, kept: bool
) -> None:
    """As `agent keys` writes the files: idle they draw 180 W, which no job has to."""
    with reporting(broker, "n1"), reporting(broker, "n2"):
        found = by_name(site_of(broker).model_copy(update={"cap": cap}))["safe caps"]
        mixed = by_name(site_of(broker, "n[1-3]"))["safe caps"]
    assert found.ok == kept
    assert "no agent has knobs; 2 nodes with jobs draw 600 W" in found.found
    assert kept or "limits.knobs" in found.mend
    assert "3 nodes with jobs draw 900 W, within the cap of 1,000 W" in mixed.found


def test_agents_that_are_silent_are_named_with_what_was_heard_of_them(broker: Broker) -> None:
    with reporting(broker, "n2"):
        pass  # it stops
    with reporting(broker, "n1"):
        found = by_name(site_of(broker, "n[1-3]"))["agents"]
    assert not found.ok
    assert not found.must
    assert found.found == "1 of 3 nodes report; n2 stopped, n3 never heard of"
    assert "start `wattline agent`" in found.mend


def test_where_no_agent_reports_the_cap_has_no_keeper(broker: Broker) -> None:
    found = by_name(site_of(broker, "n3"))
    assert (found["agents"].ok, found["agents"].must) == (False, True)
    assert found["agents"].found == "0 of 1 nodes report; n3 never heard of"
    assert "clocks of agents" not in found


def test_clocks_that_are_off_and_orders_of_another_key_are_named(broker: Broker) -> None:
    refused = "an order that this node's controller did not sign was refused"
    with reporting(broker, "n1", off_s=-25.0), reporting(broker, "n2", reason=refused):
        found = by_name(site_of(broker))
    assert not found["clocks of agents"].ok
    assert "n1 more than 10 s" in found["clocks of agents"].found
    assert "n2 refused orders that were signed with another key" in found["agents"].found
    assert "keys that were made together" in found["agents"].mend


def test_a_broker_that_does_not_answer(broker: Broker) -> None:
    site = site_of(broker, port=free_port())
    found = by_name(site)
    assert list(found) == ["order key", "broker"]
    assert (found["broker"].ok, found["broker"].must) == (False, True)
    assert "start the broker" in found["broker"].mend


def test_a_broker_of_another_authority_is_not_believed(
    broker: Broker, strange: BrokerFiles
) -> None:
    found = by_name(site_of(broker, ca=strange.of(CONTROLLER).ca))["broker keys"]
    assert not found.ok
    assert "the broker's certificate is not believed" in found.found
    assert "ca must be" in found.mend


def test_a_certificate_that_the_broker_does_not_know(broker: Broker, strange: BrokerFiles) -> None:
    other = strange.of(CONTROLLER)
    found = by_name(site_of(broker, certificate=other.certificate, key=other.key))
    assert list(found) == ["order key", "broker", "broker keys"]
    assert not found["broker keys"].ok
    assert "does not let us in" in found["broker keys"].found


def test_files_of_keys_that_cannot_be_used(broker: Broker, tmp_path: Path) -> None:
    found = by_name(site_of(broker, key=str(tmp_path / "none.key")))["broker keys"]
    assert not found.ok
    assert "cannot be used" in found.found
    (tmp_path / "order.key").write_text("short")
    site = site_of(broker).model_copy(update={"order_key": str(tmp_path / "order.key")})
    said = by_name(site)["order key"]
    assert (said.ok, said.must) == (False, True)
    assert "64 hexadecimal digits" in said.found


def test_a_site_without_a_broker_is_asked_nothing() -> None:
    assert agent_checks(SiteConfig(nodes="n1", node_idle_w=90, node_active_w=300, cap=1000)) == []
