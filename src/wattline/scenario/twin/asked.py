"""What one job of a log asks for and what became of it, before it is put into tables."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace

from wattline.model.local_time import Zone, zone_of
from wattline.site.dependency import Dependency

NEVER_ENDS_S = 1e9
"""Needed by a job that runs into its limit, whatever that is."""
NAN = float("nan")
ELIGIBLE = ("begins no earlier than it became eligible in the log (a begin time, a dependency or a "
            "hold)")
PART_OF_SEVERAL = ("a part of a heterogeneous job, whose parts Slurm starts together; each counts "
                   "alone")
NO_CLOCK = "has a time of day, and the log has none; give seconds from its beginning"
Kind = tuple[str, str]


@dataclass(slots=True)
class AskedJob:
    """Names as the log has them; -1, NaN and empty say that it does not say."""

    job_id: str
    submit_s: float
    run_s: float
    limit_s: float = -1.0
    """inf: without end, so that the longest that its partition allows holds."""
    limit_filled: bool = False
    """Whether a rule made the limit, which then is no longer than the partition allows."""
    min_nodes: int = -1
    max_nodes: int = -1
    node_range: bool = False
    """Whether it says both; it then gets as many as it can, or the fewest (`use_min_nodes`)."""
    use_min_nodes: bool = False
    tasks: int = -1
    tasks_per_node: int = -1
    tasks_per_gpu: int = -1
    cpus_per_task: int = -1
    memory_per_node_mb: int = -1
    memory_per_cpu_mb: int = -1
    cpus_per_gpu: int = -1
    memory_per_gpu_mb: int = -1
    gres_per_node: dict[Kind, int] = field(default_factory=dict)
    gres_per_job: dict[Kind, int] = field(default_factory=dict)
    gres_per_task: dict[Kind, int] = field(default_factory=dict)
    constraint: str = ""
    exclusive: bool = False
    own_user: bool = False
    """Shares nodes with jobs of its user alone."""
    partition: str = ""
    """One or several with commas."""
    qos: str = ""
    account: str = ""
    user: str = ""
    begin_s: float = 0.0
    let_go: bool = False
    """At `begin_s` somebody released it, or a job that it waited for was over."""
    nice: int = 0
    name: str = ""
    dependency: Dependency | None = None
    kill_invalid: bool | None = None
    """Cancelled where its dependency can never be met; None: as the cluster has it."""
    reservation: str = ""
    eligible_s: float = 0.0
    """By the log, of one that waits for others: where these are not all in the log."""
    array: str = ""
    array_limit: int = -1
    licences: dict[str, int] = field(default_factory=dict)
    exclude: str = ""
    require: str = ""
    requeue: bool | None = None
    """None: as the cluster has it."""
    exit_ok: bool = True
    cpu_load: float = 1.0
    power_per_node_w: float = NAN
    unmeasured: str = ""
    """Why a log with measured watts, or joules, has none of this job that count."""
    held: bool = False
    start_s: float = NAN
    """By the log."""
    end_s: float = NAN
    suspended_s: float = 0.0
    nodes: int = -1
    """By the log: how many it had, and which, and how many of their CPUs."""
    node_list: str = ""
    cpus: int = -1
    state: str = ""
    where: str = ""

    @property
    def first_partition(self) -> str:
        return self.partition.partition(",")[0]


@dataclass(frozen=True, slots=True)
class Log:
    """The jobs of a log in order of submission, and what had to be said of it."""

    jobs: list[AskedJob]
    source: str
    unix_start_s: float | None = None
    filled: tuple[str, ...] = ()
    """What the log does not say and a stated rule put there, with how many jobs it is."""
    left_out: tuple[str, ...] = ()
    """Records that are no job of the twin, with how many they are and the first of them."""
    not_modelled: tuple[str, ...] = ()
    has_starts: bool = False
    counted: dict[str, int] = field(default_factory=dict)
    """How many jobs each rule filled something in for."""
    touched: frozenset[str] = frozenset()
    """The jobs that any rule filled something in for."""
    fills: Counter | None = None
    """What `filled` and `counted` are made from."""
    unread: Counter | None = None
    """What `not_modelled` is made from, where it is about jobs."""
    assumed: tuple[str, ...] = ()
    """What is taken for the whole log, and not for single jobs."""
    zone: Zone = field(default_factory=zone_of)
    """Of times without an offset, in the files beside it too."""

    def first(self, most: int) -> Log:
        """With so many of its jobs, and what is said of these; records left out are as they are."""
        jobs = self.jobs[:most]
        ids = {name for job in jobs for name in (job.job_id, job.array,
                                                 job.job_id.partition("/")[0])}
        found = replace(self, jobs=jobs)
        if self.fills is not None:
            fills = self.fills.of(ids)
            found = replace(found, fills=fills, filled=fills.lines(), counted=fills.counts(),
                            touched=fills.ids())
        if self.unread is not None:
            unread = self.unread.of(ids)
            found = replace(found, unread=unread, not_modelled=unread.lines())
        return found


def plain_numbers(jobs: Sequence[AskedJob]) -> list[int] | None:
    """Ids of the jobs as numbers, where all have one of their own."""
    if not all(job.job_id.isdecimal() and len(job.job_id) < 16 for job in jobs):
        return None
    found = [int(job.job_id) for job in jobs]
    return found if len(set(found)) == len(found) else None


class Counter:
    """Jobs by what is to be said of them: how many, and the first few."""

    def __init__(self) -> None:
        self._of: dict[str, list[str]] = {}

    def note(self, what: str, job_id: str) -> None:
        self._of.setdefault(what, []).append(job_id)

    def of(self, ids: Container[str]) -> Counter:
        """What is said of some jobs."""
        found = Counter()
        for what, listed in self._of.items():
            for job_id in listed:
                if job_id in ids:
                    found.note(what, job_id)
        return found

    def lines(self) -> tuple[str, ...]:
        return tuple(
            f"{len(ids):,} job{'' if len(ids) == 1 else 's'}: {what} ("
            f"{', '.join(ids[:5])}{', ...' if len(ids) > 5 else ''})"
            for what, ids in self._of.items())

    def counts(self) -> dict[str, int]:
        return {what: len(ids) for what, ids in self._of.items()}

    def ids(self) -> frozenset[str]:
        return frozenset(job_id for ids in self._of.values() for job_id in ids)
