"""Debian's chromium, driven by playwright; tests skip and say so where either is missing."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest

T = TypeVar("T")
PATIENCE_S = 60.0
"""Time that a page may take on a busy machine; what is wrong is found out no sooner, only
surely."""


def soon(ask: Callable[[], T], right: Callable[[T], object], patience_s: float = PATIENCE_S) -> T:
    """Ask a page until it is right: pages fetch and draw later than they are told."""
    end = time.monotonic() + patience_s
    while not right(found := ask()):
        assert time.monotonic() < end, f"not within {patience_s:g} s; it is {found!r}"
        time.sleep(0.05)
    return found


@contextmanager
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("there is no chromium; scripts/install-debian-packages installs it")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program)
        yield opened
        opened.close()
