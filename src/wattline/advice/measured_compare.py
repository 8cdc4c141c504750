"""Joules of measured jobs by the meters of their nodes beside those that Slurm counted."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from wattline.account.measured.periods import between
from wattline.account.measured.questions import Conditions, lives_asked
from wattline.account.measured.records import Source
from wattline.account.measured.tables import facts, lives
from wattline.account.store import Store
from wattline.advice.measured import check_clusters, open_ledger
from wattline.model.errors import warn
from wattline.model.local_time import zone_of
from wattline.model.shown import Shown

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("cluster", "job", "state", "start_s", "end_s", "nodes", "series_j", "slurm_j", "apart",
           "coverage", "counts")


@dataclass(frozen=True, eq=False, repr=False)
class MetersBesideSlurm(Shown):
    """Lives of jobs of which both know the joules.

    >>> import wattline as wl
    >>> wl.MetersBesideSlurm((), 1, 0, None, None).to_dict()["only_series"]
    1
    """

    rows: tuple[dict[str, Any], ...]
    """Each with `series_j`, `slurm_j`, how far Slurm's lies `apart` relative to the meters', and
    whose counts."""
    only_series: int
    """Lives of which only the meters know the joules."""
    only_slurm: int
    apart_median: float | None
    """Without its sign; None where no life has both."""
    apart_max: float | None
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"rows": list(self.rows), "only_series": self.only_series,
                "only_slurm": self.only_slurm, "apart_median": self.apart_median,
                "apart_max": self.apart_max, "remarks": list(self.remarks)}

    def to_pandas(self) -> pd.DataFrame:
        """A row per life."""
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=list(COLUMNS))


def account_compare(
    store: str | Path, *, jobs: Iterable[str | int] = (), clusters: Iterable[str] = (),
    start: str = "", end: str = "", zone: str = "",
) -> MetersBesideSlurm:
    """Hold the joules of nodes' meters against Slurm's own, job by job.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import wattline as wl
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "dump.txt").write_text(
    ...     "JobID|User|State|Start|End|NNodes|NodeList|AllocTRES\\n"
    ...     "7|ann|COMPLETED|2026-10-05T10:00:00|2026-10-05T10:02:00|1|n1|energy=22000\\n")
    >>> _ = (folder / "power.csv").write_text("time,node,joules\\n" + "".join(
    ...     f"2026-10-05T10:0{minute}:00,n1,{12000 * minute}\\n" for minute in range(4)))
    >>> _ = wl.account_import([folder / "dump.txt", folder / "power.csv"], zone="UTC",
    ...                       store=folder / "site.db", cluster="c")
    >>> [row] = wl.account_compare(folder / "site.db").rows
    >>> row["series_j"], row["slurm_j"], round(row["apart"], 3)
    (24000.0, 22000.0, -0.083)
    """
    period = between(start, end, zone_of(zone))
    asked = Conditions(jobs=tuple(map(str, jobs)), clusters=tuple(clusters), start_s=period.start_s,
                       end_s=period.end_s)
    with closing(open_ledger(store)) as opened:
        check_clusters(opened, asked.clusters)
        found = _rows(opened, asked)
    both = tuple(row for row in found if row["series_j"] and row["slurm_j"])
    apart = [abs(row["apart"]) for row in both]
    remarks = () if both else ("no job has joules of both: import `sacct` and the meters of its "
                               "nodes, under one name of the cluster",)
    result = MetersBesideSlurm(
        both, sum(bool(row["series_j"]) for row in found) - len(both),
        sum(bool(row["slurm_j"]) for row in found) - len(both),
        statistics.median(apart) if apart else None, max(apart, default=None), remarks)
    warn(result.remarks)
    return result


def _rows(store: Store, asked: Conditions) -> list[dict[str, Any]]:
    metered = select(facts.c.life_id, func.sum(facts.c.energy_j).label("series_j")).where(
        facts.c.source == str(Source.SERIES), facts.c.step == "").group_by(
        facts.c.life_id).subquery()
    query = select(lives, metered.c.series_j).outerjoin(
        metered, metered.c.life_id == lives.c.id).where(lives_asked(asked)).order_by(
        lives.c.cluster, lives.c.start_s, lives.c.label)
    with store.session() as session:
        return [_row(row) for row in session.execute(query)]


def _row(row: Any) -> dict[str, Any]:
    both = row.series_j and row.told_j
    return dict(zip(COLUMNS, (
        row.cluster, row.label, row.state, row.start_s, row.end_s, row.nodes, row.series_j,
        row.told_j, row.told_j / row.series_j - 1.0 if both else None, row.coverage, row.source),
        strict=True))
