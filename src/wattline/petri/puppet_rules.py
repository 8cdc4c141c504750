"""The functions in the inscriptions of the PuPPET net: what a job is, who may start, at what watts.

They are the specification: short, slow, and written to be read. Times are seconds, powers watts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from wattline.model.errors import InputError
from wattline.petri.inscriptions import EMPTY, Several, Timed, each

TOLERANCE = 1e-9
"""Relative tolerance of every comparison with the cap. It is the net's own: the engine, which is
held against the net, has another definition (`model/cap_slack.py`)."""


class Job(NamedTuple):
    """A job as it is submitted. The short names are those of the published model."""

    n: int
    js: int
    """size in nodes"""
    rt: float
    """run time at full frequency"""
    rq: float
    """requested time"""
    jp: float
    """power of the whole job at full frequency"""
    st: float
    """arrival"""

    @property
    def shown(self) -> str:
        return f"job {self.n} ({self.js}n {self.jp:g}W {self.rt:g}s)"


class Waiting(NamedTuple):
    """A job in the wait queue and when it came there."""

    job: Job
    et: float

    @property
    def shown(self) -> str:
        return f"job {self.job.n} since {self.et:g}"


class Active(NamedTuple):
    """A job on its nodes: the seconds of work left at full frequency, counted at time `et`."""

    job: Job
    start: float
    left: float
    et: float
    pf: float
    """relative frequency"""
    still: float
    """until when the last change of frequency has stopped it"""

    @property
    def shown(self) -> str:
        return f"job {self.job.n} at f {self.pf:g}"


class Held(NamedTuple):
    """What the scheduler knows of a running job: its nodes and its end by the requested time."""

    n: int
    js: int
    end: float
    pf: float
    still: float


class Info(NamedTuple):
    """Resources as the scheduler sees them."""

    free: int
    running: tuple[Held, ...]

    @property
    def shown(self) -> str:
        jobs = " ".join(str(held.n) for held in self.running)
        return f"{self.free} free, jobs {jobs or 'none'}"


class Power(NamedTuple):
    """The machine's power: idle nodes, running jobs at full frequency, the frequency that holds."""

    idle: float
    full: float
    f: float
    back: float = 0.0
    """Power to come back after jobs that at the lowest level draw less than their idle nodes."""

    @property
    def shown(self) -> str:
        back = f", {self.back:g} W to come back" if self.back else ""
        return f"idle {self.idle:g} W, jobs {self.full:g} W, f {self.f:g}{back}"


class At(NamedTuple):
    """How far a pass has come: `k` jobs at the front are behind it, the head's reservation."""

    k: int = 0
    shadow: float = float("inf")
    extra: int = 0
    use: int = 0
    """Of the extra nodes, what the job that is being tried would take."""

    def spent(self) -> At:
        """After the job has started."""
        return At(self.k, self.shadow, self.extra - self.use)

    def kept(self) -> At:
        """After the job has not."""
        return At(self.k, self.shadow, self.extra)

    @property
    def shown(self) -> str:
        held = f", reserved at {self.shadow:g}, {self.extra} extra" if self.k else ""
        return f"from {self.k}{held}"


class Pass(NamedTuple):
    """A scheduling pass under way.

    `stage` is "wait" (the wait queue is tried), "take" (its head starts), "scan" (EASY looks for
    a job), "try" (the head of the queue is to be checked), "fits" or "over" (what the check said).
    """

    stage: str
    at: At = At()

    @property
    def shown(self) -> str:
        return f"{self.stage} {self.at.shown}"


class Done(NamedTuple):
    """A finished job."""

    n: int
    start: float
    end: float

    @property
    def shown(self) -> str:
        return f"job {self.n}: {self.start:g} to {self.end:g}"


