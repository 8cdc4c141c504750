"""A connection to the broker that comes back by itself: MQTT over mutual TLS.

The client's own thread connects, waits longer after each failure, and connects again; whoever
publishes never waits for it. Messages go once (QoS 0): that none is lost is the matter of the
numbers that readings carry.
"""

from __future__ import annotations

import ssl
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from wattline.model.errors import InputError
from wattline.model.fields import FileName, Section, Whole
from wattline.model.reading import read_text

KEEPALIVE_S = 15
"""After one and a half times this the broker takes a silent client for dead."""
SHORTEST_WAIT_S, LONGEST_WAIT_S = 1, 10
PLAIN_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
"""Of clusters and nodes: no part of a topic may have signs that mean something to MQTT."""
LONGEST_NAME = 64
"""As many characters as a certificate has room for."""
KEY_BYTES = 32


class BrokerSettings(Section):
    """Where the broker is, and the files by which both sides know each other."""

    host: str = Field(min_length=1)
    """As its certificate names it."""
    port: Whole = Field(default=8883, ge=1, le=65535)
    ca: FileName
    certificate: FileName
    key: FileName

    def context(self) -> ssl.SSLContext:
        """TLS that shows our certificate and asks for one of the site's own authority."""
        try:
            made = ssl.create_default_context(cafile=self.ca)
            made.minimum_version = ssl.TLSVersion.TLSv1_2
            made.load_cert_chain(self.certificate, self.key)
        except (OSError, ssl.SSLError) as error:
            named = error.filename if isinstance(error.filename, str) else ""
            raise InputError(f"the broker's certificates cannot be used ({self.ca}, "
                             f"{self.certificate}, {self.key}): {named} "
                             f"{error.strerror or error}") from None
        return made


def beside(table: Any, base: Path, names: Sequence[str]) -> Any:
    """A table whose files are named relative to the folder of the file that it stands in."""
    if not isinstance(table, dict):
        return table
    return {name: str(base / value) if name in names and isinstance(value, str) and value else value
            for name, value in table.items()}


def read_key(file: str) -> bytes:
    """A key of 32 bytes, written as 64 hexadecimal digits."""
    try:
        key = bytes.fromhex(read_text(file, 4096).strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise InputError(f"{file}: a key is {2 * KEY_BYTES} hexadecimal digits (`wattline agent "
                         "keys` makes them)")
    return key


CONNECTED = "connected to the broker"


class Link:
    """One client of the broker. Callbacks run in its thread and must be short."""

    def __init__(
        self, broker: BrokerSettings, name: str, topics: Sequence[str],
        hear: Callable[[str, bytes], None], *, say: Callable[[str], None] = lambda _: None,
        state: str = "", greeting: bytes = b"up", will: bytes = b"gone",
        retained: Callable[[str, bytes], None] | None = None,
    ) -> None:
        """`state` is the topic that says, to all who come later, whether this client is there;
        `retained` hears what the broker has kept, where that is to be told from what is new."""
        from wattline.live.transport.client import client_of

        self._hear, self._say, self._topics = hear, say, topics
        self._state, self._greeting = state, greeting
        self._connected = self._failing = False
        self._place = f"{broker.host}:{broker.port}"
        self._client = client_of(name, hear, retained)
        self._client.tls_set_context(broker.context())
        self._client.reconnect_delay_set(SHORTEST_WAIT_S, LONGEST_WAIT_S)
        if state:
            self._client.will_set(state, will, retain=True)
        self._client.on_connect = self._came
        self._client.on_disconnect = self._went
        self._client.on_connect_fail = self._failed
        self._client.connect_async(broker.host, broker.port, keepalive=KEEPALIVE_S)
        self._client.loop_start()

    @property
    def connected(self) -> bool:
        return self._connected

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> bool:
        """Whether it could be handed on; it never waits, and keeps nothing for later.

        `retain`: the broker keeps it for those who come later.
        """
        return self._connected and self._client.publish(topic, payload, retain=retain).rc == 0

    def close(self, farewell: bytes = b"left") -> None:
        """Say goodbye, where somebody hears it, and leave."""
        if self._connected and self._state:
            self._client.publish(self._state, farewell, retain=True).wait_for_publish(2.0)
        self._client.disconnect()
        self._client.loop_stop()

    def _came(self, client: Any, _: Any, __: Any, reason: Any, ___: Any) -> None:
        if reason.is_failure:
            self._say(f"the broker refuses this client: {reason}")
            return
        if self._topics:
            client.subscribe([(topic, 0) for topic in self._topics])
        if self._state:
            client.publish(self._state, self._greeting, retain=True)
        self._connected, self._failing = True, False
        self._say(CONNECTED)

    def _failed(self, client: Any, _: Any) -> None:
        """Said once, until it answers: it is tried again for as long as this client is there."""
        if not self._failing:
            self._failing = True
            why = sys.exception()  # paho calls from where it has caught the error
            self._say(f"the broker {self._place} does not answer{f': {why}' if why else ''}")

    def _went(self, client: Any, _: Any, __: Any, reason: Any, ___: Any) -> None:
        if self._connected:
            self._say(f"the broker is away: {reason}")
        self._connected = False
