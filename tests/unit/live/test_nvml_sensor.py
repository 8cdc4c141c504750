"""NVIDIA cards: a library that is made up, and readings that were recorded on a card."""

from __future__ import annotations

import csv

import pytest
from tests.shared_data import shared
from tests.support.cards import Card, FakeNvml

from wattline.live.sensor import Quality
from wattline.live.sensors.nvml import Nvml
from wattline.model.errors import InputError
from wattline.testing import SensorContract


class TestContract(SensorContract):
    def make_sensor(self):
        return Nvml(nvml=FakeNvml(Card(), Card(energy_mj=None)))


def test_a_card_has_its_counter_first_and_one_without_has_only_the_power():
    sensor = Nvml(nvml=FakeNvml(Card(), Card(energy_mj=None)))
    assert [channel.name for channel in sensor.channels()] == [
        "gpu0-energy", "gpu0-power", "gpu1-power"]
    assert {channel.domain for channel in sensor.channels()} == {"gpu"}


def test_cards_are_chosen_by_their_numbers():
    nvml = FakeNvml(Card(), Card(), Card())
    assert [channel.name for channel in Nvml("2", nvml=nvml).channels()] == [
        "gpu2-energy", "gpu2-power"]
    for place, message in (("7", "Invalid Argument"), ("all", "numbers")):
        with pytest.raises(InputError, match=message):
            Nvml(place, nvml=nvml)
    with pytest.raises(InputError, match="no NVIDIA card"):
        Nvml(nvml=FakeNvml())


def test_a_card_that_is_lost_is_a_gap_and_the_other_goes_on():
    first, second = Card(), Card()
    sensor = Nvml(nvml=FakeNvml(first, second))
    sensor.read()
    first.lost = True
    second.energy_mj = 20_000
    readings = {reading.channel: reading for reading in sensor.read()}
    assert readings["gpu0-energy"].quality is Quality.MISSING
    assert "lost" in readings["gpu0-power"].reason
    assert readings["gpu1-energy"].value == 20.0


def test_a_driver_that_was_reloaded_adds_no_joules():
    card = Card(energy_mj=5_000_000)
    sensor = Nvml(nvml=FakeNvml(card))
    sensor.read()
    card.energy_mj = 3_000
    assert sensor.read()[0].quality is Quality.RESET
    card.energy_mj = 4_000
    assert sensor.read()[0].value == pytest.approx(1.0)


def test_recorded_counter_is_counted_to_the_last_joule():
    with shared("fixtures/nvml_h200.csv").open(encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    card, now = Card(), [0.0]
    sensor = Nvml(nvml=FakeNvml(card), clock=lambda: now[0])
    counted, qualities = 0.0, set()
    for row in rows:
        card.energy_mj, now[0] = int(row["energy_mj"]), float(row["t_s"])
        energy = sensor.read()[0]
        qualities.add(energy.quality)
        counted = energy.value
    assert qualities == {Quality.FIRST, Quality.GOOD}
    assert counted == pytest.approx((card.energy_mj - int(rows[0]["energy_mj"])) / 1e3)