@dataclass(frozen=True)
class Rules:
    """The parameters of the net, and the functions that need them."""

    nodes: int
    idle_w: float
    """of one node"""
    levels: tuple[float, ...] = (1.0,)
    wait_time_s: float = 30_000.0
    wait_slots: int = 0
    alpha: float = 2.0
    beta: float = 0.5
    core_share: float = 0.65
    latency_s: float = 0.0
    """for so long a change of frequency stops every running job"""
    jobs_only: bool = False
    """whether the cap counts running jobs and leaves idle nodes out"""

    def __post_init__(self) -> None:
        if self.nodes < 1:
            raise InputError(f"nodes is {self.nodes}, must be at least 1")
        if not 0 <= self.idle_w < float("inf"):
            raise InputError(f"idle_w is {self.idle_w}, must be >= 0")
        rising = all(a < b for a, b in zip(self.levels, self.levels[1:], strict=False))
        if not self.levels or not rising or not self.levels[0] > 0 or self.levels[-1] > 1:
            raise InputError(f"levels is {list(self.levels)}, must be increasing, in (0, 1]")
        for name, value in (("wait_time_s", self.wait_time_s), ("wait_slots", self.wait_slots),
                            ("latency_s", self.latency_s)):
            if not 0 <= value < float("inf"):
                raise InputError(f"{name} is {value}, must be >= 0")
        if not 0 <= self.core_share <= 1:
            raise InputError(f"core_share is {self.core_share}, must be in [0, 1]")
        if not 1 <= self.alpha <= 3:
            raise InputError(f"alpha is {self.alpha}, must be in [1, 3]")
        if not 0 <= self.beta <= 2:
            raise InputError(f"beta is {self.beta}, must be in [0, 2]")

    # Power

    def share(self, f: float) -> float:
        """Power of a job at frequency f, relative to full frequency."""
        return self.core_share * math.pow(f, self.alpha) + 1.0 - self.core_share

    def rate(self, f: float) -> float:
        """Work done a second at frequency f."""
        return math.pow(f, self.beta)

    def watts(self, p: Power, f: float | None = None) -> float:
        return p.idle + p.full * self.share(p.f if f is None else f)

    def counted(self, p: Power, f: float | None = None) -> float:
        """What is held against the cap."""
        return self.watts(p, f) - (p.idle if self.jobs_only else 0.0)

    def with_job(self, p: Power, job: Job) -> Power:
        return Power(p.idle - job.js * self.idle_w, p.full + job.jp, p.f, p.back + self.back(job))

    def without_job(self, p: Power, job: Job) -> Power:
        return Power(p.idle + job.js * self.idle_w, p.full - job.jp, p.f, p.back - self.back(job))

    def back(self, job: Job) -> float:
        """By how much power rises when a job ends that draws less than its nodes do idle."""
        return max(job.js * self.idle_w - job.jp * self.share(self.levels[0]), 0.0)

    def fits(self, p: Power, job: Job, cap: float) -> bool:
        """Say whether the machine could stay within the cap with this job, at the lowest level, and
        with idle nodes after any of its jobs."""
        then = self.with_job(p, job)
        back = 0.0 if self.jobs_only else then.back
        return self.within(self.counted(then, self.levels[0]) + back, cap)

    def possible(self, job: Job, highest_cap: float) -> bool:
        """Whether a job could ever start: alone on an idle machine, under the highest cap."""
        idle = Power(self.nodes * self.idle_w, 0.0, 1.0)
        return self.fits(idle, job, highest_cap)

    def judge(self, p: Power, job: Job, cap: float) -> str:
        return "fits" if self.fits(p, job, cap) else "over"

    @staticmethod
    def within(watts: float, cap: float) -> bool:
        return watts <= cap * (1.0 + TOLERANCE)

    def level(self, p: Power, cap: float) -> float:
        """The highest level within the cap, or the lowest of all."""
        for f in reversed(self.levels):
            if self.within(self.counted(p, f), cap):
                return f
        return self.levels[0]

    # Who is next

    @staticmethod
    def fcfs(jobs: tuple[Job, ...]) -> tuple[Job, ...]:
        return tuple(sorted(jobs, key=lambda job: job.n))

    @staticmethod
    def wfp(jobs: tuple[Job, ...], now: float) -> tuple[Job, ...]:
        def key(job: Job) -> tuple[float, int]:
            waited = (now - job.st) / job.rq
            return -job.js * (waited * waited * waited), job.n

        return tuple(sorted(jobs, key=key))

    def backfill(self, jobs: tuple[Job, ...], at: At, info: Info, f: float,
                 now: float) -> tuple[tuple[Job, ...], Pass | Several]:
        """EASY: bring the next job that may start by nodes and time to the head of the queue.

        Without one the queue stays as it is and the pass is over (no token).
        """
        if at.k == 0 and jobs:
            if jobs[0].js <= info.free:
                return jobs, Pass("try", at)
            at = At(1, *self.reservation(jobs[0], info, now))
        for k in range(at.k, len(jobs)):
            job = jobs[k]
            if job.js > info.free:
                continue
            in_time = now + job.rq / self.rate(f) <= at.shadow
            if in_time or job.js <= at.extra:
                queue = (job, *jobs[:k], *jobs[k + 1 :])
                return queue, Pass("try", at._replace(k=k, use=0 if in_time else job.js))
        return jobs, EMPTY

    def reservation(self, head: Job, info: Info, now: float) -> tuple[float, int]:
        """When, by the requested times, enough nodes are free for the head; how many more then."""
        free = info.free
        # A job past its requested time may end at any moment.
        ends = sorted((max(now, held.end), held.js) for held in info.running)
        for end, js in ends:
            free += js
            if free >= head.js:
                # Those that end at the same time leave their nodes, too.
                free = info.free + sum(size for time, size in ends if time <= end)
                return end, free - head.js
        raise InputError(f"job {head.n} needs {head.js} nodes, more than the machine has")

    def pow_allocate(self, ws: tuple[Waiting, ...], at: At, room: tuple[Power, float, Info],
                     now: float) -> tuple[tuple[Waiting, ...], Pass | Several]:
        """Bring the next job of the wait queue that fits to its head.

        One that has waited too long and does not fit blocks all others: the pass is over. When
        all have been tried, the pass goes on to the queue.
        """
        p, cap, info = room
        for i in range(at.k, len(ws)):
            job = ws[i].job
            if job.js <= info.free and self.fits(p, job, cap):
                return (ws[i], *ws[:i], *ws[i + 1 :]), Pass("take", At(i))
            if self.overdue(ws[i], now):
                return ws, EMPTY
        return ws, Pass("scan")

    def overdue(self, w: Waiting, now: float) -> bool:
        return now > w.et + self.wait_time_s

    # Running

    def begin(self, job: Job, p: Power, now: float) -> Timed:
        """The job on its nodes; the token is ready when the job ends."""
        return Timed(Active(job, now, job.rt, now, p.f, now), now + job.rt / self.rate(p.f))

    def know(self, info: Info, job: Job, p: Power, now: float) -> Info:
        held = Held(job.n, job.js, now + job.rq / self.rate(p.f), p.f, now)
        return Info(info.free - job.js, (*info.running, held))

    @staticmethod
    def forget(info: Info, job: Job) -> Info:
        return Info(info.free + job.js, tuple(h for h in info.running if h.n != job.n))

    def update(self, jobs: tuple[Active, ...], f: float, d: float, now: float) -> Several:
        """All running jobs at another frequency from now on: new work left, new ends.

        They stand still for d seconds first. One that stands still from a change before this one
        begins anew: it works again d seconds from now.
        """
        return each(self._rescaled(job, f, d, now) for job in jobs)

    def _rescaled(self, run: Active, f: float, d: float, now: float) -> Timed:
        worked = max(0.0, now - max(run.et, run.still))
        left = max(0.0, run.left - worked * self.rate(run.pf))
        again = now + d
        return Timed(run._replace(left=left, et=now, pf=f, still=again),
                     again + left / self.rate(f))

    def update_info(self, info: Info, f: float, d: float, now: float) -> Info:
        """What is left of the requested times is stretched like the work that is left."""
        return info._replace(running=tuple(
            held._replace(end=self._later(held, f, d, now), pf=f, still=now + d)
            for held in info.running))

    def _later(self, held: Held, f: float, d: float, now: float) -> float:
        if held.end <= now:
            return held.end
        left = held.end - max(now, held.still)
        return now + left * self.rate(held.pf) / self.rate(f) + d


def declarations(rules: Rules, order: str, highest_cap: float) -> dict[str, Any]:
    """The names that the inscriptions use."""
    return {
        "WFP": rules.wfp, "FCFS": rules.fcfs, "Backfill": rules.backfill,
        "PowAllocate": rules.pow_allocate, "Update": rules.update, "UpdateInfo": rules.update_info,
        "Judge": rules.judge, "Level": rules.level, "Possible": rules.possible,
        "Join": rules.with_job, "Leave": rules.without_job, "Begin": rules.begin,
        "Know": rules.know, "Forget": rules.forget, "Pass": Pass, "Waiting": Waiting, "Done": Done,
        "order": order, "highest": highest_cap, "w": rules.wait_time_s, "l": rules.wait_slots,
        "d": rules.latency_s,
    }
