"""Held jobs started on shared nodes, as the twin decides; what does not start is held again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.controller.beginning import Obstacle, Obstacles
from wattline.controller.elsewhere import part_here
from wattline.controller.kept_jobs import tell_user, tell_users
from wattline.controller.lease import ours_and_held
from wattline.controller.passing import let_go
from wattline.controller.reserved_jobs import coming_w as reserved_w
from wattline.controller.reserved_jobs import kept_by_reservation, let_in
from wattline.controller.sharing.deciding import DECISIONS, Decisions, SharedStart, decided
from wattline.controller.sharing.picture import Picture, PicturedJob, memory_unread, pictured
from wattline.controller.sharing.watching import SharedWatcher
from wattline.controller.told import News
from wattline.controller.watching import BACKOFF_S, PATIENCE_S
from wattline.controller.where import but, of_partition
from wattline.controller.writings import written
from wattline.live.slurm.client import NotHeldForUs
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.holding import devices_of
from wattline.live.slurm.reading import (
    ACTIVE,
    ENDING,
    NOT_AVAILABLE,
    STARTING,
    WAITING,
    WATTS,
    SlurmJob,
)
from wattline.live.slurm.wishes import Wish
from wattline.model.errors import InputError
from wattline.model.units import counted
from wattline.scenario.twin.section import TwinSection

if TYPE_CHECKING:
    from wattline.controller.configuration import SiteConfig
    from wattline.controller.controller import Controller, Cycle

AGAIN_S = 30.0
"""Priorities change by themselves: so often it is decided anew while nothing happens."""


@dataclass
class SharedStarter:
    """Listens to the cycles of a controller, and starts what the twin would."""

    controller: Controller
    site: SiteConfig
    section: TwinSection
    cap_w: Callable[[], float]
    asked: dict[str, tuple[float, SharedStart]] = field(default_factory=dict)
    """Jobs that were told to start and have not been seen to: since when, and where."""
    not_before_s: dict[str, float] = field(default_factory=dict)
    last: Picture | None = None
    _came_s: dict[str, float] = field(default_factory=dict)
    """By label when jobs were first submitted: of what is queued again Slurm says when that was."""
    _had: set[str] = field(default_factory=set)
    """Labels of jobs that have waited for us."""
    _may_begin: set[str] = field(default_factory=set)
    """Labels of the jobs of the last look that are ours to start."""
    _kept_from: dict[str, frozenset[str]] = field(default_factory=dict)
    """By label nodes that Slurm's reservations have or will have before a job would end."""
    _anywhere: set[str] = field(default_factory=set)
    """Labels of jobs that Slurm did not start on nodes of our choice: it chooses the next."""
    _seen: object = None
    _due_s: float = -math.inf
    _said: set[str] = field(default_factory=set)
    _failed: set[tuple[str, str]] = field(default_factory=set)
    """What of jobs' dependencies was seen to fail."""

    def __post_init__(self) -> None:
        self.watcher.starting = lambda label: label in self.asked

    def __call__(self, cycle: Cycle) -> None:
        if not cycle.looked:
            return
        seen = {job.label: job for job in self.watcher.seen}
        self._confirm(seen, cycle.time_s)
        running = [job for job in seen.values()
                   if job.state in (*ACTIVE, *STARTING, *ENDING) and job.node_list]
        self._came_s = {label: self._came_s.get(label, job.submit_s) if job.restarts
                        else job.submit_s for label, job in seen.items()}
        self._let_go(seen)
        self._kept_from = {}
        reserved: list[SlurmJob] = []
        eligible = list(self._eligible(seen, running, reserved))
        self._let_in(reserved)
        self._may_begin = {job.label for job in eligible}
        waiting = [job for job in eligible
                   if cycle.time_s >= self.not_before_s.get(job.label, -math.inf)]
        now = (frozenset((job.label, self._asks(job)) for job in waiting),
               frozenset(job.label for job in running),
               frozenset(self.asked), self.cap_w(), frozenset(self.watcher.down),
               frozenset(self._kept_from.items()))
        if not waiting or (now == self._seen and cycle.time_s < self._due_s):
            return
        self._seen, self._due_s = now, cycle.time_s + AGAIN_S
        try:
            self._decide(seen, running, waiting, cycle.time_s)
        except (SlurmError, InputError) as error:
            self.controller.notes.append(f"nothing is started: {error}")

    def _eligible(
        self, seen: Mapping[str, SlurmJob], running: Iterable[SlurmJob], reserved: list[SlurmJob]
    ) -> Iterator[SlurmJob]:
        """Held jobs of ours that may begin; of the others the watcher knows what keeps them.

        Those that may begin on the nodes of a reservation, by Slurm's choice, go to `reserved`.
        """
        keeps = Obstacles(self.watcher.seen, self.watcher.looked_s, self.watcher.array_limits,
                          (*(job.label for job in running), *self.asked), self._failed,
                          self.watcher.closed)
        held = (job for job in seen.values()
                if job.held and self.watcher.ours(job) and job.label not in self.watcher.freed)
        news = News()
        for job in sorted(held, key=lambda job: (self._came_s[job.label], job.came[1])):
            obstacle = keeps.of_new(job) or self._reservations(job)
            tell_user(job, obstacle, self.watcher.kept_before.get(job.label), news)
            if obstacle is None:
                keeps.tell(job)
                if job.reservation:
                    reserved.append(job)
                else:
                    yield job
                continue
            self.watcher.obstacles[job.label] = obstacle
        self.controller.notes += [*news.remarks, *tell_users(self.controller, news)]

    def _reservations(self, job: SlurmJob) -> Obstacle | None:
        """What of Slurm's reservations keeps a job: its own one, or nodes that others have or will
        have before it would end."""
        if job.reservation:
            return kept_by_reservation(self.watcher, job)
        allowed = of_partition(self.watcher, job.partition)
        kept = allowed & self.watcher.numbers_of(self.watcher.kept_from(job))
        if not kept:
            return None
        self._kept_from[job.label] = frozenset(self.watcher.names[number] for number in kept)
        if len(allowed - kept) >= job.nodes:
            return None
        return Obstacle("reservation", f"it asks for {counted(job.nodes, 'node')} of the partition "
                        f"{job.partition}, of which {len(allowed - kept):,} are left{but(kept)}")

    def _let_in(self, reserved: list[SlurmJob]) -> None:
        coming_w = sum(start.watts for _, start in self.asked.values())
        self.controller.notes += let_in(
            self.controller, reserved, self.cap_w() - self.controller.books.power_w - coming_w)

    def _let_go(self, seen: Mapping[str, SlurmJob]) -> None:
        """Release what waited for us until it was moved to a partition of Slurm's."""
        moved = [seen[label] for label in sorted(self._had & seen.keys())
                 if not seen[label].is_in(self.site.partitions)]
        self.controller.notes += let_go(self.controller, [
            job for job in moved if job.held and not job.held_by_operator
            and (not self.site.mark or job.marked(self.site.mark))])
        self._had = {job.label for job in seen.values() if ours_and_held(self.site, job)} | {
            job.label for job in moved if job.held}

    def prepare(self) -> None:
        """Decide once about an invented job, which compiles what a large machine needs: in the
        middle of a cycle that would cost the lease."""
        job = PicturedJob("0", 0.0, 60.0, 1, 1, 1, "", "nobody", "nobody", wish=asdict(Wish()))
        decided(self.section, Picture(1.0, self.cap_w(), 0.0, (), (job,)), self.site.node_names)

    @property
    def watcher(self) -> SharedWatcher:
        assert isinstance(self.controller.watcher, SharedWatcher)
        return self.controller.watcher

    def why(self, label: str) -> str:
        """Why a held job waits: by the last picture, with the cap and without it."""
        if label not in self._may_begin:
            return ""
        if self.watcher.looked_s < self.not_before_s.get(label, -math.inf):
            return "back-off"
        if self.last is None or label not in {job.label for job in self.last.jobs}:
            return "next"
        free = Picture(self.last.time_s, math.inf, 0.0, self.last.down, self.last.jobs)
        found = decided(self.section, free, self.site.node_names)
        if any(each.label == label for each in found.starts):
            return "watts"
        if label in self._kept_from:  # the twin lacks what reservations have for a time
            return "reservation"
        return "refused" if any(_names(line, label) for line in found.unfit) else "nodes"

    def _decide(self, seen: Mapping[str, SlurmJob], running: list[SlurmJob],
                waiting: list[SlurmJob], now_s: float) -> None:
        wishes = self.controller.slurm.wishes()
        jobs = [self._running(job, wishes.get(job.label, Wish())) for job in running
                if not self.watcher.parts.nodes.keys().isdisjoint(job.node_list)]
        jobs += [self._running(seen[label], wishes.get(label, Wish()), start, at_s)
                 for label, (at_s, start) in self.asked.items() if label in seen]
        jobs += [pictured(replace(self.watcher.as_asked(job), submit_s=self._came_s[job.label]),
                          replace(wishes[job.label], dependency=""), {}, 0.0, self._load(job),
                          self._kept_from.get(job.label, ()))
                 for job in waiting if job.label in wishes]
        coming_w = sum(start.watts for _, start in self.asked.values()) + reserved_w(self.watcher)
        self.last = Picture(now_s, self.cap_w(), self.controller.books.power_w + coming_w,
                            tuple(sorted(self.watcher.down | self.watcher.off)), tuple(jobs))
        found = decided(self.section, self.last, self.site.node_names)
        self._say_once(f"the twin cannot run {line}" for line in found.unfit
                       if not any(_names(line, label) for label in self._kept_from))
        self._say_once(f"the memory of job {job.label} cannot be read and counts as none: {text!r}"
                       for job in jobs if (text := memory_unread(job)))
        if found.starts and self.controller.act:
            Decisions(Path(self.site.folder) / DECISIONS,
                      1e6 * self.site.journal_mb).write(self.last, found.starts)
        if self.controller.act:
            self._write(seen, found.starts)
        for start in found.starts:
            self._start(seen[start.label], start, now_s)

    def _asks(self, job: SlurmJob) -> tuple[object, ...]:
        """What it would be decided anew about, if its user changed it."""
        asked = self.watcher.as_asked(job)
        return (*asked.asks, tuple(sorted(asked.licenses.items())), asked.limit_s, asked.account)

    def _write(self, seen: Mapping[str, SlurmJob], starts: Iterable[SharedStart]) -> None:
        """Note what will be on jobs that are about to start, before the first of them does."""
        mine = self.watcher.written
        for start in starts:
            job = seen[start.label]
            by_slurm = bool(self._wishes(job))
            mine[job.label] = written(job, mine.get(job.label), () if by_slurm else start.nodes,
                                      len(start.nodes), self._licence(job, start))
        if starts:
            self.controller.hands.keep_written(mine)

    def _licence(self, job: SlurmJob, start: SharedStart) -> int | None:
        """The watts that a job gets as licences; None: it has some, or the site has none."""
        wanted = self.site.licences and WATTS not in job.licenses
        return math.ceil(start.watts - 1e-9) if wanted else None

    def _say_once(self, lines: Iterable[str]) -> None:
        for line in lines:
            if line not in self._said:
                self._said.add(line)
                self.controller.notes.append(line)

    def _running(self, job: SlurmJob, wish: Wish, start: SharedStart | None = None,
                 at_s: float = math.nan) -> PicturedJob:
        """One that has its nodes, or was told to start on some."""
        if start is not None:
            return pictured(job, wish, dict(zip(start.nodes, start.cpus, strict=True)), at_s,
                            self._load(job))
        told = [each for each in self.watcher.told.values() if each.label == job.label]
        held = ({host: share.cpus for host, share in told[-1].shares.items()} if told
                else dict.fromkeys(part_here(job, self.watcher.parts.nodes).node_list, 1))
        return pictured(job, wish, held, job.start_s, self._load(job))

    def _load(self, job: SlurmJob) -> float:
        """So that CPUs and devices together draw what the job says, where it says something."""
        said_w, parts = job.licenses.get(WATTS), self.watcher.parts
        full_w = parts.asked_w(job.cpus, {})
        if said_w is None or full_w <= 0.0:
            return 1.0
        return max(said_w - parts.asked_w(0, devices_of(job.tres)), 0.0) / full_w

    def _start(self, job: SlurmJob, start: SharedStart, now_s: float) -> None:
        words = f"start {start.label} on {','.join(start.nodes)}, {start.watts:.0f} W"
        if not self.controller.act:
            self.controller.notes.append(f"would {words}")
            return
        self.asked[start.label] = (now_s, start)
        wishes: dict[str, Any] = self._wishes(job)
        try:
            self.controller.slurm.start(start.label, start.nodes, as_seen=job, **wishes,
                                        licence=self._licence(job, start))
        except SlurmError as error:
            self._fail(start.label, now_s, withdraw=not isinstance(error, NotHeldForUs))
            self.controller.notes.append(f"job {start.label} could not be started: {error}")
            return
        self.controller.notes.append(words)

    def _wishes(self, job: SlurmJob) -> dict[str, bool]:
        """Who names the nodes of a start, where it is not we."""
        if self.watcher.as_asked(job).required_nodes:
            return {"own": True}
        return {"anywhere": True} if job.label in self._anywhere else {}

    def _confirm(self, seen: Mapping[str, SlurmJob], now_s: float) -> None:
        """Who runs by now, and who did not start in time."""
        self._anywhere &= seen.keys()
        for label, (asked_s, _) in list(self.asked.items()):
            job = seen.get(label)
            if job is None or job.state not in WAITING:
                del self.asked[label]
            elif now_s - asked_s > PATIENCE_S:
                self._fail(label, now_s, withdraw=True)
                # A node of our choice may be reserved for others, which a look does not always
                # show.
                self._anywhere |= {label} if job.reason.startswith(NOT_AVAILABLE) else set()
                self.controller.notes.append(f"job {label} was told to start and did not: "
                                             f"{job.reason}")

    def _fail(self, label: str, now_s: float, *, withdraw: bool) -> None:
        self.asked.pop(label, None)
        self.not_before_s[label] = now_s + BACKOFF_S
        self._seen = None  # it is decided anew once it may be tried again
        try:
            if withdraw:
                self.watcher.freed.take_back([label])
                self.controller.slurm.withdraw(label)
        except SlurmError as error:  # it may have begun or gone: the next look will tell
            self.controller.notes.append(str(error))


def _names(line: str, label: str) -> bool:
    """Whether a line of jobs that the twin cannot run has this one."""
    return f"({label}" in line or f" {label}," in line or f" {label})" in line
