"""How many random examples a property is tried with: few before every commit, many at night."""

from __future__ import annotations

import os

from hypothesis import settings

TIMES = int(os.environ.get("WATTLINE_EXAMPLES", "1"))
"""`make test-long` sets it."""


def examples(count: int, at_night: int = 0) -> settings:
    """`at_night` is what the long run takes a multiple of, where an example is so dear that a
    commit has fewer."""
    # Few: always the same, so that a commit is judged by what it changes; many: new ones each time.
    drawn = count if TIMES == 1 else max(count, at_night) * TIMES
    return settings(max_examples=drawn, deadline=None, derandomize=TIMES == 1)
