"""How many random examples a property is tried with: few before every commit, many at night."""

from __future__ import annotations

import os

from hypothesis import Phase, settings

TIMES = int(os.environ.get("WATTLINE_EXAMPLES", "1"))
"""`make test-long` sets it."""
PART = 3
"""Of so many examples one is tried before a commit."""


def few(count: int) -> int:
    """A third of them before a commit, and all at night."""
    return -(-count // PART) if TIMES == 1 else count


def seeds(count: int) -> range:
    """Those of a property that is tried with one seed after the other."""
    return range(few(count))


def examples(count: int, at_night: int = 0) -> settings:
    """`at_night` is what the long run takes a multiple of, where an example is so dear that a
    commit has fewer still. With a count of 0 a commit has those alone that stand in the file."""
    # Few: always the same, so that a commit is judged by what it changes; many: new ones each time.
    drawn = few(count) if TIMES == 1 else max(count, at_night) * TIMES
    return settings(max_examples=max(drawn, 1), deadline=None, derandomize=TIMES == 1,
                    phases=tuple(Phase) if drawn else (Phase.explicit,))
