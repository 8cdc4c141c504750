"""Candidates run ahead side by side: kernels hold no lock, so threads share the work."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from wattline.advice.futures.running import Now, figures_of
from wattline.engine.again import Again
from wattline.engine.ahead import Candidate, memory_of_runs
from wattline.model import kernel
from wattline.model.signal import FloatArray

Figures = dict[str, float]


def figures_of_all(
    now: Now, candidates: Iterable[Candidate], draws: Sequence[FloatArray],
    tell: Callable[[int], None] | None = None, threads: int | None = None,
) -> list[list[Figures]]:
    """The figures of each candidate on each draw, in their order however many threads there are.

    A candidate is made while those before it run. `tell` hears how many are done.
    """
    threads = threads or _threads()
    found: list[list[Figures]] = []
    spare: list[Again] = []  # the memory of runs that are over, for those to come
    if threads == 1:
        for one in candidates:
            found.append(_figures(now, one, draws, spare))
            if tell is not None:
                tell(len(found))
        return found
    now.begin  # noqa: B018  # once, before threads ask for it
    with ThreadPoolExecutor(threads) as pool:
        started: list[list[Future[list[Figures]]]] = [
            [pool.submit(_figures, now, one, draws[first::threads], spare)
             for first in range(threads)]
            for one in candidates]
        for parts in started:
            rows: list[Figures] = [{}] * len(draws)
            for first, part in enumerate(parts):
                rows[first::threads] = part.result()
            found.append(rows)
            if tell is not None:
                tell(len(found))
    return found


def _figures(
    now: Now, one: Candidate, draws: Sequence[FloatArray], spare: list[Again]
) -> list[Figures]:
    try:
        memory = spare.pop()
    except IndexError:
        memory = memory_of_runs()
    rows = [figures_of(now, future) for future in one.runs(draws, memory)]
    spare.append(memory)
    return rows


def _threads() -> int:
    """As many as there are processors for us; plain Python would only take turns."""
    return 1 if kernel.PLAIN else len(os.sched_getaffinity(0))
