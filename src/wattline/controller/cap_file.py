"""A cap that follows a file, as a source of events.

The file has a power, or steps with dates: the same file of `time,watts` that a simulation takes.
"""

from __future__ import annotations

import math
from pathlib import Path

from wattline.books import CapChanged, Event
from wattline.controller.controller import Controller
from wattline.controller.desk import refuse_below_idle
from wattline.model.cap_value import is_cap_value, read_cap_value
from wattline.model.errors import InputError
from wattline.model.run_clock import UNIX_FROM_S, RunClock
from wattline.model.units import says_no_cap
from wattline.traces.signals import read_cap


class CapFile:
    """The cap follows a file, `none` is the site's own; what cannot be read leaves it as it is."""

    def __init__(self, file: Path, highest_w: float, controller: Controller) -> None:
        self.file, self.highest_w, self.controller = file, highest_w, controller
        self.said = ""

    def events(self, now_s: float) -> list[Event]:
        try:
            wanted_w = self._wanted_w(now_s)
            refuse_below_idle("a cap", wanted_w, self.controller.books)
        except (OSError, UnicodeDecodeError, InputError) as error:
            return self._note(f"{self.file}: the cap stays as it is: {error}")
        if not 0.0 < wanted_w <= self.highest_w:
            return self._note(f"{self.file}: the cap stays as it is: {wanted_w:g} W is not between "
                              f"0 and the site's {self.highest_w:g} W")
        self.said = ""
        told_w = float(self.controller.books.record.meter[0].told_cap_w)
        if math.isclose(wanted_w, told_w):
            return []
        self.controller.notes.append(f"{self.file}: the cap is {wanted_w:,.0f} W from now on")
        return [CapChanged(wanted_w)]

    def _wanted_w(self, now_s: float) -> float:
        """The watts of the file at this Unix time."""
        said = self.file.read_text(encoding="utf-8").strip()
        if says_no_cap(said):
            return self.highest_w
        if is_cap_value(said) or not set(",;\t\n") & set(said):
            return read_cap_value(said).watts(self.controller.books.machine.power_w_max)
        steps = read_cap(self.file, RunClock(epoch_s=0.0))
        if steps.time_s[0] < UNIX_FROM_S:
            raise InputError("its steps are in seconds from a first submission, and a running "
                             "machine has none: write dates")
        return steps.at(now_s)

    def _note(self, text: str) -> list[Event]:
        if text != self.said:
            self.controller.notes.append(text)
            self.said = text
        return []
