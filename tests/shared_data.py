"""Public data that is not part of the project: where it is absent, a test says so and skips."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("WATTLINE_DATA", Path(__file__).resolve().parents[1] / "../shared/data"))


def shared(path: str) -> Path:
    """The file of this name in the shared data."""
    found = ROOT / path
    if not found.exists():
        pytest.skip(f"the public data file {path} is not here; set WATTLINE_DATA to its folder")
    return found
