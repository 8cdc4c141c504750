"""Joules of jobs three ways: by our ledger, by Slurm, and by the emulator, which is the truth.

The truth of a life is what its nodes drew from prolog to epilog, as the emulator adds it up. Slurm
counts by steps, so its joules are held to what the nodes drew while the job did its work.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import select

from wattline.account.measured.holdings import hosts_of
from wattline.account.measured.records import RUNAWAY
from wattline.account.measured.tables import lives
from wattline.account.store import Store

AROUND_S = 2.0
"""Slurm's times are whole seconds, and epilogs run after the end."""


@dataclass(frozen=True)
class LifeJoules:
    """One life of a job, and what each says that it drew; NaN where that is not known."""

    job: str
    start_s: int
    nodes: int
    state: str
    true_j: float
    """From prolog to epilog, by the emulator."""
    ledger_j: float
    slurm_j: float
    source: str
    """Whose joules count in the ledger."""
    coverage: float
    unended: bool = False
    """Whether it had no epilog: one of its nodes went off under it, or Slurm forgot that it ran."""
    late_j: float = 0.0
    """What the emulator was late to show on its counters: no ledger could have known it."""

    @property
    def error(self) -> float:
        """Of the ledger, relative to the truth; NaN where one of them is unknown."""
        if not self.true_j > 0.0:
            return math.nan
        off_j = abs(self.ledger_j - self.true_j) - self.late_j
        return off_j if math.isnan(off_j) else max(off_j, 0.0) / self.true_j

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "error": self.error}


def worst(found: Iterable[LifeJoules]) -> float:
    """The largest error of lives that had their epilogs; infinite where the ledger misses one."""
    errors = [math.inf if math.isnan(each.ledger_j) else each.error
              for each in found if not each.unended and not math.isnan(each.true_j)]
    return max(errors, default=math.nan)


def joules_of(
    store: Path, cluster: str, labels: Iterable[str], log: Sequence[Mapping[str, Any]],
    forgotten_s: Mapping[str, float] | None = None,
) -> tuple[LifeJoules, ...]:
    """All lives that the ledger has of these jobs; `forgotten_s` is when Slurm had forgotten what
    ran under a label: it may give that number again, and the next life has the next epilog."""
    holds: dict[int, list[Mapping[str, Any]]] = {}
    for each in log:
        if "held" in each:
            holds.setdefault(int(each["held"]), []).append(each)
    if not store.exists():
        return ()
    wanted = set(labels)
    with Store(store, create=False) as opened, opened.session() as session:
        rows = session.execute(select(lives).where(lives.c.cluster == cluster).order_by(
            lives.c.start_s, lives.c.label)).all()
    gone_s = forgotten_s or {}
    return tuple(_life(row, holds.get(row.job_id or -1, ()), gone_s.get(row.label, -math.inf))
                 for row in rows if row.label in wanted)


def _life(row: Any, holds: Iterable[Mapping[str, Any]], forgotten_s: float) -> LifeJoules:
    end_s = math.inf if row.end_s is None else row.end_s
    mine = {each["node"]: each for each in holds
            if row.start_s - AROUND_S < each["start_s"] < end_s + AROUND_S
            and each["end_s"] > row.start_s}
    whole = mine.keys() == hosts_of(row.node_list)
    return LifeJoules(
        row.label, int(row.start_s), int(row.nodes), row.state,
        sum(each["energy_j"] for each in mine.values()) if whole else math.nan,
        math.nan if row.energy_j is None else float(row.energy_j),
        math.nan if row.told_j is None else float(row.told_j), row.source,
        float(row.coverage or 0.0),
        row.start_s < forgotten_s or row.state == RUNAWAY
        or any(each["died"] for each in mine.values()),
        sum(each["late_j"] for each in mine.values()))
