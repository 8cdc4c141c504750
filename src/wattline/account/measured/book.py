"""The measured ledger in a store: what importers found goes in here, whole or not at all.

Nothing is counted twice: a record that is there already is merged with what it says, so that the
same files in any order, in pieces, or again after a crash leave the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Connection, select

from wattline.account import schema
from wattline.account.measured import kept_rules
from wattline.account.measured.attributing import settle as settle_series
from wattline.account.measured.attributing import settle_all
from wattline.account.measured.checking import IMPOSSIBLE, impossible, said
from wattline.account.measured.doubles import refuse_again, told_twice
from wattline.account.measured.entities import is_above
from wattline.account.measured.records import Found
from wattline.account.measured.rules import Rules
from wattline.account.measured.scope import Scope, known
from wattline.account.measured.series_again import refuse_metered
from wattline.account.measured.series_store import enter_series
from wattline.account.measured.settling import Job, settle
from wattline.account.measured.staying import enter_stays
from wattline.account.measured.superseding import end_superseded, superseded_said
from wattline.account.measured.tables import lives, series
from wattline.account.measured.told import enter_lives, enter_steps
from wattline.account.measured.touched import Touched
from wattline.account.store import Store


@dataclass(frozen=True)
class Entered:
    """What the ledger has of the jobs of a file, once it is entered."""

    jobs: int = 0
    lives: int = 0
    new: int = 0
    changed: int = 0
    steps: int = 0
    waiting_steps: int = 0
    """Steps of jobs that nobody has told of yet."""
    rows: int = 0
    """Rows with joules."""
    samples: int = 0
    """Of meters, all that were told."""
    new_samples: int = 0
    energy_j: float = 0.0
    covered_s: float = 0.0
    """Node-seconds of which the joules are known."""
    node_s: float = 0.0
    without_joules: int = 0
    """Lives of which no source knows the joules."""
    disagreeing: int = 0
    """Lives told twice with another end or other joules: the later end and more joules count."""
    running: int = 0
    apart: int = 0
    """Lives whose meters and Slurm's own figure differ by more than a fifth."""
    doubts: tuple[str, ...] = ()
    unknown_jobs: tuple[str, ...] = ()
    """Jobs of profiles that nobody has told of."""
    set_aside: int = 0
    """Lives whose meters cover too little, so that Slurm's joules count."""
    metered_j: float | None = None
    """What the nodes' meters saw in the hours that the file tells of; None without any."""
    idle_j: float | None = None
    """Of it what was drawn while no job held the node."""
    unattributed_j: float | None = None
    rules: dict[str, Any] = field(default_factory=dict)
    """By which joules are divided."""
    mended: dict[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


class MeasuredLedger:
    """Measured jobs in a store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        schema.migrate(store)

    def enter(
        self, found: Found, given: Mapping[str, Any] | None = None, *,
        again: Literal["say", "refuse", "replace"] = "say",
    ) -> Entered:
        """Enter what was found, all of it or nothing; a writer at the same time is waited for.

        Rules that are given, by name, hold from then on for the whole ledger. `again` is what
        becomes of jobs and samples that are there already under another zone or cluster.
        """
        scope = Scope.of(found)
        with self.store.session() as session:
            connection = session.connection()
            schema.lock(connection)
            before = kept_rules.load(connection)
            rules = kept_rules.changed(before, given or {})
            replaced = [] if again == "say" else refuse_again(
                connection, found.lives, again == "replace")
            gone = Touched() if again == "say" else refuse_metered(
                connection, found.series, again == "replace", replaced)
            told = enter_lives(connection, found.lives)
            seen = enter_steps(connection, found.steps)
            metered = enter_series(connection, found.series)
            jobs = told.touched | seen.touched | enter_stays(connection, found.stays)
            runaway = end_superseded(connection, told.touched)
            if rules.highest_w != before.highest_w:  # what Slurm's joules may be depends on it
                jobs |= _every_job(connection)
            touched = settle(connection, jobs, rules.highest_w)
            remarks = _divide(
                connection, gone | metered.touched | Touched(lives=touched), before, rules)
            wrong = impossible(found, rules.highest_w)
            return Entered(
                new=told.new, changed=told.changed, disagreeing=told.disagreeing,
                steps=len(found.steps), samples=metered.samples, new_samples=metered.new,
                mended=metered.mended | ({IMPOSSIBLE: len(wrong)} if wrong else {}),
                rules=kept_rules.as_dict(rules),
                remarks=(*replaced, *said(wrong, rules.highest_w), *superseded_said(runaway),
                         *remarks,
                         *_above(scope),
                         *_apart(connection, scope),
                         *(told_twice(connection, found.lives) if told.new else ())),
                **known(connection, scope))

    def known(self, scope: Scope) -> Entered:
        """What the ledger has of what files tell of, each life counted once."""
        with self.store.session() as session:
            return Entered(**known(session.connection(), scope))

    def is_empty(self) -> bool:
        """Whether nobody has entered anything measured."""
        with self.store.session() as session:
            return session.execute(select(lives.c.id).limit(1)).first() is None


def _divide(
    connection: Connection, touched: Touched, before: Rules, rules: Rules
) -> tuple[str, ...]:
    """Divide what meters saw among jobs: what was touched, or all of it where rules change."""
    anew = kept_rules.said(rules, before)
    if anew:
        kept_rules.save(connection, rules)
    settled = settle_all(connection, rules) if anew else settle_series(connection, touched, rules)
    return *_rules_said(rules, anew), *settled.remarks


def _every_job(connection: Connection) -> set[Job]:
    return {(cluster, label) for cluster, label in connection.execute(
        select(lives.c.cluster, lives.c.label).distinct())}


def _rules_said(rules: Rules, anew: list[str]) -> Iterable[str]:
    if anew:
        yield f"rules changed: {', '.join(anew)}; all joules of the ledger are computed anew"
        return
    own = kept_rules.said(rules, Rules())
    if own:
        yield f"by the rules that the store keeps: {', '.join(own)}"


def _above(scope: Scope) -> Iterable[str]:
    names = sorted({entity for _, entity in scope.spans if is_above(entity)})
    if names:
        yield (f"meters above nodes: {', '.join(names[:3])}{' ...' if names[3:] else ''}; kept for "
               "bills, and not divided among jobs")


def _apart(connection: Connection, scope: Scope) -> Iterable[str]:
    """Meters and jobs of one site under two names never meet: say where it looks like that."""
    told = {key.cluster for key in scope.lives} | {cluster for cluster, _ in scope.spans}
    metered = set(connection.scalars(select(series.c.cluster).distinct()))
    running = set(connection.scalars(select(lives.c.cluster).distinct()))
    silent, unmeasured = metered - running, running - metered
    if (told & silent and running) or (told & unmeasured and silent):
        yield (f"the meters of cluster {_quoted(silent)} have no jobs there, and jobs are of "
               f"{_quoted(running)}: where both are one cluster, --cluster NAME must give it one "
               "name, or no job gets these joules")


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names))
