"""Packets of IPMI 1.5 over LAN (RMCP), as far as `ipmitool -I lan` needs them."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass

RMCP_IPMI, RMCP_ASF = b"\x06\x00\xff\x07", b"\x06\x00\xff\x06"
NO_AUTH, MD5 = 0, 2
PASSWORD_BYTES = 16


@dataclass(frozen=True)
class Request:
    """What a console asks."""

    auth: int
    sequence: int
    session: int
    code: bytes
    """What proves that the sender knows the password."""
    payload: bytes
    """The message as it was sent; the proof is made of it."""

    @property
    def function(self) -> int:
        return self.payload[1] >> 2

    @property
    def command(self) -> int:
        return self.payload[5]

    @property
    def data(self) -> bytes:
        return self.payload[6:-1]


def read_request(packet: bytes) -> Request | None:
    """The request in a packet; None where it is none, or damaged."""
    if len(packet) < 14 or packet[:4] != RMCP_IPMI:
        return None
    auth, sequence, session = struct.unpack_from("<BII", packet, 4)
    begin = 13 if auth == NO_AUTH else 29
    if len(packet) <= begin:
        return None
    payload = packet[begin + 1 : begin + 1 + packet[begin]]
    if len(payload) < 7 or _sum(payload[:3]) or _sum(payload[3:]):
        return None
    return Request(auth, sequence, session, packet[13:begin], payload)


def answer_to(
    request: Request, status: int, data: bytes, *, auth: int, sequence: int, password: bytes
) -> bytes:
    """The packet that answers: a completion code and, where it is 0, data."""
    asked = request.payload
    head = bytes([asked[3], asked[1] | 4])
    body = bytes([asked[0], asked[4], asked[5], status]) + data
    payload = head + bytes([-sum(head) & 255]) + body + bytes([-sum(body) & 255])
    code = b"" if auth == NO_AUTH else proof(password, request.session, sequence, payload)
    return (RMCP_IPMI + struct.pack("<BII", auth, sequence, request.session) + code
            + bytes([len(payload)]) + payload)


def proof(password: bytes, session: int, sequence: int, payload: bytes) -> bytes:
    """The authentication code of a message by MD5."""
    secret = password.ljust(PASSWORD_BYTES, b"\0")
    said = (secret + struct.pack("<I", session) + payload + struct.pack("<I", sequence) + secret)
    return hashlib.md5(said, usedforsecurity=False).digest()


def answer_to_ping(packet: bytes) -> bytes | None:
    """`pong`, by which a console knows that somebody is there."""
    if packet[:4] != RMCP_ASF or len(packet) < 12 or packet[8] != 0x80:
        return None
    return (RMCP_ASF + b"\x00\x00\x11\xbe\x40" + packet[9:10] + b"\x00\x10"
            + b"\x00\x00\x11\xbe" + bytes(4) + b"\x81" + bytes(7))


def _sum(data: bytes) -> int:
    return sum(data) & 255
