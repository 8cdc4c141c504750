"""What a fleet has to say of its broker and its nodes, once: said by the controller itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from wattline.live.transport.link import CONNECTED

MOST = 1000
"""Sentences that are remembered: a node that sends rubbish may say another one each second."""


@dataclass
class FleetNews:
    """Passes on what is new until the broker has been away and is back."""

    remarks: Callable[[], Sequence[str]]
    notes: list[str]
    _said: set[str] = field(default_factory=set)

    def __call__(self, cycle: object) -> None:
        for line in self.remarks():
            if line == CONNECTED:
                self._connected()
            elif line not in self._said and len(self._said) < MOST:
                self._said.add(line)
                self.notes.append(line)

    def _connected(self) -> None:
        """At a start nobody waits for it."""
        if self._said:
            self.notes.append(CONNECTED)
        self._said.clear()
