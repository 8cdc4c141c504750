"""Remarks beside an answer: meters that were set aside, joules that cannot be, names that nobody
has."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import case, func, select, true

from wattline.account.measured import kept_rules
from wattline.account.measured.holdings import MARKED_S
from wattline.account.measured.questions import Conditions, lives_asked, within
from wattline.account.measured.records import Source
from wattline.account.measured.rules import HIGHEST_W
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


@dataclass(frozen=True)
class TooMuch:
    """A life with more joules than its nodes can draw in its time."""

    label: str
    energy_j: float
    most_j: float
    """Its nodes times their highest power times its time."""


def too_much(store: Store, asked: Conditions) -> list[TooMuch]:
    """Lives with more joules of meters than nodes x highest node power x time, the worst first.

    The highest power is that of the rules where they have one, else the highest at which a node of
    the life is in the ledger. Marks of prolog and epilog may reach beyond Slurm's whole seconds.
    """
    until_s = func.coalesce(lives.c.end_s, lives.c.seen_s, lives.c.start_s)
    length_s = facts.c.end_s - facts.c.start_s
    query = select(
        lives.c.label, lives.c.energy_j, lives.c.nodes, (until_s - lives.c.start_s).label("ran_s"),
        func.max(case((length_s > 0, facts.c.energy_j / length_s), else_=0.0)).label("most_w"),
    ).join(facts, facts.c.life_id == lives.c.id).where(
        lives.c.source == str(Source.SERIES), facts.c.source == str(Source.SERIES),
        facts.c.step == "", lives_asked(asked)).group_by(
        lives.c.id, lives.c.label, lives.c.energy_j, lives.c.nodes, lives.c.start_s, lives.c.end_s,
        lives.c.seen_s)
    with store.session() as session:
        highest_w = kept_rules.load(session.connection()).highest_w
        found = [TooMuch(row.label, float(row.energy_j), max(1, row.nodes) * (
            float(row.ran_s) + 2 * MARKED_S) * (
            float(row.most_w) if highest_w == HIGHEST_W else highest_w))
            for row in session.execute(query)]
    return sorted((each for each in found if each.energy_j > each.most_j),
                  key=lambda each: (-each.energy_j / max(each.most_j, 1.0), each.label))


def too_much_said(found: Sequence[TooMuch]) -> list[str]:
    """One line on such lives, as a list that may be empty."""
    if not found:
        return []
    most = found[0]
    return [f"ERROR: jobs with more energy than their nodes can draw in their time: {len(found)}; "
            f"most job {most.label}, {joules_text(most.energy_j)}, and its nodes at their highest "
            f"power {joules_text(most.most_j)}; its end or its nodes' marks are wrong"]


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
