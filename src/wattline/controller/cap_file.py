"""A cap that follows a file, as a source of events."""

from __future__ import annotations

import math
from pathlib import Path

from wattline.books import CapChanged, Event
from wattline.controller.controller import Controller
from wattline.controller.desk import refuse_below_idle
from wattline.model.errors import InputError
from wattline.model.units import parse_power, says_no_cap


class CapFile:
    """The cap follows a file, `none` is the site's own; what cannot be read leaves it as it is."""

    def __init__(self, file: Path, highest_w: float, controller: Controller) -> None:
        self.file, self.highest_w, self.controller = file, highest_w, controller
        self.said = ""

    def events(self, now_s: float) -> list[Event]:
        try:
            said = self.file.read_text(encoding="utf-8").strip()
            wanted_w = self.highest_w if says_no_cap(said) else parse_power(said)
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

    def _note(self, text: str) -> list[Event]:
        if text != self.said:
            self.controller.notes.append(text)
            self.said = text
        return []
