"""Lives that accounting never ended, of jobs that began again.

A slurmctld that is killed may forget a run: accounting then says for ever that it goes on. A job
has one life at a time, so such a life ended when it was last seen to run, and when the next one of
its job began at the latest. Its state is RUNAWAY, as `sacctmgr show runawayjobs` calls such jobs,
until somebody tells the true end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from wattline.account.measured.records import RUNAWAY
from wattline.account.measured.settling import Job, chunks
from wattline.account.measured.tables import lives


def end_superseded(connection: Connection, jobs: Collection[Job]) -> list[str]:
    """End the lives of these jobs that nobody ended and that a later one follows; their labels."""
    ended: list[str] = []
    for cluster, labels in chunks(jobs):
        rows = connection.execute(
            select(lives.c.id, lives.c.label, lives.c.start_s, lives.c.end_s, lives.c.seen_s,
                   lives.c.state).where(lives.c.cluster == cluster, lives.c.label.in_(labels))
            .order_by(lives.c.label, lives.c.start_s)).all()
        changed = []
        for row, later in pairwise([*rows, None]):
            assert row is not None
            follows = later is not None and later.label == row.label
            state, end_s = _ended(row, later.start_s if later is not None and follows else None)
            if (state, end_s) != (row.state, row.end_s):
                changed.append({"key": row.id, "new_state": state, "new_end_s": end_s})
                ended += [row.label] if row.end_s is None else []
        if changed:
            connection.execute(update(lives).where(lives.c.id == bindparam("key")).values(
                state=bindparam("new_state"), end_s=bindparam("new_end_s")), changed)
    return ended


def superseded_said(labels: Sequence[str]) -> Iterator[str]:
    """Yield one line that counts these jobs and names one of them, where there are some."""
    if labels:
        yield (f"jobs whose runs accounting never ended, though they began again: {len(labels)}, "
               f"as job {min(labels)}; such a run ended (RUNAWAY) when it was last seen, and "
               "when the next one began at the latest")


def _ended(row: Any, next_s: int | None) -> tuple[str, float | None]:
    """The state and the end of a life, given when the next one of its job began.

    From what was told alone, and not from an end found before: the order of imports is no matter.
    """
    if row.state != RUNAWAY and (row.end_s is not None or next_s is None):
        return row.state, row.end_s
    seen_s = float(row.start_s if row.seen_s is None else row.seen_s)
    return RUNAWAY, max(float(row.start_s), seen_s if next_s is None else min(seen_s, next_s))
