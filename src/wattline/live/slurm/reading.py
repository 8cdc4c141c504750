"""What Slurm says of its jobs and nodes, from columns that are the same in every version."""

from __future__ import annotations

import math
import re
import secrets
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal

from wattline.live.slurm.commands import SlurmError
from wattline.model.units import parse_hosts

SEPARATOR = "\x1f"
"""Between columns of which users write none."""
JOB_COLUMNS = (
    "JobArrayID", "JobID", "RestartCnt", "State", "NumNodes", "NumCPUs", "TimeLimit", "StartTime",
    "EndTime", "SubmitTime", "Partition", "UserName", "Account", "NodeList", "Reason", "Nice",
    "PriorityLong", "Licenses", "ReqNodes", "Name", "Comment",
    "admin_comment", "MaxNodes", "tres-alloc", "Dependency", "EligibleTime", "Feature",
    "Reservation",
)
NODE_COLUMNS = ("NodeList", "StateComplete", "CPUs", "Partition", "Available")
NODE_FORMAT = ",".join(f"{name}:{SEPARATOR}" for name in NODE_COLUMNS)

PENDING, RUNNING, SUSPENDED = "PENDING", "RUNNING", "SUSPENDED"
ACTIVE = (RUNNING, SUSPENDED, "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING")
"""States in which a job has its nodes and has not ended."""
STARTING = ("CONFIGURING",)
ENDING = ("COMPLETING",)
WAITING = (PENDING, "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD")
NOT_AVAILABLE = "ReqNodeNotAvail"
"""Why a job waits of which a node that it names is reserved or away; more words may follow."""
BAD_CONSTRAINTS = "BadConstraints"
"""Why a job waits for which Slurm has no nodes, whoever else runs: Slurm holds it from then on."""
PARTITION_LIMITS = ("PartitionTimeLimit", "PartitionNodeLimit")
"""Why a job waits that asks for more than its partition gives to any job."""
HELD_BY_OPERATOR = "JobHeldAdmin"
PUT_BACK = "queued again to keep the cap"
"""In the admin comment of a job that we queued again held, with the life that it then has."""
NEVER_BEGINS = "a job that it waits for has ended otherwise"
"""In the admin comment of a held job whose dependency has failed: within a minute Slurm calls its
hold an operator's, and goes on to do so once the dependency is taken away."""
UNLIMITED_S = math.inf
WATTS = "watts"
"""The licences by which a job says what it draws."""


@dataclass(frozen=True)
class SlurmJob:
    """A job as Slurm shows it at one moment; times are Unix seconds in whole numbers."""

    label: str
    """As Slurm prints it: `4711`, `300_1`, `12+0`."""
    job_id: int
    restarts: int
    state: str
    nodes: int
    cpus: int
    limit_s: float
    start_s: float
    """NaN where it is not known. Of a pending job, when Slurm thinks that it will start."""
    end_s: float
    submit_s: float
    partition: str = ""
    user: str = ""
    account: str = ""
    node_list: tuple[str, ...] = ()
    reason: str = ""
    nice: int = 0
    priority: int = 0
    licenses: Mapping[str, int] = field(default_factory=dict)
    required_nodes: tuple[str, ...] = ()
    name: str = ""
    comment: str = ""
    admin_comment: str = ""
    """What operators and the site's own plugins write; a user cannot."""
    most_nodes: int = 0
    """Of a range (`-N 2-4`, whose least is `nodes`) the most; 0: as many as `nodes`."""
    tres: str = ""
    """What it has of all its nodes, or asks for: `cpu=4,mem=8G,node=1,gres/gpu=2`."""
    dependency: str = ""
    """What is left of it by Slurm, which does not look at that of a held job."""
    eligible_s: float = math.nan
    """Before this it must not begin; NaN where nobody said so."""
    features: str = ""
    """Of nodes that it may have (`--constraint`)."""
    reservation: str = ""
    """Whose nodes it asks for; several names (`a,b`): of any of them."""
    cpu_freq: str = ""
    """Frequencies that it allows (`--cpu-freq`), as a user writes them."""

    @property
    def array(self) -> str:
        """The array that it is a task of; empty where it is none."""
        array, task, _ = self.label.partition("_")
        return array if task else ""

    @property
    def held(self) -> bool:
        """By its priority: the reason may still say so of a job that was released."""
        return self.state in WAITING and self.priority == 0

    @property
    def held_by_operator(self) -> bool:
        """`scontrol hold` of an operator; one submitted held, or held by `uhold`, is not, nor is
        one that only Slurm calls so. What was queued again held is an operator's too."""
        return self.held and (self.queued_again_held or (
            self.reason == HELD_BY_OPERATOR and NEVER_BEGINS not in self.admin_comment))

    @property
    def queued_again_held(self) -> bool:
        """`scontrol requeuehold`, or Slurm itself by an exit code (`job requeued in held state`),
        and not by us. After a failed launch (`launch failed requeued held`), which may be a node
        that was lost, nobody asked for the hold: the job is started again, on other nodes."""
        said = self.reason.replace("_", " ")
        return (self.held and "requeued" in said and "held" in said
                and not said.startswith("launch failed")
                and put_back(self.restarts) not in self.admin_comment)

    @property
    def asks(self) -> tuple[object, ...]:
        """What it asks for, as far as a look shows it: a user may change it."""
        return (self.nodes, self.most_nodes, self.cpus, self.partition, self.required_nodes,
                self.tres, self.features, self.limit_s, self.reservation)

    def asks_otherwise(self, before: SlurmJob) -> list[str]:
        """What it asks for otherwise than at an earlier look. When what was queued again may begin
        is Slurm's to say, and ours."""
        found = [words for name, words in REQUESTS.items()
                 if getattr(self, name) != getattr(before, name)]
        begins = self.eligible_s != before.eligible_s and not (
            math.isnan(self.eligible_s) and math.isnan(before.eligible_s))
        return [*found, "begin time"] if begins and not self.restarts else found

    def is_in(self, partitions: Collection[str]) -> bool:
        """Whether it can start in these partitions alone (`-p a,b` names several); none: any."""
        return not partitions or all(name in partitions for name in self.partition.split(","))

    def marked(self, mark: str) -> bool:
        """Whether one of its comments begins with this word."""
        return any(said.split(maxsplit=1)[:1] in ([mark], [f"{mark}:"])
                   for said in (self.admin_comment, self.comment))

    @property
    def key(self) -> tuple[str, int]:
        """A life of a job: one that was requeued is another."""
        return self.label, self.restarts

    @property
    def came(self) -> tuple[float, tuple[int, ...]]:
        """By when it was submitted, then by its number: Slurm's times are whole seconds."""
        return self.submit_s, _numbers(self.label)


