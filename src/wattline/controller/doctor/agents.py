"""Whether the broker of a site takes us for its controller, and whether agents report there.

It only listens, beside a controller that may run: nothing is ordered of any node.
"""

from __future__ import annotations

import math
import os
import socket
import ssl
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from wattline.controller.configuration import SiteConfig
from wattline.controller.doctor.check import Check, checked
from wattline.controller.node_power import NodePower
from wattline.controller.safe_caps import MEND, too_high
from wattline.live.fleet import NodeReport
from wattline.live.transport.link import BrokerSettings, Link, read_key
from wattline.live.transport.messages import MessageError, topic, unpack_report, unpack_state
from wattline.model.errors import InputError
from wattline.model.units import counted, fold_hosts

PATIENCE_S = 5.0
LISTEN_S = 6.0
"""Agents report once per second, unless their files say otherwise."""
MOST_OFF_S = 10.0
"""A node whose clock is off by more would refuse orders before long (`order_age`)."""
KEYS = "the keys of the member controller, which `wattline agent keys` makes with those of nodes"


def agent_checks(site: SiteConfig, listen_s: float = LISTEN_S) -> list[Check]:
    """Of a site with a [broker]; what depends on what is missing is not looked at."""
    broker = site.broker
    if broker is None:
        return []
    found = [_order_key(site), _reached(broker)]
    if not found[-1].ok:
        return found
    found.append(_trusted(broker))
    if not found[-1].ok:
        return found
    heard = _Heard()
    link = Link(broker, f"{site.cluster}-doctor-{os.getpid()}",
                [topic(site.cluster, "+", what) for what in ("report", "state")], heard.take,
                say=heard.said.append)
    try:
        _until(lambda: link.connected or bool(heard.said), PATIENCE_S)
        if not link.connected:
            return [*found[:-1], _refused(broker, heard.said)]
        _until(lambda: heard.reports.keys() >= set(site.node_names), listen_s)
    finally:
        link.close()
    return [*found, *_agents(site, heard)]


@dataclass
class _Heard:
    """What came while we listened; the broker's thread tells it."""

    reports: dict[str, NodeReport] = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)
    safe_w: dict[str, float] = field(default_factory=dict)
    """The caps to which nodes fall back, as their agents say."""
    off_s: dict[str, float] = field(default_factory=dict)
    """By how much each node's clock is ahead of ours."""
    said: list[str] = field(default_factory=list)

    def take(self, where: str, payload: bytes) -> None:
        node, what = where.split("/")[-2:]
        if what == "state":
            self.states[node], safe_w = unpack_state(payload)
            if not math.isnan(safe_w):
                self.safe_w[node] = safe_w
            return
        try:
            readings = unpack_report(node, payload).readings
        except MessageError:
            return
        if readings:
            report = readings[-1][1]
            self.off_s[node] = report.time_s - time.time()
            self.reports[node] = report


def _order_key(site: SiteConfig) -> Check:
    try:
        read_key(site.order_key)
    except (InputError, OSError) as error:
        return checked("order key", False, str(error),
                       f"name the file order.key of {KEYS} as order_key")
    return checked("order key", True, f"{site.order_key} can be used", "")


def _reached(broker: BrokerSettings) -> Check:
    place = f"{broker.host}:{broker.port}"
    try:
        with socket.create_connection((broker.host, broker.port), timeout=PATIENCE_S):
            return checked("broker", True, f"{place} answers", "")
    except (OSError, UnicodeError) as error:
        return checked("broker", False, f"{place} does not answer: {error}",
                       "start the broker (mosquitto -c keys/broker/mosquitto.conf), let this "
                       "machine through to its port, or mend host and port in [broker]")


def _trusted(broker: BrokerSettings) -> Check:
    """Whether our files can be used, and the broker is the one that they are for."""
    try:
        context = broker.context()
    except InputError as error:
        return checked("broker keys", False, str(error), f"name {KEYS}, as ca, certificate and "
                       "key in [broker], and let the controller's user read them")
    try:
        with socket.create_connection((broker.host, broker.port), timeout=PATIENCE_S) as plain, \
                context.wrap_socket(plain, server_hostname=broker.host):
            return checked("broker keys", True, "both sides are known to each other", "")
    except ssl.SSLCertVerificationError as error:
        return checked("broker keys", False, "the broker's certificate is not believed: "
                       f"{error.verify_message}", "ca must be of the broker's own authority, host "
                       "as `wattline agent keys --host` named it, and the certificate not expired")
    except OSError as error:  # not TLS at all, or an alert of the broker's
        return _refused(broker, [str(error)])


