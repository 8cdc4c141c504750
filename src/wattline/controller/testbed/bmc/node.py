"""An emulated node as its management controller sees it: the files that the emulator shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from wattline.live.devices.files import number_in, text_in, write_number
from wattline.model.errors import InputError


@dataclass
class ManagedNode:
    """Power and limit of one node of a bed; a limit that is not active is no cap."""

    folder: Path
    """`meters/n0001` of a bed."""
    active: bool = field(init=False)
    limit_w: float = field(init=False)

    def __post_init__(self) -> None:
        if not self._limit.exists():
            raise InputError(f"{self.folder} has no files of an emulated node: is the bed up?")
        self.limit_w = number_in(self._limit) / 1e6
        self.active = self.limit_w < self.highest_w

    @property
    def power_w(self) -> float:
        return float(text_in(self.folder / "pm_counters" / "power").split()[0])

    @property
    def highest_w(self) -> float:
        return number_in(self._zone / "constraint_0_max_power_uw") / 1e6

    def limit(self, limit_w: float, *, active: bool) -> None:
        """Take a limit, and let it hold or not."""
        self.limit_w, self.active = limit_w, active
        write_number(self._limit, 1e6 * (limit_w if active else self.highest_w))

    @property
    def _zone(self) -> Path:
        return self.folder / "powercap" / "intel-rapl:0"

    @property
    def _limit(self) -> Path:
        return self._zone / "constraint_0_power_limit_uw"
