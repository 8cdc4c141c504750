"""Number of random examples that a property is tried with, from what one of them costs.

Before a commit a property has about a second of a processor, and always the same examples, so that
a commit is judged by what it changes. `make test-long` gives it minutes (`WATTLINE_EXAMPLES` times
as long), and other examples each time: hypothesis prints how a failure is repeated, and the seeds
of `seeds` follow from `WATTLINE_SEED`, which stands in the line of its step.
"""

from __future__ import annotations

import os

from hypothesis import settings

TIMES = int(os.environ.get("WATTLINE_EXAMPLES", "1"))
"""1 before a commit; `make test-long` sets it."""
COMMIT_MS, LONG_MS = 1000.0, 3000.0
"""For all examples of a property, the second one `TIMES` times."""
FEWEST, MOST = 2, 100
"""Before a commit, however dear or cheap one is."""
FIRST_SEED = 1_000_000 + int(os.environ.get("WATTLINE_SEED", "0")) % 10**9
"""From here on seeds are new ones each night."""


def count(each_ms: float) -> int:
    """Of examples that take so long as plain Python on a quiet machine."""
    if TIMES == 1:
        return min(max(round(COMMIT_MS / each_ms), FEWEST), MOST)
    return max(round(TIMES * LONG_MS / each_ms), FEWEST)


def costing(each_ms: float) -> settings:
    """For a property of which an example takes so long."""
    return settings(max_examples=count(each_ms), deadline=None, derandomize=TIMES == 1)


def seeds(some: int) -> list[int]:
    """So many first ones before a commit; at night twice as many new ones besides."""
    fresh = range(FIRST_SEED, FIRST_SEED + 2 * some) if TIMES > 1 else ()
    return [*range(some), *fresh]

