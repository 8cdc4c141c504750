"""Records that a kernel will need soon, asked for while it has something else to do.

The records of thousands of jobs do not fit into the caches near a processor, and jobs end in no
order that it could guess: a third of the time of a long queue went into waiting for memory. Who
knows which record comes next says so; when its turn comes, it is there.
"""

from __future__ import annotations

from typing import Any


def fetch_soon(records: Any, row: int) -> None:
    """Say that this record will be read or written soon; it changes no result.

    Compiled it is a hint to the processor, for any row: of one that is not there nothing comes. In
    plain Python it does nothing.
    """
