"""Reports and orders, byte by byte."""

from __future__ import annotations

import dataclasses
import math

import pytest

from wattline.live.fleet import NodeReport
from wattline.live.sensor import Quality
from wattline.live.transport.messages import (
    Kind,
    MessageError,
    Order,
    key_of,
    pack_reading,
    pack_report,
    sign,
    unpack_report,
    verify,
)

MASTER = bytes(32)
KEY = key_of(MASTER, "bed", "n1")
ORDER = Order(Kind.CAP, 12345, 7, 30.0, 250.0)
READING = NodeReport("n1", 1.5e9, 250.25, 1e9 + 0.5, 300.0, 4, Quality.GOOD, "", "")


def test_a_report_comes_out_as_it_went_in():
    missing = dataclasses.replace(READING, quality=Quality.MISSING, reason="no meter – gone",
                                  cap_w=math.inf, job="12_3.0")
    packed = pack_report(99, 3, [pack_reading(5, READING), pack_reading(6, missing)])
    batch = unpack_report("n1", packed)
    assert (batch.life, batch.oldest) == (99, 3)
    assert list(batch.readings) == [(5, READING), (6, missing)]


def test_a_long_reason_is_cut_and_costs_nothing_else():
    long = dataclasses.replace(READING, reason="é" * 200, job="42")
    packed = pack_report(1, 1, [pack_reading(1, long), pack_reading(2, READING)])
    (_, first), (_, second) = unpack_report("n1", packed).readings
    assert first.reason == "é" * 48
    assert first.job == "42"
    assert second == READING


@pytest.mark.parametrize("harm", [b"", b"\x01", b"\x09" + bytes(16), b"\x01" + bytes(20)])
def test_a_report_that_is_none_is_an_error_and_no_crash(harm):
    with pytest.raises(MessageError, match="n1"):
        unpack_report("n1", harm)


def test_an_order_comes_out_as_it_went_in():
    assert verify(sign(ORDER, KEY), KEY) == ORDER


@pytest.mark.parametrize("other", [key_of(MASTER, "bed", "n2"), key_of(MASTER, "other", "n1"),
                                   key_of(b"\x01" * 32, "bed", "n1")])
def test_an_order_for_another_node_cluster_or_controller_is_not_believed(other):
    with pytest.raises(MessageError, match="did not sign"):
        verify(sign(ORDER, other), KEY)


def test_no_byte_of_an_order_can_be_changed():
    signed = sign(ORDER, KEY)
    for place in range(len(signed)):
        changed = bytearray(signed)
        changed[place] ^= 1
        with pytest.raises(MessageError):
            verify(bytes(changed), KEY)


def test_an_order_that_is_cut_is_refused():
    with pytest.raises(MessageError, match="length"):
        verify(sign(ORDER, KEY)[:-1], KEY)
