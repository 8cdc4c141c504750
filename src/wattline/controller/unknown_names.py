"""Names of a site's file that Slurm does not have: said at a controller's start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from wattline.books import Event
from wattline.controller.watching import Watcher
from wattline.live.slurm.commands import SlurmError
from wattline.model.units import counted

SHOWN = 4


@dataclass
class UnknownNames:
    """A source that tells no events: it is asked after a look, and says what it finds once."""

    watcher: Watcher
    notes: list[str]
    misnamed: Callable[[], str] = str
    """What is to be said of the cluster's name; a controller that Slurm told it does not start."""
    _said: bool = field(default=False, init=False)

    def events(self, now_s: float) -> list[Event]:
        if not self._said:
            self._said = True
            self._look()
            self._ask()
        return []

    def _ask(self) -> None:
        try:
            misnamed = self.misnamed()
        except SlurmError as error:
            misnamed = f"whether Slurm's cluster is that of the site's file is not known: {error}"
        self.notes += [misnamed] if misnamed else []

    def _look(self) -> None:
        seen = self.watcher.nodes_seen
        nodes = sorted(set(self.watcher.names) - {node.name for node in seen})
        partitions = sorted(self.watcher.partitions - {
            name for node in seen for name in node.partitions})
        if nodes:
            self.notes.append(f"Slurm does not have {counted(len(nodes), 'node')} of the site's "
                              f"file, whose idle power is counted all the same: {_some(nodes)}")
        if partitions:
            self.notes.append("no node of Slurm's is in a partition of the site's file: "
                              f"{_some(partitions)}")


def _some(names: list[str]) -> str:
    return ", ".join(names[:SHOWN]) + (" ..." if len(names) > SHOWN else "")
