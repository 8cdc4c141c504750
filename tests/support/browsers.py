"""Debian's chromium, driven by playwright; tests skip and say so where either is missing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


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
