"""Messages byte by byte: reports of a node, and signed orders to it.

A report has one reading or more, each with a number of its own, so that whoever listens knows what
is missing and asks for it again. An order is signed with the node's key and stamped with a time
that only rises: what another client sends, or sends again, is not obeyed.
"""

from __future__ import annotations

import enum
import hashlib
import hmac
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from wattline.live.fleet import NodeReport
from wattline.live.sensor import Quality
from wattline.model.errors import WattlineError

VERSION = 1
MOST_JOB_BYTES = 40
MOST_REASON_BYTES = 96
_HEAD = struct.Struct("<BQQ")
_READING = struct.Struct("<QddddQBBB")
_ORDER = struct.Struct("<BBQQddQQ")
_QUALITIES = tuple(Quality)
_CODES = {quality: code for code, quality in enumerate(_QUALITIES)}
_SIGNATURE_BYTES = hashlib.sha256().digest_size
LARGEST_READING_BYTES = _READING.size + MOST_JOB_BYTES + MOST_REASON_BYTES


class MessageError(WattlineError):
    """A message that is not to be believed, and why."""


class Kind(enum.IntEnum):
    """What an order asks for."""

    CAP = 1
    RESTORE = 2
    AGAIN = 3
    """Readings from `first` to `last` once more."""


@dataclass(frozen=True)
class Order:
    """What the controller asks of one node."""

    kind: Kind
    stamp_us: int
    """When it was given, by the controller's clock; no two have the same."""
    order: int = 0
    lease_s: float = 0.0
    cap_w: float = 0.0
    first: int = 0
    last: int = 0


class Batch(NamedTuple):
    """A report as it came: whose readings, from which number on they are kept, and some of them."""

    life: int
    """Drawn when the agent's spool was made: numbers of another life mean other readings."""
    oldest: int
    readings: Sequence[tuple[int, NodeReport]]


def topic(cluster: str, node: str, what: str) -> str:
    """Where a node's `report`, `state` and `order` go; `+` for all nodes."""
    return f"wattline/{cluster}/{node}/{what}"


def key_of(master: bytes, cluster: str, node: str) -> bytes:
    """The key of one node, which tells nothing of those of others."""
    return hmac.digest(master, f"{cluster}/{node}".encode(), "sha256")


UP, _SAFE = "up", "safe="


def pack_state(safe_w: float | None) -> bytes:
    """What an agent says of itself when it connects: it is there, and its safe cap, if it has one.
    """
    return (UP if safe_w is None else f"{UP} {_SAFE}{safe_w:g}").encode()


def unpack_state(payload: bytes) -> tuple[str, float]:
    """The state of an agent, and its safe cap; NaN where it says none."""
    state, _, more = payload.decode(errors="replace").partition(" ")
    try:
        return state, float(more.removeprefix(_SAFE))
    except ValueError:
        return state, math.nan


def pack_reading(number: int, report: NodeReport) -> bytes:
    job = report.job.encode()[:MOST_JOB_BYTES]
    reason = report.reason.encode()[:MOST_REASON_BYTES]
    return _READING.pack(number, report.time_s, report.power_w, report.energy_j, report.cap_w,
                         report.order, _CODES[report.quality], len(job), len(reason)) + job + reason


def pack_report(life: int, oldest: int, readings: Sequence[bytes]) -> bytes:
    return _HEAD.pack(VERSION, life, oldest) + b"".join(readings)


def unpack_report(node: str, payload: bytes) -> Batch:
    try:
        version, life, oldest = _HEAD.unpack_from(payload)
        if version != VERSION:
            raise MessageError(f"{node} speaks version {version} of the protocol, not {VERSION}")
        readings, at = [], _HEAD.size
        while at < len(payload):
            number, report, at = _unpack_reading(node, payload, at)
            readings.append((number, report))
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise MessageError(f"{node} sent a report that cannot be read: {error}") from None
    return Batch(life, oldest, readings)


def _unpack_reading(node: str, payload: bytes, at: int) -> tuple[int, NodeReport, int]:
    (number, time_s, power_w, energy_j, cap_w, order, quality, job_bytes,
     reason_bytes) = _READING.unpack_from(payload, at)
    at += _READING.size
    job = reason = ""
    if job_bytes or reason_bytes:
        job = payload[at:at + job_bytes].decode()
        # It may have been cut in the middle of a letter.
        reason = payload[at + job_bytes:at + job_bytes + reason_bytes].decode(errors="ignore")
    return number, NodeReport(node, time_s, power_w, energy_j, cap_w, order, _QUALITIES[quality],
                              reason, job), at + job_bytes + reason_bytes


def sign(order: Order, key: bytes) -> bytes:
    body = _ORDER.pack(VERSION, order.kind, order.stamp_us, order.order, order.lease_s, order.cap_w,
                       order.first, order.last)
    return body + hmac.digest(key, body, "sha256")


def verify(payload: bytes, key: bytes) -> Order:
    """The order of a message that was signed with this key."""
    if len(payload) != _ORDER.size + _SIGNATURE_BYTES:
        raise MessageError("an order of the wrong length was refused")
    body, signature = payload[:_ORDER.size], payload[_ORDER.size:]
    if not hmac.compare_digest(hmac.digest(key, body, "sha256"), signature):
        raise MessageError("an order that this node's controller did not sign was refused")
    version, kind, stamp_us, order, lease_s, cap_w, first, last = _ORDER.unpack(body)
    if version != VERSION or kind not in set(Kind):
        raise MessageError("an order of another version was refused")
    return Order(Kind(kind), stamp_us, order, lease_s, cap_w, first, last)
