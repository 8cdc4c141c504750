"""A Slurm cluster: looked at as a whole, and told what to do with one job at a time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from wattline.live.slurm.commands import Commands, SlurmError
from wattline.live.slurm.frequencies import FrequencyReader, frequencies
from wattline.live.slurm.holding import Holding, evenly, read_holdings
from wattline.live.slurm.reading import (
    NODE_FORMAT,
    WAITING,
    WATTS,
    JobReader,
    SlurmJob,
    SlurmNode,
    fresh_separator,
    job_format,
    read_array_limits,
    read_jobs,
    read_nodes,
)
from wattline.live.slurm.reservations import Reservation, read_reservations
from wattline.live.slurm.wishes import WISH_FORMAT, Wish, read_wishes


class NotHeldForUs(SlurmError):
    """Somebody has released the job, or holds it: nothing was done, and it is left to them."""


class AsksOtherwise(NotHeldForUs):
    """Somebody has changed the job since it was decided upon: nothing was done."""


@dataclass(frozen=True)
class Seen:
    """Jobs and nodes at one moment, by this machine's clock."""

    time_s: float
    jobs: tuple[SlurmJob, ...]
    """Those that have ended stay among them for as long as Slurm remembers (MinJobAge)."""
    nodes: tuple[SlurmNode, ...]
    array_limits: Mapping[str, int] = field(default_factory=dict)
    """How many tasks of an array may run at once, where one waits; 0: as many as there are."""
    reservations: tuple[Reservation, ...] = ()
    """Where a job waits held."""


