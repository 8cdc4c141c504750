"""Which rows reservations have, and by which names they go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wattline.books.events import Reserved
from wattline.books.opening import held_nodes
from wattline.model.reservation import Reservation
from wattline.policies.state import OVER, TO_COME, State, reserve
from wattline.policies.state_records import Window


def names_of(reservations: Sequence[Reservation]) -> dict[str, int]:
    """Rows of the reservations that books are opened with, where they have names.

    Watts of those are no business of the books: the cap that they are told has them in it.
    """
    return {held.name: row for row, held in enumerate(held_nodes(reservations))
            if held.name and not held.watts}


def free_row(state: State, taken: set[int]) -> tuple[State, int]:
    """A row for the next reservation, and the state that has room for it."""
    free = [int(row) for row in np.flatnonzero(state.windows.stage == OVER) if row not in taken]
    if free:
        return state, free[0]
    count = len(state.windows)
    more = Window.table(max(count, 4))
    more.stage, more.end_s = OVER, -np.inf
    windows = np.concatenate([state.windows, more]).view(np.recarray)
    return reserve(state.with_arrays(windows=windows), len(state.jobs)), count


def write_window(state: State, row: int, event: Reserved, now_s: float) -> None:
    window = state.windows[row]
    window.start_s = max(event.start_s, now_s)
    window.end_s = event.start_s + event.duration_s
    window.units, window.watts, window.stage = event.units, event.watts, TO_COME


def most_reserved(state: State, start_s: float, end_s: float, but: set[int]) -> int:
    """Units that other reservations hold at most at any time between these two."""
    windows: Any = state.windows
    kept = np.array([row not in but for row in range(len(windows))], dtype=bool)
    held = windows[(windows.stage != OVER) & kept & (windows.start_s < end_s)
                   & (windows.end_s > start_s)]
    begins = np.maximum(held.start_s, start_s)
    return max((int(held.units[(held.start_s <= at_s) & (held.end_s > at_s)].sum())
                for at_s in begins), default=0)
