"""The contract of an actuator as tests: subclass `ActuatorContract`, and be told what is wrong.

    class TestMine(ActuatorContract):
        def make_actuator(self):
            return Mine(...)       # on a device that behaves, never on one that is in use
        def held(self, knob):
            return ...             # what the device itself says

They use plain assertions; pytest finds them by name.
"""

from __future__ import annotations

import math

from wattline.live.actuator import Actuator, Knob

NEAR = 0.01


class ActuatorContract:
    """What every actuator promises; see `wattline.live.actuator`."""

    def make_actuator(self) -> Actuator:
        raise NotImplementedError("return your actuator from make_actuator")

    def held(self, knob: str) -> float:
        raise NotImplementedError("say what the device holds, without asking the actuator")

    def order(self, knob: Knob) -> float:
        """A value that the device can hold exactly: the middle of its bounds."""
        return (knob.low + min(knob.high, 4 * knob.low)) / 2

    def test_it_is_an_actuator(self) -> None:
        assert isinstance(self.make_actuator(), Actuator), \
            "it needs the methods knobs(), apply() and restore()"

    def test_knobs_are_named_once_have_bounds_and_stay_the_same(self) -> None:
        actuator = self.make_actuator()
        knobs = list(actuator.knobs())
        names = [knob.name for knob in knobs]
        assert names, "an actuator without knobs sets nothing: raise InputError when opened"
        assert len(set(names)) == len(names), f"names of knobs must differ: {names}"
        assert all(0 <= knob.low <= knob.high for knob in knobs), "low is not below high"
        actuator.apply(knobs[0].name, self.order(knobs[0]))
        assert list(actuator.knobs()) == knobs

    def test_opening_and_restoring_change_nothing(self) -> None:
        actuator = self.make_actuator()
        before = [self.held(knob.name) for knob in actuator.knobs()]
        assert list(self.make_actuator().restore()) == [], "nothing was changed"
        assert [self.held(knob.name) for knob in actuator.knobs()] == before

    def test_an_order_holds_and_is_read_back(self) -> None:
        actuator = self.make_actuator()
        for knob in actuator.knobs():
            value = self.order(knob)
            held = actuator.apply(knob.name, value)
            assert (held.knob, held.ok, held.reason) == (knob.name, True, ""), f"{held}"
            for said in (held.value, self.held(knob.name)):
                assert abs(said - value) <= NEAR * value, f"{knob.name} holds {said}, not {value}"

    def test_an_order_outside_of_the_bounds_is_refused_and_not_clipped(self) -> None:
        actuator = self.make_actuator()
        for knob in actuator.knobs():
            before = self.held(knob.name)
            for value in (knob.low - 1, knob.high + 1, math.nan, math.inf, -math.inf):
                held = actuator.apply(knob.name, value)
                assert not held.ok, f"{value} is outside of {knob}"
                assert held.reason, "say why"
                assert self.held(knob.name) == before, f"{value} changed {knob.name}"

    def test_a_knob_that_is_not_there_is_refused_and_not_raised(self) -> None:
        held = self.make_actuator().apply("no such knob", 100.0)
        assert not held.ok
        assert held.reason, "say why"

    def test_restore_puts_back_what_was_found_before_the_first_change(self) -> None:
        actuator = self.make_actuator()
        knobs = list(actuator.knobs())
        before = [self.held(knob.name) for knob in knobs]
        for share in (1.0, 1.1):
            for knob in knobs:
                actuator.apply(knob.name, min(share * self.order(knob), knob.high))
        restored = actuator.restore()
        assert sorted(held.knob for held in restored) == sorted(knob.name for knob in knobs)
        assert all(held.ok for held in restored), f"{restored}"
        assert [self.held(knob.name) for knob in knobs] == before
        assert list(actuator.restore()) == [], "it was put back already"
