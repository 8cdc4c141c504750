"""The tables of the measured ledger.

Four hold what was told (lives, steps, stays, series), two what follows from it (facts, rests),
and one the rules by which it does. What was told is merged so that neither order nor repetition
matters; what follows is computed anew for the nodes and lives that were touched.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.mysql import LONGBLOB

from wattline.account.store import long_text, metadata, name_type

NAME = name_type()
BLOB = LargeBinary().with_variant(LONGBLOB(), "mysql", "mariadb")
# SQLite counts rows by itself only where the key is called INTEGER.
KEY = BigInteger().with_variant(Integer(), "sqlite")


def _number(name: str, *, known: bool = False) -> Column[float]:
    return Column(name, Float(53), nullable=not known)


lives = Table(
    "measured_life", metadata,
    Column("id", KEY, primary_key=True),
    Column("cluster", NAME, nullable=False),
    Column("label", NAME, nullable=False),
    Column("start_s", BigInteger, nullable=False),
    Column("job_id", BigInteger),
    *(Column(name, NAME, nullable=False)
      for name in ("user", "account", "partition", "application", "node_class", "state")),
    *(Column(name, Integer, nullable=False) for name in ("nodes", "cores")),
    Column("node_list", long_text(), nullable=False),
    *(_number(name) for name in ("submit_s", "end_s", "limit_s", "cpu_s", "suspended_s",
                                 "told_j", "frequency_hz", "seen_s")),
    Column("alloc_tres", Text, nullable=False),
    Column("asked_frequency", NAME, nullable=False),
    # What follows from all sources together, so that a bill need not decide it again.
    _number("energy_j"), _number("idle_j"), _number("covered_s"), _number("coverage"),
    Column("source", NAME, nullable=False, default=""),
    Column("quality", NAME, nullable=False, default=""),
    UniqueConstraint("cluster", "label", "start_s"),
    Index("ix_measured_life_time", "cluster", "start_s", "end_s"),
    # Bills ask several times which lives Slurm's figures are told of: few, or none.
    Index("ix_measured_life_told", "source", "told_j"),
)
steps = Table(
    "measured_step", metadata,
    Column("id", KEY, primary_key=True),
    Column("cluster", NAME, nullable=False),
    Column("label", NAME, nullable=False),
    Column("step", NAME, nullable=False),
    Column("start_s", BigInteger, nullable=False),
    *(_number(name) for name in ("end_s", "energy_j", "frequency_hz", "cpu_s")),
    Column("node_list", long_text(), nullable=False),
    Column("state", NAME, nullable=False, server_default=""),
    UniqueConstraint("cluster", "label", "step", "start_s"),
)
stays = Table(
    "measured_stay", metadata,
    Column("id", KEY, primary_key=True),
    Column("cluster", NAME, nullable=False),
    Column("label", NAME, nullable=False),
    Column("start_s", BigInteger, nullable=False),
    Column("node", NAME, nullable=False),
    _number("begin_s"), _number("end_s"),
    _number("told_s"),  # when Slurm says that a job left the node, and went on without it
    UniqueConstraint("cluster", "label", "start_s", "node"),
)
series = Table(
    "measured_series", metadata,
    Column("id", KEY, primary_key=True),
    Column("cluster", NAME, nullable=False),
    Column("entity", NAME, nullable=False),
    Column("meter", NAME, nullable=False),
    Column("kind", NAME, nullable=False),
    Column("day", Integer, nullable=False),  # whole days of Unix time
    _number("interval_s"),
    Column("samples", BLOB, nullable=False),
    UniqueConstraint("cluster", "entity", "meter", "kind", "day"),
)
facts = Table(
    "measured_fact", metadata,
    Column("id", KEY, primary_key=True),
    Column("life_id", ForeignKey("measured_life.id", ondelete="CASCADE"), nullable=False),
    Column("step", NAME, nullable=False),  # empty for the whole job
    Column("node", NAME, nullable=False),  # empty where the nodes are not told apart
    Column("source", NAME, nullable=False),
    _number("start_s", known=True), _number("end_s", known=True),
    _number("energy_j", known=True), _number("covered_s", known=True),
    _number("filled_j", known=True), _number("idle_j", known=True),
    Column("counts", Boolean, nullable=False),  # of several sources of a life, one counts
    UniqueConstraint("life_id", "step", "node", "source", "start_s"),
    Index("ix_measured_fact_time", "counts", "start_s", "end_s"),
    Index("ix_measured_fact_node", "node", "start_s"),
)
rests = Table(
    "measured_rest", metadata,
    Column("id", KEY, primary_key=True),
    Column("cluster", NAME, nullable=False),
    Column("entity", NAME, nullable=False),
    _number("start_s", known=True), _number("end_s", known=True),
    # All that the entity's meter saw, and of it what no job held the node for.
    _number("metered_j", known=True), _number("covered_s", known=True),
    _number("filled_j", known=True), _number("idle_j", known=True),
    _number("unattributed_j", known=True),
    # Of the metered ones, those that look like faults.
    Column("suspect_j", Float(53), nullable=False, default=0.0),
    UniqueConstraint("cluster", "entity", "start_s"),
    Index("ix_measured_rest_time", "cluster", "start_s", "end_s"),
)
rules = Table(
    "measured_rule", metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("rules", long_text(), nullable=False),  # JSON, in one row
)
