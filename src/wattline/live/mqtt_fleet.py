"""The fleet of nodes behind an MQTT broker, as the controller sees it.

Reports arrive in the client's thread and wait until they are asked for; orders are handed to it and
nobody waits. Readings that were lost on the way are asked for again, and come late, with their own
times. A node is silent when nothing came from it for a while, gone when the broker says so.
"""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from wattline.live.fleet import NodeReport
from wattline.live.transport.gaps import Gaps
from wattline.live.transport.link import BrokerSettings, Link
from wattline.live.transport.messages import (
    UP,
    Kind,
    MessageError,
    Order,
    key_of,
    sign,
    topic,
    unpack_report,
    unpack_state,
)

SILENT_S = 5.0
MOST_ASKED = 500
"""Nodes whose gaps are asked for in one go: a broker that was away must not drown in them."""
MOST_REMARKS = 100


@dataclass
class _Node:
    """What is known of one node."""

    key: bytes
    orders: str
    """The topic of its orders."""
    gaps: Gaps = field(default_factory=Gaps)
    heard_s: float = -math.inf
    state: str = "unknown"
    safe_w: float = math.nan
    """As its agent said last."""
    base_j: float = 0.0
    """Joules of earlier lives, so that they never fall."""
    energy_j: float = 0.0


class MqttFleet:
    """A `Fleet` of the nodes named, whose agents speak through a broker."""

    def __init__(
        self, broker: BrokerSettings, cluster: str, nodes: Sequence[str], master: bytes, *,
        name: str = "controller", silent_s: float = SILENT_S,
        clock: Callable[[], float] = time.time,
        seen: Mapping[str, tuple[int, int, float]] | None = None, back: int = 0,
    ) -> None:
        """`seen` is what an earlier fleet said at its end: what came meanwhile is asked for.

        Of other nodes `back` readings are asked for, where they have them.
        """
        self._nodes = {node: _Node(key_of(master, cluster, node), topic(cluster, node, "order"))
                       for node in nodes}
        for each in self._nodes.values():
            each.gaps.back = back
        for node, (life, number, base_j) in (seen or {}).items():
            if node in self._nodes:
                self._nodes[node].gaps = Gaps(life, number, back=back)
                self._nodes[node].base_j = self._nodes[node].energy_j = base_j
        self._reporting = {topic(cluster, node, "report"): (node, known)
                           for node, known in self._nodes.items()}
        self._clock, self._silent_s = clock, silent_s
        self._lock = threading.Lock()
        self._came: list[NodeReport] = []
        self._remarks: list[str] = []
        self._gapped: set[str] = set()
        self._stamp_us = 0
        self._began_s = time.monotonic()
        self._link = Link(
            broker, f"{cluster}-{name}",
            [topic(cluster, "+", "report"), topic(cluster, "+", "state")], self._hear,
            say=self._remark)

    @property
    def connected(self) -> bool:
        return self._link.connected

    def reports(self) -> Sequence[NodeReport]:
        """What came since the last call, oldest first; late ones among them have old times."""
        with self._lock:
            came, self._came = self._came, []
        self._ask_again()
        came.sort(key=lambda report: report.time_s)
        return came

    def cap(self, order: int, caps_w: Mapping[str, float], lease_s: float) -> None:
        for node, cap_w in caps_w.items():
            self._send(node, Kind.CAP, order=order, lease_s=lease_s, cap_w=cap_w)

    def restore(self, nodes: Collection[str] | None = None) -> None:
        for node in self._nodes if nodes is None else nodes:
            self._send(node, Kind.RESTORE)

    def close(self) -> None:
        self._link.close()

    def silent(self) -> Sequence[str]:
        """Nodes of which nothing came for so long, or that the broker says are gone."""
        since_s = time.monotonic() - self._silent_s
        with self._lock:
            return [name for name, node in self._nodes.items()
                    if max(node.heard_s, self._began_s) < since_s
                    or node.state in ("gone", "left")]

    def safe_w(self) -> dict[str, float]:
        """Per node the cap to which it falls back, of those that have said it."""
        with self._lock:
            return {name: node.safe_w for name, node in self._nodes.items()
                    if not math.isnan(node.safe_w)}

    def seen(self) -> dict[str, tuple[int, int, float]]:
        """Per node the life of its spool, the number of its next reading, and the joules of
        earlier lives; for a restart."""
        with self._lock:
            return {name: (node.gaps.life, node.gaps.missing[0][0] if node.gaps.missing
                           else node.gaps.next, node.base_j)
                    for name, node in self._nodes.items() if node.gaps.next}

    def lost(self) -> Mapping[str, int]:
        """Readings that nodes no longer had when they were asked for again; joules are kept."""
        with self._lock:
            return {name: node.gaps.lost for name, node in self._nodes.items() if node.gaps.lost}

    def missing(self) -> int:
        """Readings that are known of and have not come."""
        with self._lock:
            return sum(last - first + 1 for name in self._gapped
                       for first, last in self._nodes[name].gaps.missing)

    def remarks(self) -> Sequence[str]:
        """What must be known, since the last call."""
        with self._lock:
            said, self._remarks = self._remarks, []
        return said

    def _hear(self, where: str, payload: bytes) -> None:
        if (known := self._reporting.get(where)) is not None:
            self._hear_report(*known, payload)
            return
        name = where.split("/")[2]
        node = self._nodes.get(name)
        if node is None:
            self._remark(f"{name} reports and is none of this fleet's nodes")
        else:
            with self._lock:
                node.state, safe_w = unpack_state(payload)
                node.safe_w = node.safe_w if math.isnan(safe_w) else safe_w

    def _hear_report(self, name: str, node: _Node, payload: bytes) -> None:
        try:
            batch = unpack_report(name, payload)
        except MessageError as error:
            self._remark(str(error))
            return
        with self._lock:
            gaps = node.gaps
            node.heard_s, node.state = time.monotonic(), UP
            if batch.life != gaps.life:
                gaps.begin(batch.life)
                node.base_j = node.energy_j
            for number, report in batch.readings:
                late = number < gaps.next
                if gaps.take(number):
                    self._came.append(self._of_all_lives(node, report, late))
            if gaps.missing:
                gaps.forget(batch)
                self._gapped.add(name)

    def _of_all_lives(self, node: _Node, report: NodeReport, late: bool) -> NodeReport:
        if node.base_j or late:
            report = dataclasses.replace(report, energy_j=node.base_j + report.energy_j, late=late)
        node.energy_j = max(node.energy_j, report.energy_j)
        return report

    def _ask_again(self) -> None:
        now_s = time.monotonic()
        with self._lock:
            self._gapped = {name for name in self._gapped if self._nodes[name].gaps.missing}
            asked: list[tuple[str, tuple[int, int]]] = []
            for name in self._gapped:
                if len(asked) == MOST_ASKED:
                    break
                if (gap := self._nodes[name].gaps.to_ask(now_s)) is not None:
                    asked.append((name, gap))
        for name, (first, last) in asked:
            self._send(name, Kind.AGAIN, first=first, last=last)

    def _send(
        self, name: str, kind: Kind, *, order: int = 0, lease_s: float = 0.0, cap_w: float = 0.0,
        first: int = 0, last: int = 0,
    ) -> None:
        node = self._nodes.get(name)
        if node is None:
            self._remark(f"{name} got no order: it is none of this fleet's nodes")
            return
        self._stamp_us = max(self._stamp_us + 1, int(self._clock() * 1e6))
        said = Order(kind, self._stamp_us, order, lease_s, cap_w, first, last)
        if not self._link.publish(node.orders, sign(said, node.key)) and kind is not Kind.AGAIN:
            self._remark("orders could not be sent: the broker is away")

    def _remark(self, said: str) -> None:
        with self._lock:
            if len(self._remarks) < MOST_REMARKS and said not in self._remarks:
                self._remarks.append(said)
