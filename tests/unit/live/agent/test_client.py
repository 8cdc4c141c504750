"""The client hears every message once and in order, however the bytes of a broker arrive."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable
from typing import Any

import pytest
from paho.mqtt.enums import MQTTErrorCode
from tests.support.thinned import crossed

from wattline.live.transport.client import client_of, long_length

PING_ANSWER = b"\xd0\x00"


def length_of(body: bytes) -> bytes:
    found, left = [], len(body)
    while True:
        left, low = divmod(left, 128)
        found.append(low | (128 if left else 0))
        if not left:
            return bytes(found)


def message(topic: str, payload: bytes, *, retain: bool = False, qos: int = 0) -> bytes:
    name = topic.encode()
    body = struct.pack(">H", len(name)) + name + (b"\x00\x07" if qos else b"") + payload
    return bytes([0x30 | retain | qos << 1]) + length_of(body) + body


class Broker:
    """A socket from which these pieces come, one at a time; then nothing, or the end."""

    def __init__(self, pieces: Iterable[bytes], *, ends: bool = False) -> None:
        self.pieces, self.ends = [piece for piece in pieces if piece], ends
        self.sent: list[bytes] = []

    def recv(self, most: int) -> bytes:
        if not self.pieces:
            if self.ends:
                return b""
            raise BlockingIOError
        piece = self.pieces[0]
        self.pieces[:1] = [piece[most:]] if len(piece) > most else []
        return piece[:most]

    def send(self, data: bytes) -> int:
        self.sent.append(bytes(data))
        return len(data)

    def close(self) -> None:
        self.pieces = []


def heard_of(broker: Broker) -> tuple[list[tuple[str, bytes]], Any]:
    heard: list[tuple[str, bytes]] = []
    client = client_of("test", lambda topic, payload: heard.append((topic, payload)))
    client._sock = broker
    done = client.loop_read()
    while broker.pieces and done == MQTTErrorCode.MQTT_ERR_SUCCESS:
        done = client.loop_read()
    return heard, done


def cut(stream: bytes, draw: random.Random, most: int) -> list[bytes]:
    pieces, at = [], 0
    while at < len(stream):
        step = draw.randint(1, most)
        pieces.append(stream[at:at + step])
        at += step
    return pieces


@pytest.mark.parametrize(("seed", "most"), crossed(
    range(6), [1, 3, 40, 1000, 100_000], later=pytest.mark.long))
def test_messages_are_heard_in_order_however_they_are_cut(seed: int, most: int) -> None:
    draw = random.Random(seed)
    sizes = (0, 1, 60, 90, 91, 125, 126, 127, 128, 500, 16_383, 16_384, 20_000)
    wanted, stream = [], b""
    for number in range(40 if most > 1 else 15):
        size = draw.choice(sizes if most > 1 else sizes[:10])
        said = (f"wattline/c/n{number}/report", draw.randbytes(size))
        wanted.append(said)
        stream += message(*said, retain=draw.random() < 0.2)
        if draw.random() < 0.3:
            stream += PING_ANSWER
    heard, done = heard_of(Broker(cut(stream, draw, most)))
    assert heard == wanted
    assert done == MQTTErrorCode.MQTT_ERR_SUCCESS


@pytest.mark.parametrize("most", [1, 3, 1000])
def test_what_the_broker_kept_is_told_from_what_is_new_where_somebody_asks(most: int) -> None:
    new: list[bytes] = []
    kept: list[bytes] = []
    client = client_of("test", lambda topic, payload: new.append(payload),
                       lambda topic, payload: kept.append(payload))
    stream = b"".join(message("a/b", b"%d" % number, retain=number % 3 == 0)
                      for number in range(9))
    client._sock = broker = Broker(cut(stream, random.Random(0), most))
    while broker.pieces:
        client.loop_read()
    assert (b"".join(kept), b"".join(new)) == (b"036", b"124578")


def test_a_message_that_wants_an_answer_is_answered_by_the_library() -> None:
    broker = Broker([message("a/b", b"1") + message("a/b", b"2", qos=1) + message("a/b", b"3")])
    heard, done = heard_of(broker)
    assert heard == [("a/b", b"1"), ("a/b", b"2"), ("a/b", b"3")]
    assert done == MQTTErrorCode.MQTT_ERR_SUCCESS
    assert b"".join(broker.sent) == b"\x40\x02\x00\x07"


def test_what_came_before_a_connection_is_lost_is_heard_and_the_loss_is_found() -> None:
    heard, done = heard_of(Broker([message("a/b", b"1") + message("a/b", b"2")[:5]], ends=True))
    assert heard == [("a/b", b"1")]
    assert done == MQTTErrorCode.MQTT_ERR_CONN_LOST


def test_half_a_message_of_a_connection_that_was_lost_is_forgotten() -> None:
    heard: list[tuple[str, bytes]] = []
    client = client_of("test", lambda topic, payload: heard.append((topic, payload)))
    client._sock = Broker([message("a/b", b"1")[:5]], ends=True)
    client.loop_read()
    client.connect_async("127.0.0.1", 1)
    with pytest.raises(ConnectionRefusedError):
        client.reconnect()
    client._sock = Broker([message("a/b", b"2")])
    client.loop_read()
    assert heard == [("a/b", b"2")]


@pytest.mark.parametrize("wrong", [
    b"\x30\xff\xff\xff\xff\xff\x01", b"\x30\x02\x00\x09", b"\x30\x01\x00"])
def test_what_is_no_packet_ends_the_connection(wrong: bytes) -> None:
    heard, done = heard_of(Broker([message("a/b", b"1") + wrong]))
    assert heard == [("a/b", b"1")]
    assert done != MQTTErrorCode.MQTT_ERR_SUCCESS


@pytest.mark.parametrize("length", [128, 16_383, 16_384, 2_097_151, 2_097_152, 268_435_455])
def test_a_length_of_several_bytes_is_read_once_all_have_come(length: int) -> None:
    said, left = [], length
    while left:
        left, low = divmod(left, 128)
        said.append(low | (128 if left else 0))
    whole = b"\x30" + bytes(said)
    assert long_length(whole, 1) == (length, len(whole))
    for short in range(1, len(whole)):
        assert long_length(whole[:short], 1) == (0, 0)
