"""These tests ask many combinations of policies of few jobs: they run where nothing is compiled."""

from __future__ import annotations

from pathlib import Path

from wattline.model.kernel import PLAIN

HERE = Path(__file__).parent
FILES = sorted(path.name for path in HERE.glob("test_*.py") if path.name != "test_plainly.py")
collect_ignore = [] if PLAIN else FILES
