"""Nodes whose caps can be relied on: those that were seen to obey the orders they were given.

An agent without knobs refuses every order, a node that has gone says nothing, and a cap that is set
beside the agent's limits is refused: which of these it is, the number of the last order in a node's
report tells. Watts that a job leaves are lent to others only where such a cap takes them back.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from wattline.live.fleet import NodeReport

TAKE_BACK_S = 5.0
"""Within so long a node must be seen to have obeyed an order: what was lent is back by then."""


@dataclass
class Knobs:
    """Orders that were given to all nodes, and the last that each was seen to obey."""

    _given: deque[tuple[float, int]] = field(default_factory=deque)
    """Orders of the last seconds, with their times; the first must be obeyed by now."""
    _obeyed: dict[str, int] = field(default_factory=dict)
    _heard_s: dict[str, float] = field(default_factory=dict)

    def ordered(self, order: int, now_s: float) -> None:
        """Caps of all nodes were ordered under this number."""
        self._given.append((now_s, order))

    def hear(self, report: NodeReport, now_s: float) -> None:
        """Take the number of the last order that a node obeyed."""
        self._obeyed[report.node] = report.order
        self._heard_s[report.node] = now_s

    def known(self, now_s: float) -> bool:
        """Return True once an order was given so long ago that nodes must have obeyed it."""
        return self._due(now_s) is not None

    def answers(self, node: str, now_s: float) -> bool:
        """Return True if a node reports now and has obeyed what it must have obeyed."""
        due = self._due(now_s)
        return due is not None and self._reports(node, now_s) and self._obeyed[node] >= due

    def refuses(self, node: str, now_s: float) -> bool:
        """Return True if a node reports now and has not obeyed: it cannot be lowered."""
        due = self._due(now_s)
        return due is not None and self._reports(node, now_s) and self._obeyed[node] < due

    def _reports(self, node: str, now_s: float) -> bool:
        return abs(now_s - self._heard_s.get(node, -math.inf)) <= TAKE_BACK_S

    def _due(self, now_s: float) -> int | None:
        while len(self._given) > 1 and self._given[1][0] <= now_s - TAKE_BACK_S:
            self._given.popleft()
        return (self._given[0][1]
                if self._given and self._given[0][0] <= now_s - TAKE_BACK_S else None)
