"""Jobs that Slurm would not start on any nodes: not tried again before there is a reason to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from wattline.controller.beginning import Obstacle
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import SlurmJob

UNFIT_S = 900.0
"""So long a job is not tried that Slurm never starts; that a limit has risen, no look shows."""


class _Asked(NamedTuple):
    asks: tuple[object, ...]
    excluded: str
    until_s: float
    why: Obstacle


@dataclass
class UnfitJobs:
    """By label what they asked for, and until when they are not decided upon, unless they ask for
    something else, or a node comes back, before."""

    excluded: Callable[[Collection[str]], Mapping[str, str]] = lambda labels: {}
    """Nodes that jobs exclude: no look shows them, so they are asked for beside it."""
    _asked: dict[str, _Asked] = field(default_factory=dict)

    def look(self, labels: Collection[str], now_s: float) -> None:
        """Forget those that are gone, have waited, or exclude other nodes than they did."""
        self._asked = {label: each for label, each in self._asked.items()
                       if label in labels and each.until_s > now_s}
        now = self._excluded(self._asked)
        self._asked = {label: each for label, each in self._asked.items()
                       if now.get(label, each.excluded) == each.excluded}

    def add(self, job: SlurmJob, why: Obstacle, now_s: float) -> None:
        said = self._excluded([job.label]).get(job.label, "")
        self._asked[job.label] = _Asked(job.asks, said, now_s + UNFIT_S, why)

    def clear(self) -> None:
        """A node has come back, which may have what others lack."""
        self._asked.clear()

    def obstacle(self, job: SlurmJob) -> Obstacle | None:
        """Why it is one, if it asks for the same as when it became one."""
        known = self._asked.get(job.label)
        return known.why if known is not None and known.asks == job.asks else None

    def _excluded(self, labels: Collection[str]) -> Mapping[str, str]:
        with suppress(SlurmError):  # one of them may have gone since the look
            return self.excluded(labels) if labels else {}
        return {}
