"""From what Slurm shows at one moment to what the books are told.

The books know what they were told before; Slurm shows what is. The difference is events: jobs that
came, began, ended or vanished, nodes that failed or came back. Looking twice at the same gives
nothing the second time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import attrgetter

from wattline.books import (
    Cancelled,
    Changed,
    Ended,
    NotStarted,
    Started,
)
from wattline.controller.asking import (
    asks_of,
    claims_too_little,
    held_for_us_once,
    limit_s,
    submission,
    suspended_limit_s,
)
from wattline.controller.beginning import BEYOND, UNFIT, Obstacle, Obstacles
from wattline.controller.classes import Classes
from wattline.controller.elsewhere import PartsHere
from wattline.controller.freed import SeesHolds
from wattline.controller.kept_jobs import tell_user
from wattline.controller.naming import AGAIN, key, label_of
from wattline.controller.node_power import NodePower
from wattline.controller.nodes_seen import NodesSeen
from wattline.controller.reserved_jobs import kept_by_reservation
from wattline.controller.rows_seen import RowsSeen
from wattline.controller.told import News, Told
from wattline.controller.unfit import UnfitJobs
from wattline.controller.writings import WrittenOn
from wattline.live.slurm.client import Seen
from wattline.live.slurm.reading import (
    ACTIVE,
    BAD_CONSTRAINTS,
    ENDING,
    NOT_AVAILABLE,
    PARTITION_LIMITS,
    STARTING,
    SUSPENDED,
    WAITING,
    SlurmJob,
)

PATIENCE_S = 5.0
"""So long a released job may still be pending: Slurm starts at its own ticks."""
BACKOFF_S = 5.0
LONGEST_BACKOFF_S = 320.0
"""Slurm may refuse a job for ever, and takes seconds each time in which no cap is kept: each time
it is left alone for twice as long."""
ASIDE = "suspended to keep the cap"
"""In the comment of such a job."""


class Watcher(NodesSeen, WrittenOn, SeesHolds):
    """Keeps what was told of each job and node, and finds what is new."""

    units = "nodes"
    """What the books count."""

    def __init__(
        self, nodes: Sequence[str], partitions: Iterable[str] = (), *,
        watts: Callable[[SlurmJob], float] = lambda job: math.nan, node_w: float = math.nan,
        mark: str = "", decides: bool = True, molds: bool = False, power: NodePower | None = None,
        classes: Classes | None = None,
    ) -> None:
        NodesSeen.__init__(self, nodes, power, watts, node_w)
        WrittenOn.__init__(self)
        SeesHolds.__init__(self)
        self.partitions = set(partitions)
        """Those that are managed; jobs of others are counted once they run. Empty: all."""
        self.mark = mark
        """Word that a comment of ours begins with; jobs without it are others'. Empty: all."""
        self.decides = decides
        """Whether waiting jobs are ours to start at all: in guard mode Slurm starts them."""
        self.knows: Callable[[str], bool] = lambda name: False
        """Whether the books have ever had a job of this name."""
        self.molds = molds
        """Whether the policy chooses how many nodes of a range a job gets; otherwise the least."""
        self.classes = classes
        """Those of nodes, where the policy chooses among them."""
        self.seen: tuple[SlurmJob, ...] = ()
        """All jobs of the last look."""
        self.named: dict[str, str] = {}
        """By label how the books know the jobs of the last look."""
        self.used: set[str] = set()
        """Names under which the books have had a job that was left to Slurm before it began."""
        self.place_of: Callable[[str], tuple[float, int] | None] = lambda name: None
        """Where a job stands, or stood, in the books' queue."""
        self.places: dict[str, tuple[float, int]] = {}
        """By label where jobs stood that may come back under another name."""
        self.unfit = UnfitJobs()
        self.array_limits: dict[str, int] = {}
        """How many tasks of an array may run at once, as Slurm said last."""
        self.obstacles: dict[str, Obstacle] = {}
        """By label what keeps jobs of ours, of which the books have not been told therefore."""
        self.kept_before: dict[str, Obstacle] = {}
        """The same of the look before."""
        self._rows = RowsSeen()
        self._parts = PartsHere(self.number)
        self._failed: set[tuple[str, str]] = set()
        self._obstacles = Obstacles((), math.nan, {}, (), self._failed)
        self.closed: set[str] = set()
        """Partitions in which Slurm starts nothing at present."""
        self._doors_changed = False
        """Whether other partitions are closed than at the look before."""

    def news(self, seen: Seen) -> News:
        """What has happened since the last look."""
        found = News()
        self.seen, self.looked_s, self.reservations = seen.jobs, seen.time_s, seen.reservations
        self._look_at_nodes(seen.nodes)
        jobs = self._name_all(seen.jobs)
        self._see_sharing(seen, self.named)
        self._see_nodes(seen, self.named, found)
        labels, names = set(self.named), set(self.named.values())
        self.used = {name for name in self.used if label_of(name) in labels}
        self.left = {label_of(name) for name in self.used}
        self.written = {label: each for label, each in self.written.items() if label in labels}
        self.freed.only(labels)
        self.places = {label: each for label, each in self.places.items() if label in labels}
        self.unfit.look(labels, seen.time_s)
        self._parts.said &= labels
        self.once.only(labels)
        self._look_for_obstacles(seen, labels)
        for name in [name for name in self.told if name not in names]:
            if self.told[name].label not in labels:  # otherwise it was queued again
                found.remarks.append(f"job {name} is gone, and Slurm does not say how it ended")
            self._over(name, False, found)
        if not self.decides or self._doors_changed:
            jobs = list(seen.jobs)
        elif more := self.once.changed.difference(job.label for job in jobs):
            jobs += [job for job in seen.jobs if job.label in more]
        # Rows of one look are told in the order of submission, which decides ties: squeue has
        # another.
        jobs = list({job.label: job for job in sorted(jobs, key=attrgetter("came"))}.values())
        for job in self._in_order(jobs):
            name = self.named[job.label]
            told = self.told.get(name)
            if told is None:
                self._new(name, job, found)
            elif told.is_other(job):
                self._forgotten(name, job, found)
            else:
                before, told.row = told.row, job
                self._known(name, job, before, seen.time_s, found)
        self._count_others(self.named, found)
        self._rows.look_again(
            job for job in jobs if (told := self.told.get(self.named[job.label])) is None
            or not told.is_settled(job))
        return found

    def _name_all(self, jobs: Sequence[SlurmJob]) -> list[SlurmJob]:
        """Name the jobs of a look; those of them of which there may be something to tell."""
        found, gone = self._rows.look(
            jobs, (told.row for told in self.told.values() if told.in_doubt))
        for label in gone:
            self.named.pop(label, None)
        self.named |= {job.label: self.name(job) for job in found}
        if len(self.named) < len(jobs):  # a label is shown twice: no row is the one of before
            found, self.named = list(jobs), {job.label: self.name(job) for job in jobs}
        return found

    def name(self, job: SlurmJob) -> str:
        """How the books know a life of a job; a name is used once. One that was left to Slurm, or
        whose number Slurm gives again, comes back under another."""
        found = first = key(job)
        count = 0
        while found in self.used or (found not in self.told and self.knows(found)):
            count += 1
            found = f"{first}{AGAIN}{count}"
        return found

    def asked(self, name: str, now_s: float, *, by_slurm: bool = False) -> None:
        """A job was told to start; `by_slurm`: Slurm chooses its nodes, all or some."""
        self.told[name].asked_s = now_s
        self.told[name].running = True
        self.told[name].by_slurm, self.told[name].why_not = by_slurm, ""

    def failed(self, name: str, *, withdraw: bool = True, why: str = "") -> None:
        """It was not started: nobody has to wait for it. `withdraw`: it may have been released.
        `why` is said where it was not Slurm that refused."""
        self.told[name].failed = True
        self.told[name].withdraw, self.told[name].why_not = withdraw, why

    def not_taken(self, name: str, *, running: bool) -> None:
        """The books did not take that it runs; whether they think so all the same."""
        self.told[name].untold, self.told[name].running = True, running

    def comment(self, reason: str) -> str:
        """What is written on a job of ours: it still begins with the mark."""
        return f"{self.mark or 'wattline'}: {reason}"

    def _in_order(self, jobs: Sequence[SlurmJob]) -> Sequence[SlurmJob]:
        """In which jobs are told, of one look."""
        return jobs

    def _held(self, name: str, job: SlurmJob) -> tuple[int, ...]:
        """What a running job holds, as the books count it."""
        return self._numbers(job.node_list)

    def _came_back(self) -> None:
        self.unfit.clear()

    def _look_for_obstacles(self, seen: Seen, labels: set[str]) -> None:
        limits = {**self.array_limits, **seen.array_limits}
        arrays = {job.array for job in seen.jobs} if limits else set()
        self.array_limits = {array: limit for array, limit in limits.items() if array in arrays}
        self._failed = {each for each in self._failed if each[0] in labels}
        self.kept_before, self.obstacles = self.obstacles, {}
        self._doors_changed, self.closed = self._not_up != self.closed, self._not_up
        told = [each.label for each in self.told.values()] if self.array_limits else []
        self._obstacles = Obstacles(seen.jobs, seen.time_s, self.array_limits, told, self._failed,
                                    self.closed)

    def _is_kept(self, job: SlurmJob, found: News) -> bool:
        """Whether something else than nodes and watts keeps a job of ours that is new."""
        obstacle = self.unfit.obstacle(job) or self._obstacles.of_new(job)
        if obstacle is None and self.classes is not None:
            obstacle = self.classes.obstacle(self, self.as_asked(job))
        if obstacle is None and job.reservation:
            obstacle = kept_by_reservation(self, job)
            if obstacle is None and job.held:
                found.reserved.append(job)
                return True
        tell_user(job, obstacle, self.kept_before.get(job.label), found)
        if obstacle is None:
            self._obstacles.tell(job)
            return False
        self.obstacles[job.label] = obstacle
        return True

    def _is_left(self, job: SlurmJob, was_held: bool, found: News) -> bool:
        """Whether a job that waits is not ours to start any more, or not yet: somebody released
        it, holds it, has given it a time or another job to wait for, has moved it to a partition
        of Slurm's, or has taken our mark from it."""
        obstacle = self._obstacles.of(job)
        if obstacle is None and job.reservation:
            return True
        if obstacle is not None:
            self.obstacles[job.label] = obstacle
            tell_user(job, obstacle, None, found, was_told=True)
        return obstacle is not None or (was_held and not job.held) or not self.ours(job)

    def _new(self, name: str, job: SlurmJob, found: News) -> None:
        row, job = job, self._here(name, job, False, found)
        # Not while it ends: what is being requeued shows its next life on the nodes of the last.
        runs = job.state in (*ACTIVE, *STARTING) and bool(job.node_list)
        if not runs and not (job.state in WAITING and self._is_managed(name, job)
                             and not self._is_kept(job, found)):
            if held_for_us_once(self, job):
                found.let_go.append(job)
            self.see_hold(job, self.mark, lambda: self.ours(job))
            return
        self.freed.discard(job.label)
        job = self.as_claimed(job) if runs else self.as_asked(job)
        held = self._held(name, job) if runs else ()
        if runs and not held:
            found.remarks.append(f"job {name} has no CPU that the books do not count already: its "
                                 "watts are not counted")
            return
        submitted = submission(self, name, job, held)
        units, watts = submitted.units, submitted.watts
        less = claims_too_little(job, watts)
        found.remarks.extend([f"job {name}: {less}"] if less else [])
        self.told[name] = Told(
            job.label, units, submitted.requested_s,
            units * self.node_w if math.isnan(watts) else watts,
            held, runs, job.state == SUSPENDED, asks=asks_of(submitted),
            aside=job.state == SUSPENDED and ASIDE in job.admin_comment, row=row)
        self._note(name, job)
        if runs:
            found.applied.append(submitted)
            found.events.append(Started(name, held))
        else:
            found.events.append(submitted)
            if job.restarts and not job.held:
                # A node that fails under a job lets Slurm queue it again, to be started by Slurm.
                found.withdrawn.append(job.label)
                found.remarks.append(f"job {name} was queued again by Slurm: it is held for us")

    def _here(self, name: str, job: SlurmJob, known: bool, found: News) -> SlurmJob:
        """What of a job the books count: its part on our nodes, each of which one job has."""
        return self._parts.of(name, self.once.of(name, job, found), known, found)

    def _is_managed(self, name: str, job: SlurmJob) -> bool:
        """Whether a waiting job is ours to start. One that somebody has released is Slurm's; what
        Slurm has queued again by itself is not, unless this life of it was left to Slurm."""
        queued_again = job.restarts > 0 and AGAIN not in name and not self.only_held
        return self.decides and self.ours(job) and (
            queued_again if not job.held else job.label not in self.freed)

    def ours(self, job: SlurmJob) -> bool:
        """Whether it is in a partition of ours and carries our mark."""
        return job.is_in(self.partitions) and (not self.mark or job.marked(self.mark))

    def _known(
        self, name: str, job: SlurmJob, before: SlurmJob | None, now_s: float, found: News
    ) -> None:
        told, somewhere = self.told[name], bool(job.node_list)
        job = self._here(name, job, True, found)
        if somewhere and not job.node_list:
            self._over(name, job.state == "COMPLETED", found)
            return
        moved = (before is None or before.node_list != job.node_list
                 or job.label in self.once.changed)
        if moved and job.state in (*ACTIVE, *STARTING) and told.is_resized(
                len(job.node_list), self._hosts):
            self._resized(name, job, found)
        elif job.state in (*ACTIVE, *STARTING, *ENDING):
            self._running(name, told, job, found)
        elif job.state in WAITING and not self.decides and not told.running:
            self._leave_to_slurm(name, found)
        elif job.state in WAITING:
            self._waiting(name, job, before is None or before.held, now_s, found)
        else:
            self._over(name, job.state == "COMPLETED", found)

    def _running(self, name: str, told: Told, job: SlurmJob, found: News) -> None:
        told.halt(job.state == SUSPENDED, ASIDE in job.admin_comment)
        resumes = told.running and job.state == SUSPENDED  # asked to go on, and does not yet
        if not resumes and (not told.running or told.untold or not math.isnan(told.asked_s)):
            told.nodes = self._held(name, job)
            found.events.append(Started(name, told.nodes))
            told.running, told.failed, told.untold, told.asked_s = True, False, False, math.nan
        self._limit(name, told, job, found)

    def _resized(self, name: str, job: SlurmJob, found: News) -> None:
        """The job goes on with other nodes, as another: what it leaves is free at once."""
        before = self._hosts(self.told[name].nodes)
        self._over(name, False, found)
        self.used.add(name)
        again = self.named[job.label] = self.name(job)
        found.remarks.append(f"job {name} runs on {len(job.node_list)} nodes and no more on "
                             f"{before}: the books count it as {again}")
        # Watts that we gave it are of the nodes that it had; what it says itself stays.
        self._new(again, replace(job, licenses=self.as_asked(job).licenses), found)

    def _hosts(self, numbers: Sequence[int]) -> int:
        """On how many nodes so many of what the books count are."""
        return len(numbers)

    def _waiting(
        self, name: str, job: SlurmJob, was_held: bool, now_s: float, found: News
    ) -> None:
        told = self.told[name]
        unfit = told.running and job.held and job.reason == BAD_CONSTRAINTS
        if told.running and (told.failed or unfit or now_s - told.asked_s > PATIENCE_S):
            was_held = not told.withdraw  # it was not held for us when it was to be started
            self._take_back(name, told, job, unfit, found)
            never = (UNFIT if unfit and told.by_slurm
                     else BEYOND if job.reason in PARTITION_LIMITS else None)
            if never is not None:
                self._never(name, job, never, found)
                return
        if not told.running and self._is_left(job, was_held, found):
            self._leave_to_slurm(name, found)
            if held_for_us_once(self, job):
                found.let_go.append(job)
            return
        if not told.running and asks_of(submission(self, name, self.as_asked(job))) != told.asks:
            self._asks_otherwise(name, job, found)
            return
        self._limit(name, told, job, found)

    def _asks_otherwise(self, name: str, job: SlurmJob, found: News) -> None:
        """It is withdrawn, and comes under another name with what it asks for now, to its place."""
        self._leave_to_slurm(name, found)
        again = self.named[job.label] = self.name(job)
        self._new(again, job, found)
        if again in self.told:
            found.remarks.append(f"job {name} asks for something else: it is {again} from now on")

    def _take_back(self, name: str, told: Told, job: SlurmJob, unfit: bool, found: News) -> None:
        """A start did not happen: the job waits, and longer each time that Slurm refuses it."""
        waits, why = bool(told.why_not), told.why_not or job.reason
        backoff_s = BACKOFF_S if waits else min(BACKOFF_S * 2 ** told.refusals, LONGEST_BACKOFF_S)
        told.refusals += not waits
        # A node of our choice may be reserved for others, which a look does not always show.
        told.anywhere = told.anywhere or unfit or (not waits and why.startswith(NOT_AVAILABLE))
        found.events.append(NotStarted(name, backoff_s, why))
        if told.withdraw:
            found.withdrawn.append(told.label)
        told.running, told.failed, told.asked_s = False, False, math.nan
        told.withdraw, told.why_not = True, why
        if not waits:
            found.remarks.append(f"job {name} was told to start and did not: {why}")

    def _never(self, name: str, job: SlurmJob, why: Obstacle, found: News) -> None:
        """Slurm would not start what a job asks for if all nodes were free: others go before."""
        self.unfit.add(job, why, self.looked_s)
        self.obstacles[job.label] = why
        found.remarks.append(f"job {job.label} is not decided upon: {why.sentence}")
        found.unmanaged.append((job.label, why.sentence))
        self._leave_to_slurm(name, found)

    def _leave_to_slurm(self, name: str, found: News) -> None:
        """The books wait for it no more: Slurm starts it, and then it is counted."""
        self._keep_place(name)
        label = self.told.pop(name).label
        self._obstacles.forget(label)
        self.used.add(name)
        self.left.add(label)
        found.events.append(Cancelled(name))

    def _forgotten(self, name: str, job: SlurmJob, found: News) -> None:
        """What ran under this name is over; the next look tells of what has it now."""
        row = self.told[name].row
        self._over(name, False, found)
        if row is None or row.submit_s != job.submit_s:  # another job
            self.places.pop(job.label, None)
        self.used.add(name)
        found.remarks.append(f"job {name} is over: Slurm has forgotten that it ran, or has given "
                             "its number again")

    def _limit(self, name: str, told: Told, job: SlurmJob, found: News) -> None:
        # What a policy pauses the books keep the time of themselves.
        asked_s = (limit_s(job) if math.isnan(self.booked_w(name))
                   else suspended_limit_s(job, told.limit_s))
        if job.limit_s > 0 and asked_s != told.limit_s:
            told.limit_s = asked_s
            found.events.append(Changed(name, asked_s))

    def _keep_place(self, name: str) -> None:
        """Where it stands in the queue, for whatever comes of it under another name."""
        place = self.place_of(name)
        if place is not None:
            self.places[self.told[name].label] = place

    def _over(self, name: str, completed: bool, found: News) -> None:
        self._keep_place(name)
        told = self.told.pop(name)
        self._obstacles.forget(told.label)
        # One that began and ended between two looks was only asked to start: its end says both.
        found.events.append(Ended(name, completed) if told.running else Cancelled(name))

    def _note(self, name: str, job: SlurmJob) -> None:
        """A job was told of for the first time."""
