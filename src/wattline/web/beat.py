"""The beat of the live page: one computation a second, shared by all who look."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress

from starlette.concurrency import run_in_threadpool

from wattline.model.errors import WattlineError
from wattline.web.answering import encoded
from wattline.web.places import ServerPlaces
from wattline.web.problems import own_mistake, problem_text
from wattline.web.sources.shape import Source


class Beat:
    """Computes `now` once per beat while anybody looks, and hands the same bytes to everybody."""

    def __init__(self, source: Source, beat_s: float, places: ServerPlaces) -> None:
        self.source = source
        self.beat_s = beat_s
        self.places = places
        self.number = 0
        self.body = b""
        self.made_at = -1e9
        self.viewers = 0
        self.ended = False
        self.task: asyncio.Task[None] | None = None
        self.turn: asyncio.Event | None = None
        self.making: asyncio.Lock | None = None

    async def now(self) -> bytes:
        """The figures of this beat as JSON; computed anew only when they are older than one."""
        if time.monotonic() - self.made_at < self.beat_s / 2:
            return self.body
        if self.making is None:
            self.making = asyncio.Lock()
        async with self.making:
            if time.monotonic() - self.made_at >= self.beat_s / 2:
                self.body = encoded(await run_in_threadpool(self.source.now))
                self.made_at = time.monotonic()
        return self.body

    def forget(self) -> None:
        """Something was changed: the next who ask are told what holds now."""
        self.made_at = -1e9

    async def events(self) -> AsyncIterator[bytes]:
        """Server-sent events for one viewer: the first at once, then one per beat."""
        self.viewers += 1
        if self.task is None or self.task.done():
            self.turn = asyncio.Event()
            self.task = asyncio.create_task(self._go_on())
        try:
            yield b"retry: 2000\n\n" + await self._event()
            while self.turn is not None:
                await self.turn.wait()
                if self.ended:
                    return
                yield self.said
        finally:
            self.viewers -= 1

    def end(self) -> None:
        """The server stops: streams end by themselves, so that none has to be cut off."""
        self.ended = True
        if self.turn is not None:
            self.turn.set()

    async def _event(self) -> bytes:
        try:
            self.said = b"id: %d\nevent: now\ndata: %s\n\n" % (self.number, await self.now())
        except WattlineError as error:  # the machine cannot be seen: viewers are told so
            self.said = self._trouble(self.places.withheld(str(error)))
        except Exception as error:  # a mistake of ours must not stop the beat for all
            self.said = self._trouble(own_mistake(error))
        return self.said

    def _trouble(self, text: str) -> bytes:
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
                await self._event()
                turn, self.turn = self.turn, asyncio.Event()
                if turn is not None:
                    turn.set()
