"""The controller's side of the ledger: gathers in its cycle, and hands over to a thread.

The thread takes at most a tenth of a processor's time, so that a large machine is entered less
often rather than the cap kept worse.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from wattline.account.store import Store
from wattline.controller.joules.entering import FORGOTTEN_S, Writer
from wattline.controller.joules.gathering import Batch, Gathering
from wattline.controller.joules.memory import recalled_lost, save_lost
from wattline.live.fleet import NodeReport
from wattline.live.slurm.commands import Commands
from wattline.live.slurm.reading import SlurmJob
from wattline.model.errors import WattlineError

SHARE = 0.1
"""Of a processor's time, at most."""
LAST_S = 60.0
"""So long a clean stop waits for what has come to be entered."""


@runtime_checkable
class Remembers(Protocol):
    """A fleet that knows which readings of nodes it has had."""

    def seen(self) -> Mapping[str, tuple[int, int, float]]: ...


class LedgerKeeper:
    """Enters what nodes read, and whose it was, every so often."""

    def __init__(
        self, store: str, cluster: str, commands: Commands, folder: Path, every_s: float,
        notes: list[str], rules: Mapping[str, Any] | None = None,
    ) -> None:
        self._lost = recalled_lost(folder)
        self.gathering = Gathering(cluster, self._lost)
        self._place, self._commands, self._folder = store, commands, folder
        self._every_s, self._notes = every_s, notes
        self._rules = rules or {}
        self._due_s = time.monotonic() + every_s
        self._next_seen: Mapping[str, tuple[int, int, float]] | None = None
        self._given: tuple[Batch, bool] | None = None
        self._failed = ""
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="ledger", daemon=True)
        self._thread.start()

    def hear(self, reports: Sequence[NodeReport]) -> None:
        self.gathering.hear(reports)

    def look(self, jobs: Sequence[SlurmJob], now_s: float, dead: Collection[str] = ()) -> None:
        lost = self.gathering.look(jobs, now_s, dead)
        if lost:
            self._lost = [each for each in self._lost if each.time_s > now_s - FORGOTTEN_S] + lost
            save_lost(self._folder, self._lost)

    def keep(self, fleet: object) -> None:
        """After each cycle: hand over what has come, where it is time and the thread is free."""
        self._notes += self.gathering.remarks
        self.gathering.remarks.clear()
        with self._change:
            busy = self._given is not None
        if busy or time.monotonic() < self._due_s:
            return
        if self._next_seen is None:
            # What the fleet has had by now is handed out by the next cycle at the latest.
            self._next_seen = fleet.seen() if isinstance(fleet, Remembers) else {}
            return
        self._give(self.gathering.batch(self._next_seen))
        self._next_seen = None

    def close(self) -> None:
        """Enter what is left, and leave; what cannot be in time is asked for again later."""
        self._give(self.gathering.batch({}), last=True)
        self._thread.join(LAST_S)

    def _give(self, batch: Batch, *, last: bool = False) -> None:
        with self._change:
            waiting = self._given
            self._given = (batch if waiting is None else waiting[0] | batch), last
            self._change.notify()

    def _work(self) -> None:
        left = Batch()
        with_store: list[Writer] = []
        while True:
            with self._change:
                while self._given is None:
                    self._change.wait()
                batch, last = self._given
            began_s = time.thread_time()
            left = left | batch
            if self._entered(with_store, left, last):
                left = Batch()
            took_s = time.thread_time() - began_s
            self._due_s = time.monotonic() + max(self._every_s, took_s / SHARE)
            with self._change:
                # More may have been given meanwhile, at a stop.
                again = self._given is not None and self._given[0] is not batch
                if not again:
                    self._given = None
            if last and not again:
                break
        for writer in with_store:
            writer.store.close()

    def _enter(self, opened: list[Writer], batch: Batch, last: bool) -> None:
        if not opened:
            opened.append(Writer(Store(self._place), self.gathering.cluster, self._commands,
                                 self._folder, self._rules))
        writer = opened[0]
        try:
            writer.enter(batch, time.time(), last=last)
        finally:
            self._notes += writer.remarks
            writer.remarks.clear()

    def _entered(self, opened: list[Writer], batch: Batch, last: bool) -> bool:
        """Whether it was; a store that is away must not end a controller."""
        try:
            self._enter(opened, batch, last)
        except (WattlineError, OSError) as error:
            if str(error) != self._failed:
                self._failed = str(error)
                self._notes.append("the ledger could not be written to, and is tried again: "
                                   f"{error}")
            return False
        self._failed = ""
        return True
