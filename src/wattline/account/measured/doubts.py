"""What must be doubted of measured joules, and how that is said: in imports, bills and of jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wattline.account.measured.names import some_of
from wattline.account.measured.records import Source
from wattline.model.units import format_energy

APART = 0.2
"""Meters and Slurm's own figure of a job may differ by so much of the latter."""
WHOLE = 0.9
"""Series that cover less of a job are not held against Slurm's figure."""


@dataclass(frozen=True)
class Twice:
    """A life with joules from meters and from Slurm."""

    label: str
    energy_j: float
    told_j: float

    @property
    def apart(self) -> float:
        """By how much of Slurm's figure they differ."""
        return abs(self.energy_j - self.told_j) / self.told_j


def told_twice(
    label: str, source: str, energy_j: float | None, told_j: float | None,
    coverage: float | None,
) -> Twice | None:
    """Where the two differ by too much; None where they agree, or cannot be compared."""
    if source != Source.SERIES or not energy_j or not told_j or (coverage or 0.0) < WHOLE:
        return None
    found = Twice(label, energy_j, told_j)
    return found if found.apart > APART else None


def apart_said(found: Sequence[Twice]) -> str:
    """One line on jobs whose meters and whose Slurm disagree."""
    most = max(found, key=lambda each: each.apart)
    return (f"jobs whose meters and Slurm differ by more than {APART:.0%}: {len(found)}; most job "
            f"{most.label}, measured {format_energy(most.energy_j)}, told "
            f"{format_energy(most.told_j)} (Slurm counts whole nodes, also where jobs share them)")


def suspects_said(suspect_j: Mapping[str, float], readings: int = 0) -> str:
    """One line on readings that look like faults."""
    count = f"{readings} readings" if readings else "readings"
    return (f"{some_of(suspect_j)}: {count} 10 times those before and after them, with "
            f"{format_energy(sum(suspect_j.values()))}, may be faults of the meter; they count, "
            "unless --highest-w at import says that nodes draw less")
