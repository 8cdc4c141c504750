"""What a file of power does not say of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SeriesOptions:
    """What the user says of a file; a file that says it itself is believed first."""

    cluster: str = ""
    zone: str = ""
    """Of local times, `Europe/Berlin`; without it that of this machine."""
    meter: str = ""
    entity: str = ""
    """Of which node, where the file does not name it."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """What columns of a table are: its own names by `time`, `node`, `watts`..."""
    from_s: float | None = None
    """When times began that count from 0."""


@dataclass(frozen=True)
class ServerOptions:
    """What to ask a Prometheus server for, as the user writes it."""

    query: str = ""
    """An expression that gives one series per node."""
    label: str = ""
    gpu_label: str = ""
    counter: bool = False
    """Whether the values are joules since some beginning, and not watts."""
    start: str = ""
    end: str = ""
    step: str = ""
