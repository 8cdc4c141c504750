"""What all actuators share: bounds, reading back, remembering what was found, putting it back.

A kind of actuator says only how one setting is read and written (`KnobSetting`); `Settable` makes
an `Actuator` of some of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from wattline.live.actuator import Held, Knob
from wattline.live.devices.files import reason_of
from wattline.model.errors import WattlineError


class Refusal(WattlineError):
    """A device that does not do what it is told, and why."""


@dataclass(frozen=True)
class KnobSetting:
    """One thing that can be set. Each function may raise `Refusal`, or what its device raises."""

    knob: Knob
    held: Callable[[], float]
    """What holds now; infinite where nothing is limited."""
    write: Callable[[float], None]
    found: Callable[[], Any]
    """Everything that `write` may change."""
    put_back: Callable[[Any], None]
    rounding: float
    """By so much may what holds differ from the order."""
    may_be_lower: bool = False
    """Whether the device takes the next lower value that it knows."""


class Settable:
    """Some settings as an actuator."""

    def __init__(
        self, settings: Sequence[KnobSetting], failures: tuple[type[Exception], ...] = ()
    ) -> None:
        self._settings = {setting.knob.name: setting for setting in settings}
        self._failures: tuple[type[Exception], ...] = (OSError, ValueError, WattlineError,
                                                       *failures)
        self._found: dict[str, Any] = {}

    def knobs(self) -> Sequence[Knob]:
        return [setting.knob for setting in self._settings.values()]

    def held(self) -> Sequence[Held]:
        return [self._now(setting, "") for setting in self._settings.values()]

    def states(self) -> Mapping[str, Any]:
        """Of those that can be read."""
        states = {}
        for name, setting in self._settings.items():
            with suppress(*self._failures):
                states[name] = setting.found()
        return states

    def found(self) -> Mapping[str, Any]:
        return dict(self._found)

    def remember(self, found: Mapping[str, Any]) -> None:
        self._found = {name: state for name, state in found.items() if name in self._settings}

    def apply(self, knob: str, value: float) -> Held:
        setting = self._settings.get(knob)
        if setting is None:
            names = ", ".join(self._settings)
            return Held(knob, math.nan, False, f"there is no knob {knob}; there are: {names}")
        low, high, unit = setting.knob.low, setting.knob.high, setting.knob.unit
        if not (low <= value <= high and math.isfinite(value)):
            return self._now(setting, f"{value:g} {unit} is not within {low:g} and {high:g} {unit}")
        try:
            if knob not in self._found:
                self._found[knob] = setting.found()
            setting.write(value)
        except self._failures as error:
            return self._now(setting, _said(error))
        return self._obeyed(setting, value)

    def restore(self) -> Sequence[Held]:
        """What cannot be put back now is tried again at the next call."""
        held = []
        for knob, found in list(self._found.items()):
            setting = self._settings[knob]
            try:
                setting.put_back(found)
                if _plain(setting.found()) != _plain(found):
                    raise Refusal("it does not hold what was found")
            except self._failures as error:
                held.append(self._now(setting, _said(error)))
                continue
            del self._found[knob]
            held.append(self._now(setting, ""))
        return held

    def _now(self, setting: KnobSetting, reason: str) -> Held:
        """What holds, and why that is not what was wanted."""
        try:
            return Held(setting.knob.name, setting.held(), not reason, reason)
        except self._failures as error:
            return Held(setting.knob.name, math.nan, False, reason or _said(error))

    def _obeyed(self, setting: KnobSetting, value: float) -> Held:
        now = self._now(setting, "")
        above = now.value - value
        if not now.ok or (above <= setting.rounding
                          and (setting.may_be_lower or above >= -setting.rounding)):
            return now
        unit = setting.knob.unit
        return Held(now.knob, now.value, False,
                    f"it was told {value:g} {unit} and holds {now.value:g} {unit}")


def _plain(state: Any) -> Any:
    """As JSON gives it back, which knows no tuples."""
    return [_plain(each) for each in state] if isinstance(state, (list, tuple)) else state


def _said(error: Exception) -> str:
    return " ".join(reason_of(error).split()) or type(error).__name__
