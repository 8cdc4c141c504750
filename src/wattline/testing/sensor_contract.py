"""The contract of a sensor as tests: subclass `SensorContract`, and be told what is wrong.

    class TestMine(SensorContract):
        def make_sensor(self):
            return Mine(...)       # a device, or files recorded from one

They use plain assertions; pytest finds them by name.
"""

from __future__ import annotations

import math

from wattline.live.sensor import Quality, Sensor

READS = 5


class SensorContract:
    """What every sensor promises; see `wattline.live.sensor`."""

    def make_sensor(self) -> Sensor:
        raise NotImplementedError("return your sensor from make_sensor")

    def test_it_is_a_sensor(self) -> None:
        assert isinstance(self.make_sensor(), Sensor), "it needs the methods channels() and read()"

    def test_channels_are_named_once_and_stay_the_same(self) -> None:
        sensor = self.make_sensor()
        names = [channel.name for channel in sensor.channels()]
        assert names, "a sensor without channels measures nothing: raise InputError when opened"
        assert len(set(names)) == len(names), f"channel names must differ: {names}"
        sensor.read()
        assert [channel.name for channel in sensor.channels()] == names

    def test_every_channel_is_read_in_order(self) -> None:
        sensor = self.make_sensor()
        names = [channel.name for channel in sensor.channels()]
        for _ in range(READS):
            assert [reading.channel for reading in sensor.read()] == names

    def test_a_value_is_a_number_unless_it_is_missing_with_a_reason(self) -> None:
        sensor = self.make_sensor()
        for reading in (each for _ in range(READS) for each in sensor.read()):
            missing = reading.quality is Quality.MISSING
            assert math.isnan(reading.value) == missing, f"{reading}: NaN means missing"
            wrong = missing or reading.quality is Quality.RESET
            assert bool(reading.reason) == wrong, f"{reading}: say why, and only then"
            assert missing or reading.value >= 0.0, f"{reading}: power and energy are not negative"

    def test_time_goes_on_and_joules_never_fall(self) -> None:
        sensor = self.make_sensor()
        joules = {channel.name for channel in sensor.channels() if channel.unit == "J"}
        last = {reading.channel: reading for reading in sensor.read()}
        for _ in range(READS):
            for reading in sensor.read():
                before = last[reading.channel]
                assert reading.time_s >= before.time_s, f"{reading}: earlier than the one before"
                if reading.channel in joules and not math.isnan(reading.value + before.value):
                    assert reading.value >= before.value, f"{reading}: joules fell"
                last[reading.channel] = reading
