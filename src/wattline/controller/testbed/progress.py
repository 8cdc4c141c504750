"""How far a workload on a bed has come, in figures for whoever waits for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class BedProgress:
    """What a run is at; the figures are those of its jobs, once they are submitted."""

    stage: str
    jobs: int = 0
    submitted: int = 0
    running: int = 0
    waiting: int = 0
    power_w: float = math.nan
    """As the controller last said it."""
    cap_w: float = math.nan

    @property
    def finished(self) -> int:
        return self.submitted - self.running - self.waiting

    @property
    def fraction(self) -> float:
        return self.finished / self.jobs if self.jobs else 0.0

    @property
    def sentence(self) -> str:
        if not self.jobs:
            return self.stage
        return (f"{self.stage}: {self.submitted} of {self.jobs} jobs submitted, {self.running} "
                f"running, {self.waiting} waiting, {self.finished} finished; "
                f"{_watts(self.power_w)} of {_watts(self.cap_w)}")


Tell = Callable[[BedProgress], None]


def untold(progress: BedProgress) -> None:
    """Nobody wants to know."""


def powers(status: dict[str, Any]) -> tuple[float, float]:
    """What the machine draws and may draw, by a controller's `status.json`: as measured, or as its
    books have it."""
    drawn = status.get("measured_w")
    drawn = status.get("power_w") if drawn is None else drawn
    return tuple(math.nan if value is None else float(value)  # type: ignore[return-value]
                 for value in (drawn, status.get("cap_w")))


def _watts(watts: float) -> str:
    return "unknown power" if math.isnan(watts) else f"{watts:,.0f} W"
