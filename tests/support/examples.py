"""How many random examples a property is tried with: few before every commit, many at night."""

from __future__ import annotations

import os

from hypothesis import settings

TIMES = int(os.environ.get("WATTLINE_EXAMPLES", "1"))
"""`make test-long` sets it."""


def examples(count: int) -> settings:
    # Few: always the same, so that a commit is judged by what it changes; many: new ones each time.
    return settings(max_examples=count * TIMES, deadline=None, derandomize=TIMES == 1)
