"""What a watcher has to know of jobs and nodes, from books that went on after a restart."""

from __future__ import annotations

import math

import numpy as np

from wattline.books import Books
from wattline.controller.asking import asks_of
from wattline.controller.naming import label_of, restarts_of
from wattline.controller.sharing.watching import SharedWatcher
from wattline.controller.told import Told
from wattline.controller.watching import Watcher
from wattline.policies.control import nodes_of
from wattline.policies.state import CANCELLED, DONE, PAUSED, RUNNING


def recall(watcher: Watcher, books: Books, now_s: float) -> None:
    """Let the watcher go on as if it had told these books all that they know.

    What was asked to start and not seen to is taken back after the usual patience, unless the next
    look shows that it runs: so it is neither lost nor done twice.
    """
    for row, job in enumerate(books.roll.jobs):
        live = books.state.live[row]
        state = int(live.state)
        name = str(job.job)
        if state == CANCELLED:
            watcher.used.add(name)
        if state in (DONE, CANCELLED):
            place = books.place(name)
            if place is not None:  # it may come back
                watcher.places[label_of(name)] = place
            continue
        units = int(live.units)
        watcher.told[name] = told = Told(
            label_of(name), units, float(live.requested_s),
            units * watcher.node_w if math.isnan(job.watts) else job.watts,
            nodes_of(books.state, row) if state == RUNNING else (),
            running=state in (RUNNING, PAUSED), suspended=state == PAUSED,
            asked_s=now_s if int(live.unconfirmed) else math.nan, asks=asks_of(job))
        if isinstance(watcher, SharedWatcher):
            watcher.adopt(name, told, told.watts)
    watcher.used |= {str(name) for name, end_s in books.roll.over.items()
                     if end_s == -math.inf and name not in books.roll}
    watcher.down = set(watcher.node_names(np.flatnonzero(books.state.node_down)))


def ran_before(watcher: Watcher) -> dict[str, tuple[int, list[str]]]:
    """Jobs that ran when these books were last told of them: by label which life, and where."""
    return {told.label: (restarts_of(name), watcher.node_names(told.nodes))
            for name, told in watcher.told.items() if told.running}
