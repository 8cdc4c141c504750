"""What `sacct` tells of jobs and steps, as text or as JSON, for the measured ledger."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from wattline.account.measured import sacct_values as values
from wattline.account.measured.names import clean, clean_list
from wattline.account.measured.records import Found, Life, LifeKey, Stay, StepSeen
from wattline.account.measured.resized import RESIZING, as_one_life, given_back
from wattline.account.measured.sacct_values import Cells
from wattline.model.errors import InputError
from wattline.model.local_time import FORWARD, TWICE, Moment, Zone, stay, zone_of
from wattline.site.cells import is_missing
from wattline.site.moments import moment
from wattline.site.sacct_json import job_cells, read_jobs, step_cells
from wattline.site.sacct_text import NOT_ENDED, SEPARATOR, read_records
from wattline.site.slurm_energy import job_joules

COLUMNS = (
    "JobID", "JobIDRaw", "Cluster", "User", "Account", "Partition", "JobName", "State", "Submit",
    "Start", "End", "Elapsed", "ElapsedRaw", "Suspended", "Timelimit", "TimelimitRaw", "NNodes",
    "AllocNodes", "NCPUS", "AllocCPUS", "NodeList", "AllocTRES", "ConsumedEnergy",
    "ConsumedEnergyRaw", "AveCPUFreq", "ReqCPUFreq", "ReqCPUFreqMin", "ReqCPUFreqMax",
    "ReqCPUFreqGov", "TotalCPU", "UID", "Constraints", "Comment", "AdminComment", "SystemComment",
    "WorkDir", "SubmitLine", "Reason", "WCKey",
)
"""Those that are used, and those that may hold a separator."""
_CANONICAL = {name.lower(): name for name in COLUMNS}
_LABEL = re.compile(r"[0-9]{1,20}([_+][0-9]{1,20})?", re.ASCII)
MOST = 2**31 - 1
LONGEST_TRES = 10_000

NEVER_STARTED = "never started"
NO_ID = "without a readable job number"
BAD_TIME = "with a time that is none"
REVERSED = "that end before they begin"
NO_END = "ended, without saying when"
TOO_MUCH = "with more nodes or cores than there can be"
FORGED = "whole records inside the name of a job"
UNREADABLE = "lines that are no records"
UNCOUNTED = "jobs without a number of nodes, taken as one"


@dataclass
class _Reading:
    """What was found so far in one file."""

    zone: Zone
    cluster: str
    lives: list[Life] = field(default_factory=list)
    steps: list[StepSeen] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    mended: Counter[str] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)
    clusters: set[str] = field(default_factory=set)
    local: bool = False


def read_sacct(
    data: bytes, source: str, *, cluster: str = "", zone: str = "", columns: Sequence[str] = ()
) -> Found:
    """The lives and steps of a dump; `columns` names those of one without a header."""
    reading = _Reading(zone_of(zone), cluster)
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    if text.lstrip().startswith("{"):
        _read_json(text, source, reading)
    else:
        _read_text(text, source, columns, reading)
    if reading.local:
        reading.remarks.insert(0, reading.zone.note())
    if cluster and reading.clusters - {cluster}:
        _check_clusters(reading.clusters, cluster, source, reading)
    lives = as_one_life(reading.lives)
    left = given_back(lives)
    if left:
        reading.remarks.append(_shrunk(left))
    return Found(source, tuple(lives), tuple(reading.steps), stays=left,
                 skipped=dict(+reading.skipped), mended=dict(+reading.mended),
                 remarks=tuple(reading.remarks))


def _shrunk(left: Sequence[Stay]) -> str:
    keys = {stay.key for stay in left}
    return (f"jobs that gave nodes back while they ran: {len(keys)}, as job "
            f"{min(key.label for key in keys)}; these nodes are theirs until then, their numbers "
            "of nodes and cores are those of before, and Slurm's own joules leave these nodes out")


def _check_clusters(named: set[str], cluster: str, source: str, reading: _Reading) -> None:
    if len(named) > 1:
        raise InputError(f"{source}: has jobs of the clusters {', '.join(sorted(named))}; leave "
                         "--cluster out, and each is entered under its own")
    reading.remarks.append(f"the file calls the cluster {next(iter(named))}; it is entered as "
                           f"{cluster}, as --cluster says")


def _read_json(text: str, source: str, reading: _Reading) -> None:
    for job in read_jobs(text, source):
        if not isinstance(job, dict) or not isinstance(job.get("time"), dict):
            reading.skipped[UNREADABLE] += 1
            continue
        cells = job_cells(job)
        _add(cells, reading)
        for step in step_cells(job):
            _add({"Cluster": cells["Cluster"], **step}, reading)


def _read_text(text: str, source: str, columns: Sequence[str], reading: _Reading) -> None:
    head = [name.strip() for name in text.partition("\n")[0].split(SEPARATOR)]
    has_header = bool({"jobid", "jobidraw"} & {name.lower() for name in head})
    if not has_header and not columns:
        raise InputError(f"{source}: its first line names no columns; say which they are with "
                         "--columns JobID,User,Start,..., or run sacct without --noheader")
    if has_header and "\n" not in text:
        raise InputError(f"{source}: ends in its first line; the file is cut off")
    named = canonical(head if has_header else columns)
    missing = [" or ".join(pair) for pair in (("JobID", "JobIDRaw"), ("Start",), ("State",))
               if not set(pair) & set(named)]
    if missing:
        raise InputError(f"{source}: lacks the column {', '.join(missing)}; run sacct "
                         "--parsable2 with it")
    if "End" not in named and not {"Elapsed", "ElapsedRaw"} & set(named):
        raise InputError(f"{source}: lacks the column End (or ElapsedRaw); run sacct --parsable2 "
                         "with it")
    body = text.partition("\n")[2] if has_header else text
    found = read_records(body, source, named) if body else None
    if found is None:
        return
    if found.unreadable:
        reading.skipped[UNREADABLE] += len(found.unreadable)
    reading.skipped[FORGED] += len(found.inside)
    reading.remarks += _forged([number + has_header for number in found.inside],
                               [number + has_header for number in found.doubtful])
    if not found.last_line_ends:
        reading.remarks.append("the last line has no end; if the file was cut off there, so is "
                               "its last cell")
    if "JobID" not in named:
        reading.remarks.append("without the column JobID, tasks of arrays go by their raw numbers")
    for _, row in found.rows:
        if row.get("JobID", row.get("JobIDRaw", "")).lower() not in ("jobid", "jobidraw"):
            _add(row, reading)


def _forged(inside: Sequence[int], doubtful: Sequence[int]) -> Iterator[str]:
    """What to say of records that may stand in the name of a job."""
    if inside:
        yield (f"line {inside[0]}: a whole record inside the name of a job, which somebody wrote "
               "there; it is left out. sacct --json tells names and records apart")
    if doubtful:
        yield (f"line {doubtful[0]} and {len(doubtful) - 1} more: records after one that begins "
               "and never ends, in whose name they may stand; they are entered. sacct --json "
               "tells names and records apart")


def canonical(columns: Sequence[str]) -> list[str]:
    """Column names as sacct spells them; it takes any case, and a width behind them."""
    bare = [name.strip().partition("%")[0] for name in columns]
    return [_CANONICAL.get(name.lower(), name) for name in bare]


def _add(cells: Cells, reading: _Reading) -> None:
    """Put a job or a step where it belongs, or say why not."""
    shown = str(cells.get("JobID") or cells.get("JobIDRaw") or "").strip()
    label, dot, step = shown.partition(".")
    if "[" in label:
        reading.skipped[NEVER_STARTED] += not dot
        return
    if not _LABEL.fullmatch(label) or (dot and not step.strip()):
        reading.skipped[NO_ID] += 1
        return
    try:
        start = moment(cells.get("Start"), reading.zone.info)
        end = moment(cells.get("End"), reading.zone.info)
        submit = moment(cells.get("Submit"), reading.zone.info)
        run_s = values.first(values.clock(cells.get("ElapsedRaw")),
                             values.clock(cells.get("Elapsed")))
        suspended_s = values.clock(cells.get("Suspended")) or 0.0
    except (ValueError, OverflowError):
        reading.skipped[BAD_TIME] += 1
        return
    times = _Times(start, end, submit, run_s, suspended_s)
    if dot:
        _add_step(cells, label, clean(step, reading.mended), times, reading)
    else:
        _add_life(cells, label, times, reading)


@dataclass(frozen=True)
class _Times:
    start: Moment | None
    end: Moment | None
    submit: Moment | None
    run_s: float | None
    suspended_s: float

    def settled(self, reading: _Reading) -> tuple[float, float, float, dict[str, Any]]:
        """Start, end and submission, and what else the start may mean; guesses are counted."""
        assert self.start is not None
        run_s = None if self.run_s is None else self.run_s + self.suspended_s
        start_s, end_s, submit_s, guessed = stay(self.start, self.end, run_s, self.submit)
        reading.mended[TWICE] += guessed
        told = [each for each in (self.start, self.end) if each is not None]
        reading.mended[FORWARD] += any(each.shifted for each in told)
        reading.local |= any(each.local for each in told)
        other = [int(each) for each in self.start.choices if each != start_s]
        return start_s, end_s, submit_s, {"other_start_s": other[0] if other else None,
                                          "guessed": bool(other) and guessed}


def _add_life(cells: Cells, label: str, times: _Times, reading: _Reading) -> None:
    state = values.state(cells)
    nodes_text = str(cells.get("NodeList") or "").strip()
    unassigned = nodes_text.lower() == "none assigned"
    in_queue = state == "PENDING" or (state == "CANCELLED" and not nodes_text)
    if times.start is None or (not times.run_s and (in_queue or unassigned)):
        reading.skipped[NEVER_STARTED] += 1
        return
    start_s, end_s, submit_s, meant = times.settled(reading)
    seen_s = math.nan
    if state == RESIZING and not math.isnan(end_s):  # the job goes on, in its next record
        end_s, seen_s = math.nan, end_s
    elif state in NOT_ENDED and (state != "PENDING" or math.isnan(end_s)):
        end_s = math.nan
        if times.run_s is not None:
            seen_s = start_s + times.run_s + times.suspended_s
    elif math.isnan(end_s):
        if times.run_s is None:
            reading.skipped[NO_END] += 1
            return
        end_s = start_s + times.run_s + times.suspended_s
    if end_s < start_s:
        reading.skipped[REVERSED] += 1
        return
    node_list = "" if unassigned or is_missing(nodes_text) else clean_list(nodes_text,
                                                                           reading.mended)
    nodes = values.nodes_of(cells, node_list)
    cores = values.count(cells, ("AllocCPUS", "NCPUS"), "cpu")
    if max(nodes, cores) > MOST:
        reading.skipped[TOO_MUCH] += 1
        return
    reading.mended[UNCOUNTED] += not nodes
    raw = str(cells.get("JobIDRaw") or (label if label.isdecimal() else ""))
    reading.lives.append(Life(
        LifeKey(_cluster(cells, reading), label, int(start_s)),
        job_id=int(raw) if raw.isdecimal() and int(raw) < 2**63 else None,
        state=clean(state, reading.mended), nodes=nodes or 1, cores=cores, node_list=node_list,
        submit_s=submit_s,
        end_s=end_s, limit_s=values.limit_s(cells),
        cpu_s=_cpu_s(cells, end_s),
        suspended_s=times.suspended_s, energy_j=job_joules(cells),
        alloc_tres=clean_list(values.text(cells, "AllocTRES"), reading.mended)[:LONGEST_TRES],
        frequency_hz=values.hz(cells.get("AveCPUFreq")),
        asked_frequency=clean(values.asked_frequency(cells), reading.mended),
        seen_s=seen_s, **{**_names(cells, reading), **meant}))


def _add_step(
    cells: Cells, label: str, step: str, times: _Times, reading: _Reading
) -> None:
    if times.start is None:
        reading.skipped[NEVER_STARTED] += 1
        return
    start_s, end_s, _, meant = times.settled(reading)
    state = values.state(cells)
    if math.isnan(end_s) and times.run_s is not None and state and state not in NOT_ENDED:
        end_s = start_s + times.run_s + times.suspended_s
    if end_s < start_s:
        reading.skipped[REVERSED] += 1
        return
    nodes_text = str(cells.get("NodeList") or "").strip()
    named = "" if nodes_text.lower() == "none assigned" or is_missing(nodes_text) else nodes_text
    reading.steps.append(StepSeen(
        _cluster(cells, reading), label, step, int(start_s), end_s=end_s,
        node_list=clean_list(named, reading.mended), energy_j=job_joules(cells),
        frequency_hz=values.hz(cells.get("AveCPUFreq")),
        cpu_s=_cpu_s(cells, end_s),
        state=clean(state, reading.mended), **meant))


def _cpu_s(cells: Cells, end_s: float) -> float:
    """Slurm counts processor time at the end of each step: of what goes on it says 0, or less than
    was used, and both are nothing to divide by."""
    if math.isnan(end_s):
        return math.nan
    return values.known(values.seconds(cells.get("TotalCPU")))


def _cluster(cells: Cells, reading: _Reading) -> str:
    named = clean(values.text(cells, "Cluster"), reading.mended)
    if named:
        reading.clusters.add(named)
    return reading.cluster or named


def _names(cells: Cells, reading: _Reading) -> dict[str, str]:
    columns = {"user": "User", "account": "Account", "partition": "Partition",
               "application": "JobName"}
    return {name: clean(values.text(cells, column), reading.mended)
            for name, column in columns.items()}
