"""What a file of power does not say of itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SeriesOptions:
    """What the user says of a file; a file that says it itself is believed first."""

    cluster: str = ""
    zone: str = ""
    """Of local times, `Europe/Berlin`; without it that of this machine."""
    meter: str = ""
    entity: str = ""
    """Of which node, where the file does not name it."""
