"""A limit on each test: one that never ends fails, and holds up no worker.

The limits are generous and say nothing of speed. They are seconds of the processor, so that a busy
machine is no failure; of a test that waits for ever the clock is looked at, for twelve times as
long. One timer of the clock asks for both: while one of processor time runs, Linux counts that in
ticks, and what tests measure would be 0 s. Where the time is up, the main thread is interrupted by
`TooLong`; where it does not come to that, because it is within compiled code, the process ends a
minute later with what each thread was doing, which is a failure of that test too.
`tests/conftest.py` hands the hooks to pytest.
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
GRACE_S = 60.0
"""Between one interruption and the next, and to the end of the process."""


class TooLong(BaseException):
    """No `Exception`: nothing may take it for an answer, or try the same again with less."""


def limit_s(marks: set[str], path: str) -> float:
    """Return how long a part of a test with these marks may compute: its fixtures, itself, its
    end."""
    found = [seconds for mark, seconds in LIMITS_S.items() if mark in marks]
    return max(found, default=SLURM_S if "tests/slurm/" in path else USUALLY_S)


@contextmanager
def limited(seconds: float, name: str, grace_s: float = GRACE_S) -> Iterator[None]:
    """Interrupt what takes longer; a limit around it counts on afterwards."""
    if threading.current_thread() is not threading.main_thread():
        yield  # where no signal arrives
        return

    began_s = process_time(), monotonic()

    def interrupt(number: int, frame: FrameType | None) -> None:
        left_s = min(seconds - (process_time() - began_s[0]),
                     TIMES_AS_LONG * seconds - (monotonic() - began_s[1]))
        if left_s <= 0.0:
            raise TooLong(f"{name}: not done after {seconds:g} s")
        signal.setitimer(signal.ITIMER_REAL, max(left_s, 1e-3), grace_s)

    handler = signal.signal(signal.SIGALRM, interrupt)
    outer_s, again_s = signal.setitimer(signal.ITIMER_REAL, seconds, grace_s)
    if not outer_s:
        faulthandler.dump_traceback_later(TIMES_AS_LONG * seconds + grace_s, exit=True,
                                          file=sys.__stderr__)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if outer_s:
            used_s = monotonic() - began_s[1]
            signal.setitimer(signal.ITIMER_REAL, max(outer_s - used_s, 1e-3), again_s)
        else:
            faulthandler.cancel_dump_traceback_later()


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