def _refused(broker: BrokerSettings, said: list[str]) -> Check:
    why = said[-1] if said else f"no answer in {PATIENCE_S:g} s"
    return checked("broker keys", False, f"{broker.host}:{broker.port} does not let us in: {why}",
                   f"take {KEYS}, and a broker with TLS that knows their authority (its log says "
                   "whom it refused)")


def _agents(site: SiteConfig, heard: _Heard) -> list[Check]:
    names = site.node_names
    silent = [node for node in names if node not in heard.reports]
    found = f"{len(names) - len(silent)} of {len(names)} nodes report"
    if silent:
        found += f"; {_silent(silent, heard.states)}"
    unsigned = [node for node in names if node in heard.reports
                and "did not sign" in heard.reports[node].reason]
    if unsigned:
        found += f"; {_some(unsigned)} refused orders that were signed with another key"
    # A cap can be kept on nodes that report; where none does there is no keeper of the cap.
    found_ok = checked("agents", not silent and not unsigned, found, _mend(silent, unsigned),
                       must=len(silent) == len(names))
    wrong = [node for node in names if abs(heard.off_s.get(node, 0.0)) > MOST_OFF_S]
    if len(silent) == len(names):
        return [found_ok]
    worst_s = max((abs(off_s) for off_s in heard.off_s.values()), default=0.0)
    return [found_ok, *_safe_caps(site, heard.safe_w), checked(
        "clocks of agents", not wrong, f"at most {worst_s:.1f} s from this machine's"
        + (f"; {_some(wrong)} more than {MOST_OFF_S:g} s" if wrong else ""),
        "let chrony or systemd-timesyncd set them: an agent refuses orders that are older than its "
        "order_age", must=False)]


def _safe_caps(site: SiteConfig, safe_w: Mapping[str, float]) -> list[Check]:
    """Check what holds when the controller is silent, and where no job can be lowered at all."""
    names, busy_w = site.node_names, _busy_w(site)
    known = [node for node in names if node in safe_w]
    if known:
        said = too_high(safe_w, names, busy_w.__getitem__, site.cap)
        return [checked("safe caps", not said, said or f"of {counted(len(known), 'node')}, within "
                        f"the cap of {site.cap:,.0f} W", MEND, must=False)]
    total_w = sum(map(busy_w.__getitem__, names))
    said = f"no agent has knobs; {counted(len(names), 'node')} with jobs draw {total_w:,.0f} W"
    if total_w <= site.cap:
        return [checked("safe caps", True, f"{said}, within the cap of {site.cap:,.0f} W", "",
                        must=False)]
    return [checked("safe caps", False, f"{said}, above the cap of {site.cap:,.0f} W: it is kept "
                    "by what jobs claim alone. No watts that a job leaves are lent, and what one "
                    "draws beyond its claim nothing takes back", "give agents knobs (limits.knobs, "
                    "with low, high and safe), or let jobs claim all that they draw", must=False)]


def _busy_w(site: SiteConfig) -> Mapping[str, float]:
    """By node what it draws with a job."""
    if site.parts is not None:
        return {name: each.full_w for name, each in site.parts.nodes.items()}
    return NodePower.of(site).active_w


def _silent(nodes: list[str], states: dict[str, str]) -> str:
    """Who does not report, and what the broker last heard of them."""
    parts = {"gone": "died or lost the network", "left": "stopped", "up": "connected, and silent"}
    said = []
    for state, words in parts.items():
        mine = [node for node in nodes if states.get(node) == state]
        said += [f"{_some(mine)} {words}"] if mine else []
    never = [node for node in nodes if states.get(node) not in parts]
    return ", ".join([*said, *([f"{_some(never)} never heard of"] if never else [])])


def _mend(silent: Collection[str], unsigned: Collection[str]) -> str:
    said = ["start `wattline agent` on those that do not (systemctl start wattline-agent); its log "
            "says what keeps it, and its cluster must be that of this file"] if silent else []
    if unsigned:
        said.append("give agents and controller keys that were made together: order_key is not the "
                    "one that these nodes' keys follow from")
    return "; ".join(said)


def _some(nodes: list[str]) -> str:
    return fold_hosts(nodes[:8]) + (f" and {len(nodes) - 8} more" if len(nodes) > 8 else "")


def _until(ready: Callable[[], bool], within_s: float) -> None:
    end_s = time.monotonic() + within_s
    while not ready() and time.monotonic() < end_s:
        time.sleep(0.05)