@dataclass(frozen=True)
class Slurm:
    """What the controller needs of Slurm; all of it by commands that an unpatched one has."""

    commands: Commands = field(default_factory=Commands)
    _reader: JobReader = field(default_factory=JobReader, repr=False, compare=False)
    _frequencies: FrequencyReader = field(default_factory=FrequencyReader, repr=False,
                                          compare=False)

    def look(self) -> Seen:
        """All jobs and nodes now."""
        now_s = time.time()
        jobs = self._frequencies.read(self._jobs(read=self._reader.read),
                                      lambda labels: frequencies(self.commands, labels))
        # Otherwise a node of 1,024 CPUs has 1K.
        nodes = read_nodes(self.commands.run("sinfo", "--noconvert", "-h", "-N", "-a", "-O",
                                             NODE_FORMAT))
        limits = self._array_limits() if any("_" in job.label and job.held for job in jobs) else {}
        reservations = self._reservations() if any(job.held for job in jobs) else ()
        return Seen(now_s, tuple(jobs), tuple(nodes), limits, reservations)

    def cluster_name(self) -> str:
        """Slurm's ClusterName, as slurmctld has it."""
        said = re.search(r"^ClusterName\s*=\s*(\S+)",
                         self.commands.run("scontrol", "show", "config"), re.MULTILINE)
        return said.group(1) if said else ""

    def _reservations(self) -> tuple[Reservation, ...]:
        return read_reservations(self.commands.run("scontrol", "-o", "show", "reservation"))

    def _array_limits(self) -> dict[str, int]:
        """Only a row of the whole array says it, not those of its tasks."""
        return read_array_limits(self.commands.run("squeue", "-h", "-a", "-t", "pending", "-o",
                                                   "%i"))

    def job(self, label: str) -> SlurmJob | None:
        """One job now; None where Slurm knows none of that name."""
        try:
            jobs = self._jobs("-j", label)
        except SlurmError as error:
            if "Invalid job id" in str(error):
                return None
            raise
        found = [job for job in jobs if job.label == label]
        return found[0] if found else None

    def _jobs(
        self, *which: str, read: Callable[[str, str], list[SlurmJob]] = read_jobs
    ) -> list[SlurmJob]:
        separator = fresh_separator()
        return read(self.commands.run("squeue", "-h", "-a", "-r", "-t", "all", *which, "-O",
                                      job_format(separator)), separator)

    def holdings(self, job: SlurmJob) -> dict[str, Holding]:
        """What a running job holds of each node; in equal parts where Slurm does not say."""
        if len(job.node_list) > 1:
            try:
                said = read_holdings(self.commands.run("scontrol", "-d", "show", "job", job.label))
            except SlurmError:  # it may have gone by now
                said = {}
            if set(job.node_list) <= set(said):
                return said
        return evenly(job)

    def excluded(self, labels: Collection[str]) -> dict[str, str]:
        """By label the nodes that these jobs exclude, as Slurm prints them (`-x`)."""
        said = self.commands.run("squeue", "-h", "-a", "-r", "-j", ",".join(labels), "-o", "%i %x")
        rows = (line.partition(" ") for line in said.splitlines())
        return {label: nodes.strip() for label, _, nodes in rows}

    def wishes(self) -> dict[str, Wish]:
        """What jobs ask for beside nodes and CPUs, by label."""
        return read_wishes(self.commands.run("squeue", "-h", "-a", "-r", "-O", WISH_FORMAT))

    def license(self, job: SlurmJob, watts: int) -> None:
        """Give a waiting job so many licences called watts, beside those that it has."""
        self.commands.run("scontrol", "update", f"JobId={job.label}",
                          f"Licenses={_with_watts(job.licenses, watts)}")

    def start(self, label: str, nodes: Sequence[str], *, as_seen: SlurmJob | None = None,
              watts: int | None = None, licence: int | None = None, settings: str = "",
              own: bool = False, anywhere: bool = False) -> None:
        """Let a held job start on these nodes, and on no others.

        `as_seen` is the job as it was when that was decided: one that asks for something else by
        now is left alone.
        `own`: on as many, of which its user has named some, and that list stays as it is;
        `anywhere`: on as many, which Slurm chooses. `watts` are the licences of that name that it
        is to hold instead of those it asked for, `licence` those of one that asked for none,
        `settings` what its prolog has to know, as an admin comment.

        Two calls, of which the first may have worked where the second did not; both may be
        repeated. A job that is not held any more is left alone: somebody else has released it.
        """
        job = self.job(label)
        if job is None or not job.held:
            raise NotHeldForUs(f"job {label} is not held: "
                               f"{'it is gone' if job is None else job.state}")
        if job.held_by_operator:
            raise NotHeldForUs(f"job {label} was held by an operator (scontrol hold)")
        changed = job.asks_otherwise(as_seen) if as_seen is not None else []
        if changed:
            raise AsksOtherwise(f"job {label} was changed meanwhile ({', '.join(changed)})")
        # Slurm lets what was requeued wait for two minutes: it is to start now. Not within the
        # second of its last end, up to which its node refuses the job's credentials and Slurm
        # kills what it started ("Job credential revoked").
        more = ["StartTime=now+2"] if job.restarts else []
        held_w = watts if WATTS in job.licenses else licence
        if held_w is not None:
            more.append(f"Licenses={_with_watts(job.licenses, held_w)}")
        if settings:
            more.append(f"AdminComment={settings}")
        named = [] if own else [f"ReqNodeList={'' if anywhere else ','.join(nodes)}"]
        if (job.nodes, job.most_nodes) != (len(nodes), len(nodes)):  # else it is the user's still
            named.append(f"NumNodes={len(nodes)}-{len(nodes)}")
        if named or more:
            self.commands.run("scontrol", "update", f"JobId={label}", *named, *more)
        self.commands.run("scontrol", "release", label)

    def withdraw(self, label: str) -> None:
        """Hold a job that was released and did not start; one that others hold stays as it is.

        As its user would: a hold of an operator's is told from ours.
        """
        job = self.job(label)
        if job is not None and job.state in WAITING and not job.held:
            self.commands.run("scontrol", "uhold", label)

    def hold_as_user(self, label: str, comment: str) -> None:
        """Call the hold of a job its user's again, which Slurm calls an operator's by itself."""
        self.commands.run("scontrol", "uhold", label)
        self.explain(label, comment)

    def explain(self, label: str, comment: str) -> None:
        """Say where the job's user sees it why it waits."""
        self.commands.run("scontrol", "update", f"JobId={label}", f"AdminComment={comment}")

    def prioritise(self, label: str, priority: int) -> None:
        """Give a waiting job that is not held another priority."""
        self.commands.run("scontrol", "update", f"JobId={label}", f"Priority={priority}")

    def power(self, nodes: Sequence[str], on: bool) -> None:
        """Switch idle nodes off or on."""
        self.commands.run("scontrol", "update", f"NodeName={','.join(nodes)}",
                          f"State={'POWER_UP' if on else 'POWER_DOWN'}")

    def release(self, label: str, *, anywhere: bool = False) -> None:
        """Hand a held job back to Slurm's own scheduler, on any nodes or on those it names.

        `anywhere` is for a list of nodes that is ours: that of a user stays."""
        if anywhere:
            self.commands.run("scontrol", "update", f"JobId={label}", "ReqNodeList=")
        self.commands.run("scontrol", "release", label)

    def suspend(self, label: str) -> None:
        self.commands.run("scontrol", "suspend", label)

    def resume(self, label: str) -> None:
        self.commands.run("scontrol", "resume", label)

    def requeue(self, label: str, *, hold: bool = False) -> None:
        """Queue a running job again: another life of it; `hold` keeps Slurm from starting that."""
        self.commands.run("scontrol", "requeuehold" if hold else "requeue", label)

    def cancel(self, label: str) -> None:
        self.commands.run("scancel", label)


def _with_watts(licenses: Mapping[str, int], watts: int) -> str:
    """Its licences with another number of watts."""
    return ",".join(f"{name}:{count}" for name, count in {**licenses, WATTS: watts}.items())
