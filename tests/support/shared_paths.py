"""The paths of a small network are found once in a process, however many tests plan on it.

As plain Python they take a large part of each scenario with a network. They follow from the
arguments alone, so the first answer is everybody's; each gets a copy.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

from wattline.network import routes

MOST_PAIRS = 5000
"""Of routers; what is larger is seldom asked for twice, and its paths take memory."""


def share_paths() -> None:
    routes.find_paths = once(routes.find_paths)


def once(find: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    """The same function, which is asked once for equal arguments."""
    known: dict[bytes, tuple[Any, ...]] = {}

    def answer(wiring: Any, source: Any, target: Any, *counts: int) -> tuple[Any, ...]:
        if len(source) > MOST_PAIRS:
            return find(wiring, source, target, *counts)
        asked = pickle.dumps((tuple(wiring), source, target, counts))
        if asked not in known:
            known[asked] = find(wiring, source, target, *counts)
        return tuple(array.copy() for array in known[asked])

    return answer
