"""What the books have been told of a job, and what one look at Slurm has to tell them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from wattline.books import Event
from wattline.controller.sharing.parts import Share
from wattline.live.slurm.reading import PENDING, RUNNING, WAITING, SlurmJob


@dataclass
class Told:
    """What the books have been told of a job."""

    label: str
    units: int
    limit_s: float
    watts: float = math.nan
    """All of its nodes at full speed, as it says or as nodes usually draw."""
    nodes: tuple[int, ...] = ()
    """Where it runs, or was told to."""
    running: bool = False
    suspended: bool = False
    asked_s: float = math.nan
    """When it was last told to start, and has not been seen to."""
    failed: bool = False
    """It was told to start, and Slurm refused."""
    withdraw: bool = True
    """Whether it is ours to hold again where a start did not happen."""
    refusals: int = 0
    """How often Slurm has refused to start it."""
    by_slurm: bool = False
    """Whether Slurm was to choose its nodes, all or some."""
    anywhere: bool = False
    """Slurm has no way to start it on nodes of our choice: the next are to be Slurm's."""
    why_not: str = ""
    """Why its last start did not happen."""
    untold: bool = False
    """The books did not take that it runs: they are told again."""
    aside: bool = False
    """It was suspended to keep the cap; Slurm keeps that in its comment, over our restarts."""
    resumed: bool = False
    """Somebody let it go on, and the cap has not been seen to have room for it yet."""
    idles: bool = False
    """It is suspended, and the books count the idle power of its nodes alone."""
    slowed: float = 1.0
    """Part of its power that it was counted with when it was suspended, as a policy slows it."""
    beside_w: float = 0.0
    """What of its watts others draw, whose nodes are counted as its own."""
    shares: Mapping[str, Share] = field(default_factory=dict)
    """By node what it holds and draws there, where nodes are shared."""
    asks: tuple[object, ...] = ()
    """What the books were told that it asks for, beside its time limit."""
    row: SlurmJob | None = None
    """As Slurm showed it when it was last told of."""

    @property
    def draws(self) -> bool:
        """Whether it runs, as far as the nodes are concerned: also one that the books did not take,
        such as a job that Slurm has started on the nodes of a suspended one."""
        return (self.running or self.untold) and not self.suspended

    @property
    def in_doubt(self) -> bool:
        """Whether the next look has to show what becomes of it, even by the same row."""
        return (self.suspended or self.failed or self.untold or not math.isnan(self.asked_s))

    def is_settled(self, job: SlurmJob) -> bool:
        """Whether nothing is to tell of it, unless it comes to be in doubt or the row changes."""
        return (job is self.row and job.state == (RUNNING if self.running else PENDING)
                and not self.in_doubt)

    def is_other(self, job: SlurmJob) -> bool:
        """Whether Slurm now means something else by this name. One that was killed forgets its last
        seconds: it gives a number again, and lets wait what it had started."""
        forgot = job.state in WAITING and self.running and math.isnan(self.asked_s)
        return forgot or (self.row is not None and job.submit_s > self.row.submit_s)

    def is_resized(self, nodes: int, hosts: Callable[[Sequence[int]], int]) -> bool:
        """Whether it runs on more or fewer nodes than the books count; `hosts` are those of what
        it holds in the books."""
        if self.running:
            return bool(self.nodes) and hosts(self.nodes) != nodes
        return not self.shares and self.units != nodes

    def halt(self, stopped: bool, aside: bool) -> None:
        """Note whether Slurm shows it suspended, and whether to keep the cap; what was asked to
        start or go on is let go on by nobody else."""
        self.resumed = not stopped and (self.resumed or (
            self.suspended and math.isnan(self.asked_s)))
        self.suspended, self.aside = stopped, stopped and aside

    def resize(self, nodes: tuple[int, ...]) -> None:
        """It gets these nodes, which may be more or fewer than it asked for."""
        if self.units and len(nodes) != self.units:
            self.watts *= len(nodes) / self.units
            self.units = len(nodes)
        self.nodes = nodes


@dataclass(frozen=True)
class News:
    """Events of one look: first what is only applied, then what is decided upon."""

    applied: list[Event] = field(default_factory=list)
    """Submissions of jobs that were seen running at once."""
    events: list[Event] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)
    """Labels of jobs whose start did not happen: they have to be held again."""
    unmanaged: list[tuple[str, str]] = field(default_factory=list)
    """Labels of jobs that are never decided upon, and why: their users have to be told."""
    mended: list[str] = field(default_factory=list)
    """Labels of jobs whose dependency had failed and is another by now: Slurm calls their hold an
    operator's."""
    let_go: list[SlurmJob] = field(default_factory=list)
    """Jobs that were held for us and are in a partition of Slurm's by now."""
    reserved: list[SlurmJob] = field(default_factory=list)
    """Jobs for a reservation of Slurm's that may begin on its nodes, as far as watts let them."""
