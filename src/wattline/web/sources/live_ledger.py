"""What the measured ledger has for pages: jobs that are over, and joules by name."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, func, or_, select

from wattline.account.measured.questions import Conditions, Total, spread, totals
from wattline.account.measured.tables import lives
from wattline.account.store import Store
from wattline.model.signal import FloatArray
from wattline.web.sources.run_joules import NOBODY
from wattline.web.sources.shape import JobQuestion

SORTS = {"id": lives.c.job_id, "user": lives.c.user, "account": lives.c.account,
         "application": lives.c.application, "state": lives.c.state, "nodes": lives.c.nodes,
         "submit_s": lives.c.submit_s, "start_s": lives.c.start_s, "end_s": lives.c.end_s,
         "wait_s": lives.c.start_s - lives.c.submit_s,
         "elapsed_s": lives.c.end_s - lives.c.start_s, "requested_s": lives.c.limit_s,
         "power_w": lives.c.energy_j / func.nullif(lives.c.end_s - lives.c.start_s, 0),
         "energy_j": lives.c.energy_j}

MOST_RAN = 12
Stretches = tuple[FloatArray | float, FloatArray | float, FloatArray | float]
"""Joules, and from when to when they were used."""


@dataclass(frozen=True)
class Ran:
    """Jobs that were alike and had as many nodes, in the mean."""

    nodes: int
    jobs: int
    time_s: float
    energy_j: float
    time_range_s: tuple[float, float]
    energy_range_j: tuple[float, float]
    """Lowest and highest of them."""


class LedgerPages:
    """Asks a ledger that a controller writes; None of it is changed."""

    def __init__(self, store: str) -> None:
        self.store = store

    @property
    def there(self) -> bool:
        return bool(self.store) and ("://" in self.store or Path(self.store).is_file())

    def over(self, question: JobQuestion, leave_out: set[str],
             most: int) -> tuple[int, list[dict[str, Any]]]:
        """How many jobs that are over fit, and the first `most` of them in the order asked for."""
        if not self.there:
            return 0, []
        wanted: list[ColumnElement[bool]] = [lives.c.end_s.is_not(None)]
        if leave_out:
            wanted.append(lives.c.label.not_in(leave_out))
        for name in ("user", "account", "state"):
            given = getattr(question, name)
            if given == NOBODY:
                wanted.append(or_(lives.c[name].is_(None), lives.c[name] == ""))
            elif given:
                wanted.append(lives.c[name] == (given.upper() if name == "state" else given))
        if question.search.strip():
            text = question.search.strip().replace("\\", "\\\\").replace("%", "\\%").replace(
                "_", "\\_")
            wanted.append(or_(
                lives.c.label.like(f"{text}%", escape="\\"),
                *(lives.c[name].like(f"%{text}%", escape="\\")
                  for name in ("user", "account", "application"))))
        column = SORTS[question.sort]
        order = column.desc() if question.descending else column.asc()
        with closing(self._open()) as store, store.session() as session:
            count = session.scalar(select(func.count()).select_from(lives).where(*wanted)) or 0
            rows = session.execute(select(lives).where(*wanted).order_by(order, lives.c.id).limit(
                most)).mappings()
            return int(count), [dict(row) for row in rows]

    def ran(self, application: str, user: str, leave_out: str) -> list[Ran]:
        """Completed jobs of a name and user by their nodes, fewest first."""
        if not self.there or not application:
            return []
        took = lives.c.end_s - lives.c.start_s
        with closing(self._open()) as store, store.session() as session:
            rows = session.execute(select(
                lives.c.nodes, func.count(), func.avg(took), func.avg(lives.c.energy_j),
                func.min(took), func.max(took), func.min(lives.c.energy_j),
                func.max(lives.c.energy_j)).where(
                lives.c.application == application, lives.c.user == user,
                lives.c.label != leave_out, lives.c.state == "COMPLETED", lives.c.energy_j > 0,
                took > 0).group_by(lives.c.nodes).order_by(lives.c.nodes).limit(MOST_RAN)).all()
        return [Ran(int(nodes), int(jobs), float(time_s), float(energy_j),
                    (float(least_s), float(most_s)), (float(least_j), float(most_j)))
                for nodes, jobs, time_s, energy_j, least_s, most_s, least_j, most_j in rows]

    def totals(self, by: str, asked: Conditions) -> list[Total]:
        if not self.there:
            return []
        with closing(self._open()) as store:
            return totals(store, by, asked)

    def spread(self, by: str, asked: Conditions, *, even_in_hours: bool) -> dict[str, Stretches]:
        """By name joules and the stretches of time in which they were used."""
        if not self.there:
            return {}
        with closing(self._open()) as store:
            found = spread(store, by, asked, even_in_hours=even_in_hours)
        names, place = np.unique(found.names, return_inverse=True)
        return {str(name): (found.energy_j[rows], found.start_s[rows], found.end_s[rows])
                for code, name in enumerate(names)
                if (rows := np.flatnonzero(place == code)).size}

    def users(self, jobs: Collection[str]) -> dict[str, str | None]:
        """The users of jobs by their labels."""
        if not self.there or not jobs:
            return {}
        with closing(self._open()) as store, store.session() as session:
            rows = session.execute(select(lives.c.label, lives.c.user).where(
                lives.c.label.in_(jobs)).order_by(lives.c.id)).all()
        return {str(label): user or None for label, user in rows}

    def finished(self) -> dict[str, int]:
        if not self.there:
            return {}
        with closing(self._open()) as store, store.session() as session:
            rows = session.execute(select(lives.c.state, func.count()).where(
                lives.c.end_s.is_not(None)).group_by(lives.c.state)).all()
        return {str(state or "UNKNOWN"): int(count) for state, count in rows}

    def _open(self) -> Store:
        from wattline.advice.measured import open_ledger

        return open_ledger(self.store)