@lru_cache(maxsize=100_000)
def _numbers(label: str) -> tuple[int, ...]:
    """Kept here: with something cached in it, a job is three times as slow to look at in Python."""
    return tuple(int(number) for number in re.findall(r"[0-9]+", label))


def put_back(restarts: int) -> str:
    """What is written on a job that we queue again held, of the life that it has from then on."""
    return f"{PUT_BACK} (life {restarts})"


REQUESTS = {
    "nodes": "nodes", "most_nodes": "nodes at most", "cpus": "CPUs", "limit_s": "time limit",
    "partition": "partition", "account": "account", "licenses": "licences",
    "required_nodes": "nodes by name", "name": "job name", "comment": "comment",
    "tres": "resources", "features": "features", "dependency": "dependency",
    "reservation": "reservation"}
"""What a user may change of a job that waits, as far as a look shows it, beside when it begins."""


@dataclass(frozen=True)
class SlurmNode:
    """A node as Slurm shows it."""

    name: str
    states: tuple[str, ...]
    """All that holds at once, in lower case: `mixed`, `drain`, `powered_down`..."""
    cpus: int
    partitions: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    """Those of them in which Slurm starts nothing at present."""

    @property
    def usable(self) -> bool:
        """Whether a job can be started on it, now or once another has ended there."""
        return UNUSABLE.isdisjoint(self.states)

    def is_like(self, before: SlurmNode) -> bool:
        """Whether all is as before but what runs on it, of a node that takes jobs."""
        return (self.usable and before.usable and self.name == before.name
                and self.partitions == before.partitions and self.closed == before.closed
                and self.power == before.power)

    @property
    def power(self) -> NodePowerState:
        """State of the node in Slurm's power saving."""
        if "powering_up" in self.states:
            return "booting"
        if "powered_down" in self.states:  # with a job it is about to boot
            return "off" if BUSY.isdisjoint(self.states) else "booting"
        if HALTING.isdisjoint(self.states):
            return "on"
        return "halting"

    @property
    def rests(self) -> bool:
        """Whether it has no job and is not known to be without power."""
        return NOT_RESTING.isdisjoint(self.states)

    @property
    def in_order(self) -> bool:
        """True where a job could be started on it once it is switched on: one that boots does not
        respond yet."""
        unusable = UNUSABLE - {"not_responding"} if self.power == "booting" else UNUSABLE
        return unusable.isdisjoint(self.states)

    @property
    def lost(self) -> bool:
        """Whether Slurm does not reach it, or was told that it is down."""
        return not LOST.isdisjoint(self.states)


