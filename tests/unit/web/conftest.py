"""Fixtures of the tests of the web."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.web.told_site import Site, made


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A live machine of four nodes."""
    return made(tmp_path)
