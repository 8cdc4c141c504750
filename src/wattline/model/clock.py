"""The wall clock, for the rooms that plan: they read it here and nowhere else.

What is simulated has a time of its own; the day's time matters to these rooms only for their files.
The rooms that run beside a machine (`live`, `controller`) are handed a clock.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path


def now() -> datetime:
    return datetime.now(UTC)


def unix_s() -> float:
    """Seconds since 1970."""
    return time.time()


def file_age_s(path: Path) -> float:
    """Seconds since a file or folder was last written or touched."""
    return time.time() - path.stat().st_mtime
