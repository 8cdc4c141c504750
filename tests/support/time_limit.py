"""A limit on each test: one that never ends fails, and holds up no worker.

The limits are generous and say nothing of speed. They are seconds of the processor, so that a busy
machine is no failure; of a test that waits for ever the clock is looked at, for twelve times as
long. Where the time is up, the main thread is interrupted by `TooLong`; where it does not come to
that, because it is within compiled code, the process ends a minute later with what each thread was
doing, which is a failure of that test too. `tests/conftest.py` hands the hooks to pytest.
"""

from __future__ import annotations

import faulthandler
import signal
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from time import monotonic, process_time  # tests put others in their place in the module
from types import FrameType

import pytest

USUALLY_S = 300.0
LIMITS_S = {"long": 3 * 3600.0, "compiled": 1800.0, "both_ways": 1800.0, "servers": 900.0,
            "browser": 900.0}
"""By mark; of several the largest. What is not compiled yet takes minutes."""
SLURM_S = 1800.0
"""Of a test below tests/slurm, on which the clocks are real."""
TIMES_AS_LONG = 12
"""By the clock."""
TIMERS = ((signal.ITIMER_VIRTUAL, signal.SIGVTALRM, 1), (signal.ITIMER_REAL, signal.SIGALRM,
                                                         TIMES_AS_LONG))
GRACE_S = 60.0
"""Between one interruption and the next, and to the end of the process."""


class TooLong(BaseException):
    """No `Exception`: nothing may take it for an answer, or try the same again with less."""


def limit_s(marks: set[str], path: str) -> float:
    """How long a part of a test with these marks may compute: its fixtures, itself, its end."""
    found = [seconds for mark, seconds in LIMITS_S.items() if mark in marks]
    return max(found, default=SLURM_S if "tests/slurm/" in path else USUALLY_S)


@contextmanager
def limited(seconds: float, name: str, grace_s: float = GRACE_S) -> Iterator[None]:
    """Interrupt what takes longer; a limit around it counts on afterwards."""
    if threading.current_thread() is not threading.main_thread():
        yield  # where no signal arrives
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise TooLong(f"{name}: not done after {seconds:g} s")

    began_s = process_time(), monotonic()
    handlers = [signal.signal(number, interrupt) for _, number, _ in TIMERS]
    outer = [signal.setitimer(timer, times * seconds, grace_s) for timer, _, times in TIMERS]
    is_outermost = not any(left_s for left_s, _ in outer)
    if is_outermost:
        faulthandler.dump_traceback_later(TIMES_AS_LONG * seconds + grace_s, exit=True,
                                          file=sys.__stderr__)
    try:
        yield
    finally:
        for timer, _, _ in TIMERS:
            signal.setitimer(timer, 0)
        for (_, number, _), handler in zip(TIMERS, handlers, strict=True):
            signal.signal(number, handler)
        if is_outermost:
            faulthandler.cancel_dump_traceback_later()
        else:
            took_s = process_time() - began_s[0], monotonic() - began_s[1]
            for (timer, _, _), (left_s, again_s), used_s in zip(TIMERS, outer, took_s, strict=True):
                if left_s:
                    signal.setitimer(timer, max(left_s - used_s, 1e-3), again_s)


def _limits(item: pytest.Item) -> Generator[None, object, object]:
    marks = {mark.name for mark in item.iter_markers()}
    with limited(limit_s(marks, item.path.as_posix()), item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    return (yield from _limits(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    return (yield from _limits(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    return (yield from _limits(item))
