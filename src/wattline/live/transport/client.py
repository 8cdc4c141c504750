"""The MQTT client of the library, made to read all that has come in one go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode

MOST_AT_ONCE = 1000
"""Messages before the client looks after everything else again."""


class _Client(Client):
    """The library waits anew before each message, which costs a third of a busy controller."""

    came = 0
    """Messages so far."""

    def loop_read(self, max_packets: int = 1) -> MQTTErrorCode:
        done = MQTTErrorCode.MQTT_ERR_SUCCESS
        for _ in range(MOST_AT_ONCE):
            before = self.came
            done = super().loop_read(max_packets)
            if done != MQTTErrorCode.MQTT_ERR_SUCCESS or self.came == before:
                break
        return done


def client_of(name: str, hear: Callable[[str, bytes], None]) -> Client:
    """A client that hands on topics and payloads."""
    client = _Client(CallbackAPIVersion.VERSION2, client_id=name)

    def take(_: Any, __: Any, message: Any) -> None:
        client.came += 1
        hear(message.topic, bytes(message.payload))

    client.on_message = take
    return client
