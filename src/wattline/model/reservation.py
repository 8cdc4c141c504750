"""Reservations: units or watts kept free from a time for a duration."""

from __future__ import annotations

from dataclasses import dataclass

from wattline.model.errors import InputError


@dataclass(frozen=True)
class Reservation:
    """Jobs are planned around it: none starts that would, by its requested time, run into it.

    Reserved watts lower the cap while the reservation lasts.
    """

    start_s: float
    duration_s: float
    nodes: int = 0
    watts: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        if not self.duration_s > 0:
            raise InputError(f"reservation '{self.name}': duration must be positive")
        if self.nodes < 0 or self.watts < 0:
            raise InputError(f"reservation '{self.name}': nodes and watts must not be negative")
        if not self.nodes and not self.watts:
            raise InputError(f"reservation '{self.name}': say how many nodes or watts it keeps")

    @property
    def end_s(self) -> float:
        return self.start_s + self.duration_s
