"""What tests of several folders share."""

from __future__ import annotations

import pytest

from tests.support.plain_process import PlainProcess


@pytest.fixture(scope="module")
def plain():
    process = PlainProcess()
    yield process
    process.close()
