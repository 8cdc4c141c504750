"""The MQTT client of the library, made to read all that has come in one go.

The library asks the socket for the head of each message byte by byte, and makes a dozen objects of
a message before somebody hears of it: three quarters of what 10,000 agents cost a controller. Here
whole packets are taken from what has come. Messages that need no answer (QoS 0, which is all that
agents and controllers send) are handed on from there; the library gets everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode

Hear = Callable[[str, bytes], None]
"""Is told the topic and the payload of a message."""
MOST_AT_ONCE = 1000
"""Reads before the client looks after everything else again."""
MOST_BYTES = 16384
"""Of one read: no more are in a record of TLS."""
KIND_AND_QOS, PLAIN_MESSAGE, RETAINED = 0xF6, 0x30, 0x01
LONG = 0x80
"""A byte of a packet's length after which another one follows, of which there are four at most."""
LENGTH_BYTES = 4


class _Client(Client):
    """Hands on topics and payloads of plain messages without making messages of them."""

    def __init__(self, name: str, hear: Hear, retained: Hear | None) -> None:
        super().__init__(CallbackAPIVersion.VERSION2, client_id=name)
        self._hear = hear
        self._told_by = KIND_AND_QOS if retained is None else KIND_AND_QOS | RETAINED
        """Bits by which plain messages are known."""
        self._kept = b""
        """What has come and was not handed on."""
        self._for_library = b""
        """What the library may read now."""
        self._lost = False

        def take(_: Any, __: Any, message: Any) -> None:
            heard = retained if retained is not None and message.retain else hear
            heard(message.topic, bytes(message.payload))

        self.on_message = take

    def reconnect(self) -> MQTTErrorCode:
        self._kept, self._for_library, self._lost = b"", b"", False
        return super().reconnect()

    def loop_read(self, max_packets: int = 1) -> MQTTErrorCode:
        for _ in range(MOST_AT_ONCE):
            try:
                came = super()._sock_recv(MOST_BYTES)
            except BlockingIOError:
                break
            except OSError:
                came = b""
            if not came:  # the library finds the same, and does what is to be done then
                self._lost = True
                return super().loop_read(max_packets)
            done = self._take_packets(self._kept + came)
            if done != MQTTErrorCode.MQTT_ERR_SUCCESS:
                return done
        return MQTTErrorCode.MQTT_ERR_SUCCESS

    def _sock_recv(self, bufsize: int) -> bytes:
        """What the library reads: the packet that it is given, and not beyond it."""
        if self._lost:
            return b""
        if not self._for_library:
            raise BlockingIOError
        taken, self._for_library = self._for_library[:bufsize], self._for_library[bufsize:]
        return taken

    def _take_packets(self, came: bytes) -> MQTTErrorCode:
        """Hand on all packets that are whole; the rest is kept until more has come."""
        at, end = 0, len(came)
        done = MQTTErrorCode.MQTT_ERR_SUCCESS
        while at + 2 <= end:
            length, body = came[at + 1], at + 2
            if length >= LONG:
                length, body = long_length(came, at + 1)
            stop = body + length
            if body == 0 or stop > end:
                break
            topic = body + 2
            split = topic + (came[body] << 8 | came[body + 1]) if length >= 2 else end + 1
            if came[at] & self._told_by == PLAIN_MESSAGE and split <= stop:
                self._hear(came[topic:split].decode(errors="replace"), came[split:stop])
            else:
                self._for_library = came[at:stop]
                done = super().loop_read()
            at = stop
            if done != MQTTErrorCode.MQTT_ERR_SUCCESS:
                break
        self._kept = came[at:]
        return done


def long_length(came: bytes, at: int) -> tuple[int, int]:
    """A packet's length in several bytes, and where its body begins; 0 where they have not all
    come. One that has no end is all that has come: the library says what is wrong with it."""
    length = 0
    for place, byte in enumerate(came[at:at + LENGTH_BYTES]):
        length += (byte & ~LONG) << 7 * place
        if byte < LONG:
            return length, at + place + 1
    endless = len(came) > at + LENGTH_BYTES
    return (len(came) - at, at) if endless else (0, 0)


def client_of(name: str, hear: Hear, retained: Hear | None = None) -> Client:
    """A client that hands on topics and payloads.

    `retained` gets those that the broker has kept for whoever comes, of which nobody knows how old
    they are; where it is not given they are like all others.
    """
    return _Client(name, hear, retained)
