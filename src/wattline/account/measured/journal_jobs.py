"""Jobs of the measured ledger, to be compared with the journal of their controller."""

from __future__ import annotations

from collections.abc import Sequence

from wattline.account.measured.questions import Conditions, life_rows
from wattline.account.measured.records import Source
from wattline.account.store import Store, refuse_missing
from wattline.results.verify.journal.ledger import LedgerJob


def ended_jobs(url: str, clusters: Sequence[str] = ()) -> list[LedgerJob]:
    """The jobs of a ledger that have ended and whose joules are known."""
    refuse_missing(url)
    with Store(url) as store:
        rows = life_rows(store, Conditions(clusters=tuple(clusters)))
    return [LedgerJob(str(row["label"]), float(row["start_s"]), float(row["end_s"]),
                      float(row["energy_j"]), float(row["coverage"] or 0.0),
                      row["source"] == str(Source.SERIES))
            for row in rows if row["end_s"] is not None and row["energy_j"] is not None]
