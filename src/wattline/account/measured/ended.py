"""Measured jobs that are over, for claims to learn from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlalchemy import inspect, select

from wattline.account.measured.holdings import gpu_count, gpu_model
from wattline.account.measured.tables import lives
from wattline.account.store import Store
from wattline.physics.claims.learning import UNEVEN, Ended


def measured_jobs(store: Store, classes: Mapping[str, str]) -> Iterator[Ended]:
    """The lives of a ledger, each known by its cluster, its job and when it began.

    Where nobody told the class of its nodes, that of its partition stands for it, or the
    partition itself.
    """
    with store.session() as session:
        if not inspect(session.connection()).has_table(lives.name):
            return
        asked = select(lives).order_by(lives.c.cluster, lives.c.start_s, lives.c.label)
        for row in session.execute(asked).mappings():
            until_s = row["start_s"] if row["end_s"] is None else row["end_s"]
            yield Ended(
                f"measured/{row['cluster']}/{row['label']}/{row['start_s']}", row["application"],
                row["node_class"] or classes.get(row["partition"], row["partition"]),
                row["nodes"], float(until_s) - float(row["start_s"]),
                float("nan") if row["energy_j"] is None else float(row["energy_j"]),
                row["state"], row["quality"], float(row["coverage"] or 0.0),
                *_gpus_per_node(row["alloc_tres"], row["nodes"]))


def _gpus_per_node(tres: str, nodes: int) -> tuple[int, str]:
    """How many, and of which model."""
    count = gpu_count(tres)
    if not count or nodes < 1:
        return 0, ""
    return (UNEVEN if count % nodes else count // nodes), gpu_model(tres)
