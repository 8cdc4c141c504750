"""What must be said beside an answer: meters that were set aside, names that nobody has."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import func, select, true

from wattline.account.measured import kept_rules
from wattline.account.measured.questions import Conditions, lives_asked, within
from wattline.account.measured.records import Source
from wattline.account.measured.tables import facts, lives, rests
from wattline.account.store import Store
from wattline.model.units import joules_text
from wattline.physics.metering.stretches import Filling


@dataclass(frozen=True)
class SetAside:
    """Lives whose meters cover too little to count, and both figures of their joules."""

    lives: int = 0
    counted_j: float = 0.0
    metered_j: float = 0.0

    def said(self) -> str:
        """One line, empty where there are none."""
        if not self.lives:
            return ""
        return (f"jobs of which meters cover less than Slurm tells: {self.lives}; Slurm's "
                f"{joules_text(self.counted_j)} count, and not the {joules_text(self.metered_j)} "
                "of the meters")


def set_aside(store: Store, asked: Conditions) -> SetAside:
    """The lives of the period that have joules of a series which do not count."""
    told = [str(Source.SLURM_JOB), str(Source.SLURM_STEPS)]
    query = select(lives.c.id, lives.c.energy_j, func.sum(facts.c.energy_j)).join(
        facts, facts.c.life_id == lives.c.id).where(
        facts.c.source == str(Source.SERIES), facts.c.step == "", lives.c.source.in_(told),
        lives_asked(asked)).group_by(lives.c.id, lives.c.energy_j)
    with store.session() as session:
        rows = session.execute(query).all()
    return SetAside(len(rows), sum(float(row[1]) for row in rows),
                    sum(float(row[2]) for row in rows))


def filled_by_mean(store: Store, asked: Conditions) -> str:
    """What to say of joules that no meter saw, where gaps have the mean of their job."""
    with store.session() as session:
        if kept_rules.load(session.connection()).filling is not Filling.MEAN:
            return ""
        filled_j = session.scalar(select(func.sum(facts.c.filled_j)).join(
            lives, lives.c.id == facts.c.life_id).where(
            facts.c.counts.is_(True), facts.c.source == str(Source.SERIES), lives_asked(asked)))
    return (f"gaps of meters have the mean of the job on that node (--fill mean): "
            f"{joules_text(filled_j)} of these jobs, which no meter saw" if filled_j else "")


def unknown_names(store: Store, asked: Conditions) -> list[str]:
    """What to say of users and accounts that no job of the ledger has."""
    said = []
    with store.session() as session:
        for option, what, column, names in (("-u", "user", lives.c.user, asked.users),
                                            ("-A", "account", lives.c.account, asked.accounts)):
            there = set(session.scalars(select(column).where(column.in_(names)).distinct()))
            said += [f"{option}: no job of the ledger is of {what} '{name}'" for name in names
                     if name not in there]
    return said


def suspect_j_by(
    store: Store, asked: Conditions, nodes: Collection[str] | None = None
) -> dict[str, float]:
    """Joules of readings that look like faults, by meter, in the hours of a period."""
    query = select(rests.c.entity, func.sum(rests.c.suspect_j)).where(
        rests.c.suspect_j > 0, within(rests.c.start_s, rests.c.end_s, asked),
        rests.c.cluster.in_(asked.clusters) if asked.clusters else true(),
        true() if nodes is None else rests.c.entity.in_(sorted(nodes))).group_by(
        rests.c.entity).order_by(rests.c.entity)
    with store.session() as session:
        return {str(node): float(suspect_j) for node, suspect_j in session.execute(query)}
