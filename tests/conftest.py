"""What tests of several folders share.

Tests run what they name: nothing is handed to another process because it is not compiled yet.
"""

from __future__ import annotations

import os

import pytest

from tests.support.plain_process import PlainProcess

os.environ.setdefault("WATTLINE_AT_ONCE", "0")


@pytest.fixture(scope="module")
def plain():
    process = PlainProcess()
    yield process
    process.close()
