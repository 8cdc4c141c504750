"""The jobs of a measured ledger, for fair-share: whose they are, when they ran, what they drew."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from wattline.account.measured.listing import clusters_of
from wattline.account.measured.questions import Conditions, life_rows
from wattline.account.measured.used import with_joules
from wattline.account.store import Store
from wattline.advice.measured import check_clusters, open_ledger


def measured_jobs(
    store: str | Path, cluster: str = ""
) -> tuple[list[tuple[str, str, str]], dict[str, Any], Sequence[str]]:
    """User, account and partition of each life, its times and joules, and what must be known."""
    with closing(open_ledger(store)) as opened:
        chosen, remarks = _clusters(opened, cluster)
        rows = life_rows(opened, Conditions(clusters=chosen))
    known, columns = with_joules(rows)
    if len(known) < len(rows):
        remarks.append(f"jobs without joules: {len(rows) - len(known)}; they count as nothing")
    return [(row["user"], row["account"], row["partition"]) for row in known], columns, remarks


def _clusters(store: Store, cluster: str) -> tuple[tuple[str, ...], list[str]]:
    """Which clusters count, none for all; one without a name may be the one that is asked for."""
    there = clusters_of(store)
    if cluster and there != [""]:
        check_clusters(store, [cluster], "--cluster")
        return (cluster,), []
    if len(there) > 1:
        named = ", ".join(f"'{name}'" for name in there)
        return (), [f"jobs of the clusters {named} count together; --cluster NAME chooses one"]
    return (), []