NodePowerState = Literal["on", "off", "booting", "halting"]
"""`idle`, `idle~`, `idle#`, and `idle%` or `idle!`; of each with a job on it too."""
FLAG_SIGNS = {"*": "not_responding", "~": "powered_down", "#": "powering_up",
              "%": "powering_down", "!": "power_down"}
"""Signs behind a state, for flags that other versions and JSON write in words."""


@lru_cache(maxsize=10_000)
def node_states(said: str) -> tuple[str, ...]:
    """The base state of a node and its flags: of `idle~`, `IDLE+POWERED_DOWN` the same.

    >>> node_states("idle~") == node_states("IDLE+POWERED_DOWN")
    True
    """
    words = said.strip().lower()
    for sign, flag in FLAG_SIGNS.items():
        words = words.replace(sign, f"+{flag}")
    return tuple(sorted(set(words.split("+"))))


CLOSED = ("down", "inact")
"""How sinfo says it of a partition; one that drains starts what waits."""
LOST = frozenset({"down", "not_responding", "powered_down"})
UNUSABLE = frozenset({
    "down", "drain", "drained", "draining", "fail", "failing", "maint", "reserved", "future",
    "unknown", "invalid_reg", "not_responding", "reboot_issued", "error"})
BUSY = frozenset({"allocated", "mixed", "completing"})
HALTING = frozenset({"powering_down", "power_down"})
"""It shuts down, or will once its job has ended; Slurm starts nothing there."""
WITHOUT_POWER = frozenset({"powered_down", *HALTING, "future"})
NOT_RESTING = BUSY | WITHOUT_POWER


def fresh_separator() -> str:
    """Between columns that users write: a name or comment may hold any separator that is known."""
    return f"{SEPARATOR}{secrets.token_hex(4)}{SEPARATOR}"


def job_format(separator: str) -> str:
    """The columns of jobs for `squeue -O`."""
    return ",".join(f"{name}:{separator}" for name in JOB_COLUMNS)


def read_jobs(text: str, separator: str) -> list[SlurmJob]:
    """The jobs that `squeue -O` prints with the format of this separator."""
    return [_job(cells) for cells in rows_of(text, len(JOB_COLUMNS), "squeue", separator)]


class JobReader:
    """Reads look after look: a row that is printed as before is the job that it was before.

    Of thousands of jobs a few change between two looks. Rows are compared with a separator of the
    reader's own in them, which no command shows: nobody can write it into a cell.
    """

    def __init__(self) -> None:
        self._own = fresh_separator()
        self._known: dict[str, SlurmJob] = {}

    def read(self, text: str, separator: str) -> list[SlurmJob]:
        """As `read_jobs` does."""
        # Row by row: in a text of megabytes Python takes twice as long to find each separator.
        lines = [line.replace(separator, self._own) for line in _lines(text, separator)]
        known, self._known = self._known, {}
        before = [known.get(line) for line in lines]
        new = {line: line.split(self._own) for line, job in zip(lines, before, strict=True)
               if job is None}
        if (text and not text.endswith(f"{separator}\n")) or any(
                len(cells) != len(JOB_COLUMNS) for cells in new.values()):
            # A cell begins with a line end, or the output was cut off.
            return read_jobs(text, separator)
        read = {line: _job(cells) for line, cells in new.items()}
        jobs = [read[line] if job is None else job
                for line, job in zip(lines, before, strict=True)]
        self._known = dict(zip(lines, jobs, strict=True))
        return jobs


def _lines(text: str, separator: str) -> list[str]:
    """What is printed of each job, up to the last cell's end."""
    return text.split(f"{separator}\n")[:-1]


def read_nodes(text: str) -> list[SlurmNode]:
    """The nodes that `sinfo -N -O` with `NODE_FORMAT` prints; one in several partitions is one."""
    nodes = [_node(line) for line in text.split("\n") if line.strip()]
    return nodes if len({node.name for node in nodes}) == len(nodes) else _merged(nodes)


def _merged(nodes: Iterable[SlurmNode]) -> list[SlurmNode]:
    found: dict[str, SlurmNode] = {}
    for node in nodes:
        before = found.get(node.name)
        found[node.name] = node if before is None else replace(
            before, partitions=before.partitions + node.partitions,
            closed=before.closed + node.closed)
    return list(found.values())


