"""The contracts of sensors and actuators find what is wrong: each of these breaks one clause."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from wattline.live.actuator import Held, Knob
from wattline.live.sensor import Channel, Quality, Reading, missing
from wattline.testing import ActuatorContract, SensorContract
from wattline.testing.clauses import broken_clauses

HONEST = tuple(Reading("node", float(at), 10.0 * at, Quality.GOOD) for at in range(10))
NUMBERS = "test_a_value_is_a_number_unless_it_is_missing_with_a_reason"
ONWARD = "test_time_goes_on_and_joules_never_fall"


class Replayed:
    """A counter of joules that gives these readings, the last of them from then on."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        self._readings = list(readings)

    def channels(self) -> Sequence[Channel]:
        return [Channel("node", "J", "node")]

    def read(self) -> Sequence[Reading]:
        return [self._readings.pop(0) if len(self._readings) > 1 else self._readings[0]]


def _instead(place: int, reading: Reading) -> tuple[Reading, ...]:
    return (*HONEST[:place], reading, *HONEST[place + 1 :])


@pytest.mark.parametrize(("readings", "broken"), [
    (HONEST, {}),
    (_instead(2, missing("node", 2.0, "it was asleep")), {}),
    (_instead(2, Reading("node", 2.0, 5.0, Quality.GOOD)), {ONWARD: "joules fell"}),
    (_instead(2, Reading("node", 0.5, 20.0, Quality.GOOD)),
     {ONWARD: "earlier than the one before"}),
    (_instead(2, Reading("node", 2.0, math.nan, Quality.GOOD)), {NUMBERS: "NaN means missing"}),
    (_instead(2, Reading("node", 2.0, 20.0, Quality.MISSING, "why")),
     {NUMBERS: "NaN means missing"}),
    (_instead(2, Reading("node", 2.0, 20.0, Quality.RESET)), {NUMBERS: "say why, and only then"}),
    (_instead(2, Reading("node", 2.0, 20.0, Quality.GOOD, "why")),
     {NUMBERS: "say why, and only then"}),
])
def test_a_sensor_is_told_which_clause_it_breaks(
    readings: Sequence[Reading], broken: dict[str, str]
) -> None:
    class Contract(SensorContract):
        def make_sensor(self) -> Replayed:
            return Replayed(readings)

    found = broken_clauses(Contract())
    assert found.keys() == broken.keys()
    assert all(said in found[name] for name, said in broken.items())


class Device:
    """Settings of a knob of 100 to 200 W."""

    def __init__(self) -> None:
        self.watts = math.inf


class Honest:
    """An actuator as it should be."""

    def __init__(self, device: Device) -> None:
        self.device, self.found = device, list[float]()

    def knobs(self) -> Sequence[Knob]:
        return [Knob("node", "W", "node", 100.0, 200.0)]

    def apply(self, knob: str, value: float) -> Held:
        if knob != "node" or not 100.0 <= value <= 200.0:
            return Held(knob, self.device.watts, False, "it is not there, or out of bounds")
        self.found = self.found or [self.device.watts]
        self.device.watts = value
        return Held(knob, value)

    def restore(self) -> Sequence[Held]:
        found, self.found = self.found, []
        for self.device.watts in found:
            return [Held("node", self.device.watts)]
        return []


class Clips(Honest):
    def apply(self, knob: str, value: float) -> Held:
        held = super().apply(knob, value)
        if not held.ok and knob == "node":
            self.device.watts = 100.0 if value < 100.0 else 200.0
        return held


class Forgets(Honest):
    def restore(self) -> Sequence[Held]:
        found, self.found = self.found, []
        return [Held("node", watts) for watts in found]


class Halves(Honest):
    def apply(self, knob: str, value: float) -> Held:
        held = super().apply(knob, value)
        self.device.watts /= 2 if held.ok else 1
        return held


@pytest.mark.parametrize(("kind", "broken"), [
    (Honest, set()),
    (Clips, {"test_an_order_outside_of_the_bounds_is_refused_and_not_clipped"}),
    (Forgets, {"test_restore_puts_back_what_was_found_before_the_first_change"}),
    (Halves, {"test_an_order_holds_and_is_read_back"}),
])
def test_an_actuator_is_told_which_clause_it_breaks(kind: type[Honest], broken: set[str]) -> None:
    class Contract(ActuatorContract):
        def make_actuator(self) -> Honest:
            self.device = getattr(self, "device", None) or Device()
            return kind(self.device)

        def held(self, knob: str) -> float:
            return self.device.watts

    found = {}
    for name in (name for name in dir(Contract) if name.startswith("test_")):
        one = Contract()
        found |= {each: said for each, said in broken_clauses(one).items() if each == name}
    assert found.keys() == broken


def test_a_clause_that_says_nothing_is_named_by_its_error() -> None:
    class Contract:
        def test_one(self) -> None:
            raise AssertionError

        def test_two(self) -> None:
            raise AssertionError("this is wrong")

        def test_three(self) -> None:
            pass

    assert broken_clauses(Contract()) == {"test_one": "AssertionError",
                                          "test_two": "this is wrong"}
