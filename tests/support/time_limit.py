"""A limit on each test: one that never ends fails, and holds up no worker.

The limits are generous: they say nothing of speed. Where the time is up, the main thread is
interrupted by `TooLong`; where it does not come to that, because it is within compiled code, the
process ends a minute later with what each thread was doing, which is a failure of that test too.
`tests/conftest.py` hands the hooks to pytest.
"""

from __future__ import annotations

import faulthandler
import signal
import sys
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

USUALLY_S = 300.0
LIMITS_S = {"long": 3 * 3600.0, "compiled": 1800.0, "both_ways": 1800.0, "servers": 900.0,
            "browser": 900.0}
"""By mark; of several the largest. What is not compiled yet takes minutes."""
SLURM_S = 1800.0
"""Of a test below tests/slurm, on which the clocks are real."""
GRACE_S = 60.0
"""Between one interruption and the next, and to the end of the process."""


class TooLong(BaseException):
    """No `Exception`: nothing may take it for an answer, or try the same again with less."""


def limit_s(marks: set[str], path: str) -> float:
    """How long a part of a test with these marks may take: its fixtures, itself, its end."""
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

    began_s = time.monotonic()
    handler = signal.signal(signal.SIGALRM, interrupt)
    outer_s, again_s = signal.setitimer(signal.ITIMER_REAL, seconds, grace_s)
    if not outer_s:
        faulthandler.dump_traceback_later(seconds + grace_s, exit=True,
                                         file=sys.__stderr__)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if outer_s:
            left_s = outer_s - (time.monotonic() - began_s)
            signal.setitimer(signal.ITIMER_REAL, max(left_s, 1e-3), again_s)
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