@lru_cache(maxsize=100_000)
def _node(line: str) -> SlurmNode:
    """A node in one of its partitions; most lines are printed look after look."""
    cells = line.split(SEPARATOR)
    if len(cells) != len(NODE_COLUMNS) + 1 or cells[-1].strip():
        raise SlurmError(f"sinfo printed what cannot be read: {len(cells)} cells in rows of "
                         f"{len(NODE_COLUMNS)}")
    name, states, cpus, said_partition, available, _ = cells
    if not cpus.isdecimal():
        raise SlurmError(f"sinfo printed what cannot be read: {cpus!r} CPUs of {name}")
    partition = said_partition.rstrip("*")
    return SlurmNode(name, node_states(states), int(cpus), (partition,),
                     (partition,) if available.startswith(CLOSED) else ())


def rows_of(
    text: str, columns: int, command: str, separator: str = SEPARATOR
) -> Iterable[list[str]]:
    """Cells of each record; a comment may hold line ends, so a record ends with its last cell."""
    cells = text.split(separator)
    if len(cells) % columns != 1 or cells[-1].strip():
        raise SlurmError(f"{command} printed what cannot be read: {len(cells)} cells in rows of "
                         f"{columns}")
    for first in range(0, len(cells) - 1, columns):
        yield [cells[first].lstrip("\n"), *cells[first + 1: first + columns]]


def _job(cells: list[str]) -> SlurmJob:
    said = dict(zip(JOB_COLUMNS, cells, strict=True))
    return SlurmJob(
        label=said["JobArrayID"], job_id=int(said["JobID"]), restarts=int(said["RestartCnt"]),
        state=sys.intern(said["State"]), nodes=int(said["NumNodes"]), cpus=int(said["NumCPUs"]),
        limit_s=duration_s(said["TimeLimit"]), start_s=moment_s(said["StartTime"]),
        end_s=moment_s(said["EndTime"]), submit_s=moment_s(said["SubmitTime"]),
        partition=said["Partition"], user=said["UserName"], account=_text(said["Account"]),
        node_list=hosts(said["NodeList"]), reason=_text(said["Reason"]), nice=int(said["Nice"]),
        priority=int(said["PriorityLong"]), licenses=licenses(said["Licenses"]),
        required_nodes=hosts(said["ReqNodes"]), name=said["Name"], comment=_text(said["Comment"]),
        admin_comment=_text(said["admin_comment"]), most_nodes=int(said["MaxNodes"]),
        tres=_text(said["tres-alloc"]), dependency=_text(said["Dependency"]),
        eligible_s=moment_s(said["EligibleTime"]), features=_text(said["Feature"]),
        reservation=_text(said["Reservation"]),
    )


def read_array_limits(text: str) -> dict[str, int]:
    """By array how many of its tasks may run at once (`300_[1-9%2]`); 0: as many as there are.

    Arrays of which no task is left that Slurm has not made a job of its own are not among them.
    """
    found = {}
    for cell in text.split():
        array, tasks, rest = cell.partition("_[")
        if tasks:
            limit = rest.rstrip("]").rpartition("%")
            found[array] = int(limit[2]) if limit[1] and limit[2].isdecimal() else 0
    return found


def _text(cell: str) -> str:
    return "" if cell in ("(null)", "None") else cell


def hosts(cell: str) -> tuple[str, ...]:
    return tuple(parse_hosts(cell)) if _text(cell).strip() else ()


def licenses(cell: str) -> dict[str, int]:
    """`watts:500,matlab:2@server` as counts by name."""
    found = {}
    for part in _text(cell).split(",") if _text(cell) else ():
        name, _, count = part.partition(":")
        found[name] = int(count) if count.isdecimal() else 1
    return found


@lru_cache(maxsize=10_000)
def moment_s(cell: str) -> float:
    """A time as Slurm prints it in UTC; NaN where it says none."""
    try:
        return datetime.fromisoformat(cell).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return math.nan


@lru_cache(maxsize=10_000)
def duration_s(cell: str) -> float:
    """`1-02:03:04`, `3:04`, `UNLIMITED`, as seconds; NaN where it cannot be read."""
    if cell.upper() in ("UNLIMITED", "INFINITE"):
        return UNLIMITED_S
    days, dash, rest = cell.partition("-")
    parts = (rest if dash else cell).split(":")
    if not all(part.isdecimal() for part in parts) or (dash and not days.isdecimal()):
        return math.nan
    numbers = [int(part) for part in parts]
    if dash:  # days-hours[:minutes[:seconds]]
        hours, minutes, seconds = [*numbers, 0, 0][:3]
    else:  # [[hours:]minutes:]seconds, where one alone is seconds, as squeue prints it
        hours, minutes, seconds = ([0, 0, *numbers])[-3:]
    return float((int(days) if dash else 0) * 86400 + hours * 3600 + minutes * 60 + seconds)
