"""The books of a large machine: one event, a full pass, saving, and jobs that come without end."""

from __future__ import annotations

import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

from wattline.books import Books, Cancelled, CapChanged, Ended, Event, Submitted
from wattline.model.machine import Machine
from wattline.policies.contract import Composition

RUNNING, PENDING = 2_000, 5_000
STREAMED = 1_000_000
AT_ONCE = 1_000
"""Jobs that arrive, and jobs that end, in one step of the stream."""


def measure_books(
    policy: Composition, planning: Composition, streamed_jobs: int = STREAMED
) -> dict[str, Any]:
    """Milliseconds, and the memory after a stream of jobs; `planning` reserves for every job."""
    books = _busy(policy)
    one, passes = [], []
    for number in range(100):
        now_s = 10.0 + number
        one.append(_milliseconds(books, now_s, [Ended(number)]))
        passes.append(_milliseconds(books, now_s + 0.5, [CapChanged(1e9 + number)]))
    begun = time.perf_counter()
    data = books.save()
    saved_ms = (time.perf_counter() - begun) * 1e3
    return {
        "one_event_ms": float(np.median(one)), "full_pass_ms": float(np.median(passes)),
        "save_ms": saved_ms, "saved_mb": len(data) / 1e6, "forget_ms": _forget_ms(books),
        "early_end_with_all_reserved_ms": _early_end_ms(planning),
        **_stream_alone(policy, streamed_jobs),
    }


def _early_end_ms(policy: Composition) -> float:
    """One job that ends hours before its time, where every waiting job has a reservation."""
    books = _busy(policy)
    return float(np.median([_milliseconds(books, 10.0 + job, [Ended(job)])
                            for job in range(50)]))


def _busy(policy: Composition) -> Books:
    """Two thousand jobs run on a full machine, and five thousand larger ones wait."""
    books = Books.open(Machine.uniform(RUNNING), policy)
    random = np.random.default_rng(1)
    books.step(0.0, [Submitted(row, 1, float(random.integers(3_600, 86_400)))
                     for row in range(RUNNING)])
    books.step(1.0, [Submitted(RUNNING + row, int(random.integers(2, 400)),
                               float(random.integers(3_600, 86_400))) for row in range(PENDING)])
    return books


def _milliseconds(books: Books, now_s: float, events: list[Event]) -> float:
    begun = time.perf_counter()
    books.step(now_s, events)
    return (time.perf_counter() - begun) * 1e3


def _forget_ms(books: Books) -> float:
    """How long the one step takes in which books forget: half of the queue is withdrawn."""
    now_s = books.now_s
    books.step(now_s, [Cancelled(RUNNING + row) for row in range(PENDING // 2)])
    begun = time.perf_counter()
    books.compact()
    return (time.perf_counter() - begun) * 1e3


def stream(policy: Composition, jobs: int) -> dict[str, float]:
    """Jobs that come and go; the memory is that of the whole process at its most."""
    books = Books.open(Machine.uniform(RUNNING), policy)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.perf_counter()
    for number in range(jobs // AT_ONCE):
        first = number * AT_ONCE
        ended = [Ended(job) for job in range(first - AT_ONCE, first)] if number else []
        arrive = [Submitted(first + job, 1, 3_600.0) for job in range(AT_ONCE)]
        books.step(float(number), [*ended, *arrive])
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"streamed_jobs": jobs, "stream_s": time.perf_counter() - begun,
            "stream_grew_mb": (after - before) / 1024, "memory_mb": after / 1024}


def _stream_alone(policy: Composition, jobs: int) -> dict[str, float]:
    """The stream in a process of its own: this one has had other things in memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(stream, policy, jobs).result()
