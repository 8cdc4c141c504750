"""A management controller that answers `ipmitool -I lan`: sessions, and DCMI's power commands."""

from __future__ import annotations

import hmac
import secrets
import struct
import time
from collections.abc import Callable

from wattline.controller.testbed.bmc.node import ManagedNode
from wattline.controller.testbed.bmc.packets import (
    MD5,
    NO_AUTH,
    PASSWORD_BYTES,
    Request,
    answer_to,
    answer_to_ping,
    proof,
    read_request,
)

APP, GROUP = 0x06, 0x2C
DCMI = 0xDC
DONE, NO_LIMIT, UNKNOWN, NOT_ALLOWED, BAD_LENGTH = 0x00, 0x80, 0xC1, 0xD4, 0xC7
LOG_ONLY = 0x11
"""What is done when a limit is exceeded: it is noted, and the node stays on."""
MOST_WAITING = 64
"""Consoles that have asked for a session and not opened it yet."""
CORRECTION_MS, SAMPLING_S = 1000, 1

Answer = tuple[int, bytes]


class Bmc:
    """The controller of one node; `answer` takes a datagram and gives one."""

    def __init__(self, node: ManagedNode, user: str, password: str) -> None:
        self.node = node
        self.action = LOG_ONLY
        self._user = user.encode().ljust(16, b"\0")
        self._password = password.encode()[:PASSWORD_BYTES]
        self._challenges: dict[int, bytes] = {}
        self._sessions: dict[int, int] = {}
        """Of each open session the number of its last answer."""
        self._commands: dict[tuple[int, int], Callable[[Request], Answer]] = {
            (APP, 0x01): self._device, (APP, 0x38): self._ways, (APP, 0x39): self._challenge,
            (APP, 0x3B): lambda request: (DONE, request.data[:1]),
            (APP, 0x3C): self._close, (GROUP, 0x02): self._power, (GROUP, 0x03): self._limit,
            (GROUP, 0x04): self._set_limit, (GROUP, 0x05): self._activate,
        }

    def answer(self, packet: bytes) -> bytes | None:
        request = read_request(packet)
        if request is None:
            return answer_to_ping(packet)
        if (request.function, request.command) == (APP, 0x3A):
            return self._open(request)
        if request.session not in self._sessions:
            status, data = self._asked(request) if request.command in {0x38, 0x39} else (
                NOT_ALLOWED, b"")
            return answer_to(request, status, data, auth=NO_AUTH, sequence=0, password=b"")
        if not self._proven(request):
            return None  # as a real one does: whoever has no password learns nothing
        self._sessions[request.session] += 1
        sequence = self._sessions[request.session]
        status, data = self._asked(request)
        return answer_to(request, status, data, auth=MD5, sequence=sequence,
                         password=self._password)

    def _asked(self, request: Request) -> Answer:
        serve = self._commands.get((request.function, request.command))
        group = request.function == GROUP
        if serve is None or (group and request.data[:1] != bytes([DCMI])):
            return UNKNOWN, b""
        try:
            return serve(request)
        except (struct.error, IndexError):
            return BAD_LENGTH, b""

    def _proven(self, request: Request) -> bool:
        expected = proof(self._password, request.session, request.sequence, request.payload)
        return request.auth == MD5 and hmac.compare_digest(expected, request.code)

    def _ways(self, request: Request) -> Answer:
        return DONE, bytes([1, 1 << MD5, 0x04, 0, 0, 0, 0, 0])

    def _challenge(self, request: Request) -> Answer:
        if request.data[1:17] != self._user:
            return 0x81, b""  # no such user
        session = secrets.randbits(31) | 1
        while len(self._challenges) >= MOST_WAITING:
            self._challenges.pop(next(iter(self._challenges)))
        self._challenges[session] = secrets.token_bytes(16)
        return DONE, struct.pack("<I", session) + self._challenges[session]

    def _open(self, request: Request) -> bytes | None:
        challenge = self._challenges.pop(request.session, None)
        if challenge is None or request.data[2:18] != challenge or not self._proven(request):
            return None
        first, = struct.unpack_from("<I", request.data, 18)
        self._sessions[request.session] = first
        data = struct.pack("<BIIB", MD5, request.session, 1, 4)
        return answer_to(request, DONE, data, auth=MD5, sequence=first, password=self._password)

    def _close(self, request: Request) -> Answer:
        del self._sessions[request.session]
        return DONE, b""

    def _device(self, request: Request) -> Answer:
        return DONE, bytes([0x20, 1, 1, 0, 0x02, 0x80]) + bytes(5)

    def _power(self, request: Request) -> Answer:
        power_w = round(self.node.power_w)
        return DONE, struct.pack("<BHHHHIIB", DCMI, *(power_w,) * 4, int(time.time()),
                                 1000 * SAMPLING_S, 0x40)

    def _limit(self, request: Request) -> Answer:
        data = struct.pack("<BxxBHIxxH", DCMI, self.action, round(self.node.limit_w),
                           CORRECTION_MS, SAMPLING_S)
        return (DONE if self.node.active else NO_LIMIT), data

    def _set_limit(self, request: Request) -> Answer:
        self.action, limit_w = struct.unpack_from("<4xBH", request.data)
        self.node.limit(float(limit_w), active=self.node.active)
        return DONE, bytes([DCMI])

    def _activate(self, request: Request) -> Answer:
        self.node.limit(self.node.limit_w, active=bool(request.data[1]))
        return DONE, bytes([DCMI])
