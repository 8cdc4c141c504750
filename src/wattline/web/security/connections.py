"""Ceilings on connections, and a time limit until a request's header is whole.

A connection over which nothing is said costs a file; without a ceiling a thousand of them leave
none for anybody else, and every further one is a traceback in the log.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import math
import os
import resource
import socket
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from wattline.web.settings import HEADER_S

MOST = 10_000
SPARED_FILES = 200
"""Files that are no connections: logs, workers, what is served."""
WANTED_FILES = MOST + SPARED_FILES
MOST_AT_ONCE = 64
"""Refused before the event loop goes on with what is open."""
LOG_EVERY_S = 60.0
_log = logging.getLogger("uvicorn.error")


def raise_file_limit() -> int:
    """Raise the soft limit on open files as far as it may and is of use; return what holds."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_FILES if hard == resource.RLIM_INFINITY else min(hard, WANTED_FILES)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return WANTED_FILES if soft == resource.RLIM_INFINITY else soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


def client_of(address: str) -> str:
    """Return what counts as one client: an address of IPv4, a network of 64 bits of IPv6."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    mapped = getattr(found, "ipv4_mapped", None)
    if mapped is not None or found.version == 4:
        return str(mapped or found)
    return str(ipaddress.ip_network((found, 64), strict=False))


class ConnectionLimits:
    """Counts of the open connections, in all and by client, and of what was refused."""

    def __init__(
        self, files: int, *, exempt: Callable[[str], bool] = lambda address: False,
        header_s: float = HEADER_S, clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = max(min(MOST, files - SPARED_FILES), 1)
        self.most_by_client = max(self.most // 2, 1)
        self.header_s = header_s
        self.open = 0
        self.late = 0
        """Connections that were closed because no whole header came in time."""
        self._exempt, self._clock = exempt, clock
        self._by_client: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._next_line_s = -math.inf

    def take(self, address: str) -> bool:
        """Count one more connection of this address; False where there are too many."""
        client = client_of(address)
        if self.open >= self.most:
            return self._refuse(f"there are {self.open:,} connections, the most there may be")
        if self._by_client[client] >= self.most_by_client and not self._exempt(address):
            return self._refuse(f"{client} has {self._by_client[client]:,} connections, "
                                "the most that one address may have")
        self.open += 1
        self._by_client[client] += 1
        return True

    def give_back(self, address: str) -> None:
        client = client_of(address)
        self.open -= 1
        self._by_client[client] -= 1
        if not self._by_client[client]:
            del self._by_client[client]

    def out_of_files(self) -> None:
        self._refuse("no file is left for another connection (ulimit -n)")

    def _refuse(self, why: str) -> bool:
        """Say it once a minute, with how many there were since: a log must not fill a disk."""
        self._refused[why.partition(" connections")[2]] += 1
        at_s = self._clock()
        if at_s >= self._next_line_s:
            count = sum(self._refused.values())
            _log.warning("connections refused: %s since the last such line; %s", f"{count:,}", why)
            self._refused.clear()
            self._next_line_s = at_s + LOG_EVERY_S
        return False


class LimitedListener(socket.socket):
    """A listening socket whose `accept` keeps the limits."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.limits: ConnectionLimits | None = None
        self._spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection that may come in; one that may not is closed at once.

        `BlockingIOError` where there is none: the event loop asks again when one has come.
        """
        for _ in range(MOST_AT_ONCE):
            try:
                made, peer = super().accept()
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE):
                    raise
                self._turn_away()
                continue
            address = str(peer[0])
            if self.limits is None:
                return made, peer
            if self.limits.take(address):
                return _Connection(made, address, self.limits), peer
            _reset(made)
        raise BlockingIOError(errno.EAGAIN, "others have their turn")

    def _turn_away(self) -> None:
        """Close the next connection with the file that is kept for this: else it stays, and the
        loop is woken for it again and again."""
        if self.limits is not None:
            self.limits.out_of_files()
        os.close(self._spare)
        try:
            made, _ = super().accept()
            _reset(made)
        except OSError as error:
            raise BlockingIOError(errno.EAGAIN, "no connection could be taken") from error
        finally:
            self._spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def close(self) -> None:
        if self._spare >= 0:
            os.close(self._spare)
            self._spare = -1
        super().close()


def _reset(made: socket.socket) -> None:
    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    made.close()


class _Connection(socket.socket):
    """A connection that counts until it is closed, and is cut off where no header comes."""

    def __init__(self, made: socket.socket, address: str, limits: ConnectionLimits) -> None:
        super().__init__(made.family, made.type, made.proto, fileno=made.detach())
        self._address, self._limits = address, limits
        self._counted = True
        self.waiting = asyncio.get_running_loop().call_later(limits.header_s, self._cut_off)

    def _cut_off(self) -> None:
        self._limits.late += 1
        with suppress(OSError):  # it may have gone already
            self.shutdown(socket.SHUT_RDWR)  # what reads it sees its end, and closes it

    def close(self) -> None:
        self.waiting.cancel()
        if self._counted:
            self._counted = False
            self._limits.give_back(self._address)
        super().close()


class HeaderTimedProtocol(H11Protocol):
    """HTTP/1.1 in which the header of every request has to come within a time."""

    limits: ConnectionLimits
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._arm()  # after a TLS handshake: the rest of the time is that of the connection

    def data_received(self, data: bytes) -> None:
        had = self.scope
        super().data_received(data)
        if self.scope is not had:
            self._header_came()
        elif self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._arm()  # a header began on a connection that is kept

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        super().connection_lost(exc)

    def _header_came(self) -> None:
        self._disarm()
        accepted = getattr(self.transport.get_extra_info("socket"), "_sock", None)
        if isinstance(accepted, _Connection):
            accepted.waiting.cancel()

    def _arm(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(self.limits.header_s, self._cut_off)

    def _disarm(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _cut_off(self) -> None:
        self._late = None
        if not self.transport.is_closing():
            self.limits.late += 1
            self.transport.abort()


def protocol_for(limits: ConnectionLimits) -> type[HeaderTimedProtocol]:
    """The protocol class that uvicorn makes one of for each connection."""
    return type("HeaderTimedProtocol", (HeaderTimedProtocol,), {"limits": limits})
