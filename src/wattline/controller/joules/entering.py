"""Batches entered into the ledger, in a thread of its own: the controller never waits for a store.

What was entered is noted only afterwards. A kill between costs nothing: nodes are asked again, and
what comes twice is merged.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Row, func, select

from wattline.account.measured.book import MeasuredLedger
from wattline.account.measured.from_sacct import read_sacct
from wattline.account.measured.holdings import hosts_of
from wattline.account.measured.records import RUNAWAY, Found, Life, LifeKey, Stay
from wattline.account.measured.tables import lives, stays
from wattline.account.store import Store
from wattline.controller.joules.commenting import Commenter
from wattline.controller.joules.gathering import REQUEUED, Batch, Lost
from wattline.controller.joules.matching import Begun, Place, match, until_the_end
from wattline.controller.joules.memory import Memory, Unsaid, recalled
from wattline.live.slurm.commands import Commands, SlurmError

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

COLUMNS = ("JobID", "JobIDRaw", "User", "Account", "Partition", "State", "Submit", "Start", "End",
           "ElapsedRaw", "NNodes", "AllocCPUS", "NodeList", "AllocTRES", "ConsumedEnergyRaw",
           "TotalCPU", "Suspended")
"""No names of jobs, which may hold ends of lines: the queue tells those."""
ACCOUNT_EVERY_S = 300.0
BEFORE_S = 120.0
"""Accounting is late: what it told last time is asked for again."""
FIRST_S = 3600.0
"""So far back accounting is asked where nothing was ever entered."""
AFTER_ANOTHER_S = 1.0
"""Times are whole seconds: jobs that follow each other on a node may seem to meet for so long."""
COMPLETE_S = 30.0
"""So long after its end a job waits for marks of its nodes."""
FORGOTTEN_S = 86400.0
"""Marks of jobs that nobody told of, and comments that could not be written, are let go."""
LAST_WAIT_S = 5.0
"""So long a stop waits until accounting knows that a job is over."""


@dataclass
class Writer:
    """Enters batches; used by one thread."""

    store: Store
    cluster: str
    commands: Commands
    folder: Path
    rules: Mapping[str, Any] = field(default_factory=dict)
    """What is known of the nodes, as `wattline account import` would be told it."""
    memory: Memory = field(default_factory=Memory)
    remarks: list[str] = field(default_factory=list)
    _begun_s: dict[LifeKey, float] = field(default_factory=dict)
    _left_s: dict[Place, float] = field(default_factory=dict)
    _lost: set[Lost] = field(default_factory=set)
    _told: set[str] = field(default_factory=set)
    _running: frozenset[LifeKey] = frozenset()
    """All that Slurm showed running at the last look."""
    _accounted: bool = False
    """Whether accounting was asked since the start: jobs may have ended before it."""

    def __post_init__(self) -> None:
        self._ledger = MeasuredLedger(self.store)
        self.memory = recalled(self.folder)

    def enter(self, batch: Batch, now_s: float, *, last: bool = False) -> None:
        """Enter all of it, then note that; `last`: nothing will follow."""
        self._begun_s |= batch.begun_s
        self._left_s |= batch.left_s
        self._lost |= batch.lost
        self._running = self._running if batch.running is None else batch.running
        over = {life.key: life for life in batch.lives.values()
                if not math.isnan(life.end_s) and life.state not in (REQUEUED, RUNAWAY)}
        marks = [*self.memory.marks, *batch.marks]
        found = Found("the live machine", tuple(batch.lives.values()),
                      series=batch.series(self.cluster))
        self._ledger.enter(found, self.rules)
        known = self._lives({mark.job_id for mark in marks})
        marks, waiting = until_the_end(marks, known, self._lost)
        matched, left = match(
            marks, known, self._begun(known),
            lambda life: now_s >= life.end_s + COMPLETE_S or (last and not math.isnan(life.end_s)))
        if matched:
            self._ledger.enter(Found("marks", stays=tuple(matched)))
        self.memory.marks = [mark for mark in (*left, *waiting)
                             if mark.time_s > now_s - FORGOTTEN_S]
        self.memory.seen = {**self.memory.seen, **batch.seen}
        unsaid = {(each.label, each.start_s) for each in self.memory.unsaid}
        self.memory.unsaid += [
            Unsaid(key.label, key.start_s, now_s) for key, life in over.items()
            if life.job_id is not None and (key.label, key.start_s) not in unsaid]
        self.memory.save(self.folder)
        self._account(now_s, asked=last or not self._accounted)
        self._say_joules(now_s, last=last)
        self.memory.save(self.folder)

    def _account(self, now_s: float, *, asked: bool) -> None:
        """What Slurm's accounting knows: jobs that came and went unseen, and its own joules."""
        since_s = self.memory.accounted_s
        if not asked and now_s < since_s + ACCOUNT_EVERY_S:
            return
        from_s = now_s - FIRST_S if math.isnan(since_s) else since_s - BEFORE_S
        start = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(from_s))
        try:
            text = self.commands.run("sacct", "-P", "-D", "-a", "-S", start, "-E", "now", "-o",
                                     ",".join(COLUMNS))
        except SlurmError as error:
            self._say_once("accounting", f"{error}; what Slurm accounts for is asked again later")
            return
        self._told.discard("accounting")
        told = self._as_known(read_sacct(text.encode(), "sacct", cluster=self.cluster, zone="UTC"))
        believed, runaway = self._parted(told.lives, now_s)
        self._say_runaway(runaway)
        self._ledger.enter(replace(told, lives=believed, series=()))
        self.memory.accounted_s, self._accounted = now_s, True

    def _as_known(self, told: Found) -> Found:
        """What accounting tells, with later sizes of lives that were entered as of these: the
        record of the first size may be older than what was asked for. A job has one life at a
        time."""
        known = self._lives({life.job_id for life in told.lives if life.job_id is not None})
        over_s = {life.key: life.end_s for life in told.lives if not math.isnan(life.end_s)}
        first = {life.key: each.key for life in told.lives if life.submit_s == life.key.start_s
                 for each in known.get(life.job_id or 0, ())
                 if each.key.label == life.key.label and not each.gone
                 and each.key.start_s < life.key.start_s
                 and not over_s.get(each.key, each.end_s) <= life.key.start_s}
        return replace(told, lives=tuple(
            replace(life, key=first[life.key], submit_s=math.nan) if life.key in first else life
            for life in told.lives), stays=tuple(
            replace(stay, key=first.get(stay.key, stay.key)) for stay in told.stays))

    def _parted(
        self, told: Sequence[Life], now_s: float
    ) -> tuple[tuple[Life, ...], list[str]]:
        """Lives without those that run by accounting alone, and the jobs of those that have done so
        for long: where slurmctld was killed accounting may never hear of an end, and such a job
        would share the joules of its nodes for ever."""
        over = {life.key for life in told if not math.isnan(life.end_s)}
        apart = {life.key for life in told} - over - self._running
        return (tuple(life for life in told if life.key not in apart),
                sorted(key.label for key in apart if key.start_s < now_s - BEFORE_S))

    def _say_runaway(self, labels: Sequence[str]) -> None:
        for label in labels:
            self._say_once(f"runaway {label}", (
                f"accounting says that job {label} runs, and Slurm has no such job: it has no part "
                "in the joules of its nodes (sacctmgr show runawayjobs lists and mends such jobs)"))

    def _say_joules(self, now_s: float, *, last: bool) -> None:
        commenter = Commenter(self.commands)
        left: list[Unsaid] = []
        for job in self.memory.unsaid:
            key = LifeKey(self.cluster, job.label, job.start_s)
            waits = not last and not self._is_whole(key) and now_s < job.since_s + COMPLETE_S
            if waits or (now_s < job.since_s + FORGOTTEN_S and not self._is_divided(key)):
                left.append(job)
                continue
            try:
                self._fill_in(key)
                energy_j = self._energy_j(key)
                said = "" if energy_j is None else commenter.say(
                    job.label, energy_j, LAST_WAIT_S if last else 0.0)
                self.remarks += [said] if said else []
            except SlurmError as error:
                self._say_once("comment", f"{error}; joules of jobs are written later")
                if now_s < job.since_s + FORGOTTEN_S:
                    left.append(job)
            else:
                self._told.discard("comment")
        self.memory.unsaid = left

    def _fill_in(self, key: LifeKey) -> None:
        """Where no prolog ran, a life began when it was first seen to have; where no epilog ran on
        a node that it gave back, it left that when it was first seen to have."""
        begun_s = self._begun_s.pop(key, None)
        left_s = {node: self._left_s.pop((own, node))
                  for own, node in list(self._left_s) if own == key}
        if begun_s is None and not left_s:
            return
        with self.store.session() as session:
            marks = _stays(session, key)
            hosts = hosts_of(_life(session, key).node_list)
        begun = {node for node, begin_s, _ in marks if begin_s is not None}
        ended = {node for node, _, end_s in marks if end_s is not None}
        missing = [Stay(key, node, begin_s=begun_s) for node in sorted(hosts - begun)
                   if begun_s is not None]
        missing += [Stay(key, node, end_s=left_s[node]) for node in sorted(left_s.keys() - ended)]
        if missing:
            self._ledger.enter(Found("marks", stays=tuple(missing)))

    def _is_whole(self, key: LifeKey) -> bool:
        """Whether all nodes of a life have marked its end."""
        with self.store.session() as session:
            hosts = hosts_of(_life(session, key).node_list)
            return hosts <= {node for node, _, end_s in _stays(session, key) if end_s is not None}

    def _is_divided(self, key: LifeKey) -> bool:
        """Whether what a life has of its nodes is final: where others were there too, that goes by
        the processor time of each, which is known after its end."""
        with self.store.session() as session:
            mine = _life(session, key)
            hosts = hosts_of(mine.node_list).difference(self.rules.get("parts_w", ()))
            if not hosts or mine.end_s is None:
                return True
            until = func.coalesce(lives.c.end_s, lives.c.seen_s)
            there = session.execute(select(lives.c.node_list, lives.c.cpu_s).where(
                lives.c.cluster == self.cluster, lives.c.id != mine.id,
                lives.c.start_s < mine.end_s - AFTER_ANOTHER_S,
                until > mine.start_s + AFTER_ANOTHER_S)).all()
        others = [row for row in there if not hosts.isdisjoint(hosts_of(row.node_list))]
        return not others or all(row.cpu_s is not None for row in (mine, *others))

    def _energy_j(self, key: LifeKey) -> float | None:
        with self.store.session() as session:
            found = _life(session, key).energy_j
        return None if found is None else float(found)

    def _lives(self, job_ids: Iterable[int]) -> dict[int, Sequence[Begun]]:
        found: dict[int, list[Begun]] = {}
        wanted = sorted(job_ids)
        with self.store.session() as session:
            for at in range(0, len(wanted), 400):
                for row in session.execute(
                        select(lives.c.label, lives.c.start_s, lives.c.job_id, lives.c.node_list,
                               lives.c.end_s, lives.c.state).where(
                            lives.c.cluster == self.cluster,
                            lives.c.job_id.in_(wanted[at:at + 400]))):
                    found.setdefault(int(row.job_id), []).append(Begun(
                        LifeKey(self.cluster, row.label, int(row.start_s)), int(row.job_id),
                        hosts_of(row.node_list),
                        # Nobody told that end: marks wait for one that accounting tells.
                        math.nan if row.end_s is None or row.state == RUNAWAY
                        else float(row.end_s), gone=row.state == RUNAWAY))
        return dict(found)

    def _begun(self, known: Mapping[int, Sequence[Begun]]) -> dict[Place, float]:
        """Since when lives are on nodes, by marks that were entered before."""
        with self.store.session() as session:
            return {(life.key, node): begin_s for each in known.values() for life in each
                    for node, begin_s, _ in _stays(session, life.key) if begin_s is not None}

    def _say_once(self, what: str, said: str) -> None:
        if what not in self._told:
            self._told.add(what)
            self.remarks.append(said)


def _life(session: Session, key: LifeKey) -> Row[Any]:
    return session.execute(select(lives).where(
        lives.c.cluster == key.cluster, lives.c.label == key.label,
        lives.c.start_s == key.start_s)).one()


def _stays(session: Session, key: LifeKey) -> list[tuple[str, float | None, float | None]]:
    return [(row.node, row.begin_s, row.end_s) for row in session.execute(
        select(stays.c.node, stays.c.begin_s, stays.c.end_s).where(
            stays.c.cluster == key.cluster, stays.c.label == key.label,
            stays.c.start_s == key.start_s))]
