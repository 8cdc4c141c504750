"""The beat of the live page: one computation a second, shared by all who look."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import suppress

from starlette.concurrency import run_in_threadpool

from wattline.model.errors import WattlineError
from wattline.web.answering import encoded
from wattline.web.owning import own_now
from wattline.web.places import ServerPlaces
from wattline.web.problems import own_mistake, problem_text
from wattline.web.sources.shape import Now, Source

MOST_KEPT = 256
"""Answers of a beat: whoever asks for ever other pages of nodes fills no memory."""


class Beat:
    """Computes what the live page shows once per beat, and hands the same bytes to everybody.

    An owner is handed less than those who see all, and the same as everybody of that name.
    """

    def __init__(self, source: Source, beat_s: float, places: ServerPlaces) -> None:
        self.source = source
        self.beat_s = beat_s
        self.places = places
        self.number = 0
        self.found: Now | None = None
        self.kept: dict[Hashable, bytes] = {}
        """The answers of this beat by what was asked."""
        self.said = b""
        self.troubled = False
        self.made_at = -1e9
        self.viewers = 0
        self.ended = False
        self.task: asyncio.Task[None] | None = None
        self.turn: asyncio.Event | None = None
        self.making: asyncio.Lock | None = None

    async def now(self, owner: str | None = None) -> bytes:
        """The figures of this beat as JSON; computed anew only when they are older than one."""
        await self._look_where_older(self.beat_s / 2)
        return await self._kept(("now", owner), lambda: self._now_for(owner))

    async def shared(self, asked: Hashable, make: Callable[[], object]) -> bytes:
        """Another answer of this beat as JSON, made once for all who ask the same."""
        await self._look_where_older(1.5 * self.beat_s)
        return await self._kept(asked, make)

    async def _look_where_older(self, most_s: float) -> None:
        if time.monotonic() - self.made_at < most_s:
            return
        if self.making is None:
            self.making = asyncio.Lock()
        async with self.making:
            if time.monotonic() - self.made_at >= most_s:
                self.found = await run_in_threadpool(self._look)
                self.kept = {}
                self.made_at = time.monotonic()

    async def _kept(self, asked: Hashable, make: Callable[[], object]) -> bytes:
        kept = self.kept  # the next beat has another: what is made late is not taken for its own
        if asked in kept:
            return kept[asked]
        made = await run_in_threadpool(lambda: encoded(make()))
        if len(kept) < MOST_KEPT:
            kept[asked] = made
        return made

    def _look(self) -> Now:
        self.source.turn()
        return self.source.now()

    def _now_for(self, owner: str | None) -> Now | None:
        if owner is None or self.found is None:
            return self.found
        return own_now(self.source, self.found, owner)

    def forget(self) -> None:
        """Something was changed: the next who ask are told what holds now."""
        self.made_at = -1e9

    async def events(self, owner: str | None = None) -> AsyncIterator[bytes]:
        """Server-sent events for one viewer: the first at once, then one per beat."""
        self.viewers += 1
        if self.task is None or self.task.done():
            self.turn = asyncio.Event()
            self.task = asyncio.create_task(self._go_on())
        try:
            yield b"retry: 2000\n\n" + await self._event(self.now(owner))
            while self.turn is not None:
                await self.turn.wait()
                if self.ended:
                    return
                yield self.said if owner is None or self.troubled else await self._event(
                    self._kept(("now", owner), lambda: self._now_for(owner)))
        finally:
            self.viewers -= 1

    def end(self) -> None:
        """The server stops: streams end by themselves, so that none has to be cut off."""
        self.ended = True
        if self.turn is not None:
            self.turn.set()

    async def _event(self, figures: Awaitable[bytes]) -> bytes:
        try:
            said = b"id: %d\nevent: now\ndata: %s\n\n" % (self.number, await figures)
            self.troubled = False
            return said
        except WattlineError as error:  # the machine cannot be seen: viewers are told so
            return self._trouble(self.places.withheld(str(error)))
        except Exception as error:  # a mistake of ours must not stop the beat for all
            return self._trouble(own_mistake(error))

    def _trouble(self, text: str) -> bytes:
        self.troubled = True
        return b"id: %d\nevent: trouble\ndata: %s\n\n" % (
            self.number, problem_text(text).encode("ascii"))

    async def _go_on(self) -> None:
        """Beats at even times; after the last viewer has gone it ends."""
        due = time.monotonic()
        with suppress(asyncio.CancelledError):
            while self.viewers:
                due += self.beat_s
                await asyncio.sleep(max(due - time.monotonic(), 0.0))
                self.number += 1
                self.made_at = -1e9
                self.said = await self._event(self.now())
                turn, self.turn = self.turn, asyncio.Event()
                if turn is not None:
                    turn.set()
