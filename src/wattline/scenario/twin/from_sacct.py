"""Jobs from Slurm's accounting: `sacct -P` with its header, or `sacct --json`.

Accounting keeps less than a job asked for: what is missing is filled by rules that are said with
the number of jobs that they touch.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.local_time import zone_of
from wattline.model.reading import log_text, read_unpacked
from wattline.scenario.twin.asked import (
    ELIGIBLE,
    PART_OF_SEVERAL,
    AskedJob,
    Counter,
    Log,
)
from wattline.scenario.twin.options import apply_options
from wattline.scenario.twin.repeated import each_once, last_of_each
from wattline.scenario.twin.sacct_times import (
    CLOCK_CHANGED,
    Row,
    end_by_elapsed,
    is_unreadable,
    never_started,
    number_in,
    put_run_time,
    text_in,
    times_of,
)
from wattline.scenario.twin.unmeasured import put_watts
from wattline.site.het_jobs import options_of_parts
from wattline.site.limits import clock_s, tres_of
from wattline.site.lines import hosts_of
from wattline.site.sacct_json import job_cells, read_jobs
from wattline.site.sacct_text import COMMAND, SEPARATOR, read_records
from wattline.site.sbatch import IGNORED, Options, megabytes
from wattline.site.slurm_energy import job_joules

NEEDED = ("JobID", "Submit", "Start", "End", "State")
_PARALLEL = ("sbatch", "srun", "salloc")
_ON_THE_LINE = frozenset({
    "ntasks", "ntasks-per-node", "cpus-per-task", "nodes", "mem", "mem-per-cpu", "gres", "gpus",
    "gpus-per-node", "gpus-per-task", "cpus-per-gpu", "mem-per-gpu", "exclusive", "nice", "exclude",
    "nodelist", "licenses", "no-requeue", "requeue", "array", "kill-on-invalid-dep"})
"""Options that accounting keeps nowhere else as they were asked."""
_COLUMNS = {
    "partition": "Partition", "qos": "QOS", "account": "Account", "constraint": "Constraints",
    "time": "Timelimit", "job-name": "JobName", "reservation": "Reservation"}
"""Options that are read from a column, and from the line only where that is empty."""
_ELIGIBLE = frozenset({"begin", "dependency", "hold"})
"""Options that moved the time at which a job became eligible, which is a column."""
_NO_LIMIT = ("unlimited", "infinite", "partition_limit")
"""Cells of a job that only its partition's MaxTime holds."""
EQUAL_PARTS = "devices are of the whole job in the log: an equal part on each node"
MORE_NODES = ("had more nodes than it asked for at least, and the log does not say the most: as "
              "many as Slurm gives its tasks")
ANY_NODES = ("how many nodes it had is not in the log, nor the most that it asked for: as many as "
             "Slurm gives its tasks")
FEWEST_NODES = "how many nodes it had is not in the log: as many as it asked for at least"
BY_CPUS = "memory is of the whole job in the log: by its CPUs, on as many nodes as it gets"
MORE_CPUS = "asked for more CPUs than its SubmitLine says: as many more for each task"
MORE_TASKS = "asked for more CPUs than its SubmitLine says: it gets more tasks"
_LICENCE = re.compile(r"license/([^=,]+)=([0-9]{1,12})", re.IGNORECASE)


def read_sacct(path: str | Path, zone: str = "") -> Log:
    """The jobs of a dump, steps apart; the first submission is second 0."""
    taken_as = zone_of(zone)
    data = read_unpacked(path)[0]
    if not data.strip():
        raise InputError(f"{path}: is empty")
    text = data.lstrip()[:1] != b"{"
    left_out, filled, unused = Counter(), Counter(), Counter()
    rows = _text_rows(data, str(path), left_out) if text else _json_rows(
        data, str(path), left_out)
    times, stays = times_of(rows, taken_as)
    jobs = []
    ids = [str(row["JobID"]) for row in rows]
    # A later dump of accounting may know more of a run than an earlier one.
    for number in last_of_each(ids, (times["Submit"], times["Start"]), left_out):
        job = _job(rows[number], {name: column[number] for name, column in times.items()},
                   str(path), left_out, filled, unused)
        if job is not None:
            jobs.append(job)
    if not jobs:
        raise InputError(f"{path}: has no job that started; its records are: "
                         f"{'; '.join(left_out.lines()) or 'none'}")
    jobs = each_once(jobs, filled)
    jobs.sort(key=lambda job: (job.submit_s, _numbers(job.job_id)))
    begin_s = math.floor(jobs[0].submit_s / 60.0) * 60  # minutes are those of the clock
    for job in jobs:
        job.submit_s -= begin_s
        job.start_s -= begin_s
        job.end_s -= begin_s
        job.begin_s = max(0.0, job.begin_s - begin_s)
        job.eligible_s = max(0.0, job.eligible_s - begin_s)
    return Log(jobs, str(path), float(begin_s), filled.lines(), left_out.lines(), unused.lines(),
               True, filled.counts(), filled.ids(), filled, unused,
               stays.remarks(taken_as, str(path)), taken_as)


def _numbers(job_id: str) -> list[int]:
    """Slurm counts its jobs: of those of one second the lower id came first, wherever it stands."""
    return [int(number) for number in re.findall(r"[0-9]{1,18}", job_id)]


def _text_rows(data: bytes, source: str, left_out: Counter) -> list[Row]:
    text = log_text(data, source)
    columns = [name.strip() for name in text.partition("\n")[0].rstrip("\r").split(SEPARATOR)]
    missing = [name for name in NEEDED if name not in columns]
    if missing:
        raise InputError(f"{source}:1: lacks the column {', '.join(missing)}; run, without "
                         f"--noheader, {COMMAND}")
    found = read_records(text, source)
    for line in (*found.unreadable, *found.inside):
        left_out.note("the line cannot be read", f"line {line}")
    return [row for _, row in found.rows if "." not in row["JobID"]]


def _json_rows(data: bytes, source: str, left_out: Counter) -> list[Row]:
    found: list[Row] = []
    for place, job in enumerate(read_jobs(data, source), start=1):
        if isinstance(job, dict) and isinstance(job.get("time"), dict):
            found.append(job_cells(job))
        else:
            left_out.note("the record cannot be read", f"record {place}")
    return found


def _job(row: Row, times: Mapping[str, float], source: str, left_out: Counter, filled: Counter,
         unused: Counter) -> AskedJob | None:
    job_id = str(row["JobID"])
    state = (str(row.get("State") or "").split() or [""])[0].rstrip("+").upper()
    submit_s, start_s, end_s = times["Submit"], times["Start"], times["End"]
    for name in ("Submit", "Start", "End"):
        if math.isnan(times[name]) and is_unreadable(row, name):
            left_out.note(f"its {name} cannot be read", job_id)
            return None
    if math.isnan(submit_s):
        left_out.note("it has no time of submission", job_id)
        return None
    if never_started(row, state, start_s, end_s):
        left_out.note(f"{state or 'no state'}, it never started: it waited in the queue and is "
                      "left out", job_id)
        return None
    if start_s < submit_s:
        filled.note("started before its submission by the log: submitted at its start", job_id)
        submit_s = start_s
    by_elapsed_s = end_by_elapsed(row, start_s, end_s)
    if by_elapsed_s != end_s and not math.isnan(end_s):
        filled.note(CLOCK_CHANGED, job_id)
        end_s = by_elapsed_s
    if end_s < start_s:
        filled.note("ended before it started by the log: it ends at its start", job_id)
        end_s = start_s
    job = AskedJob(job_id, submit_s, 0.0, start_s=start_s, end_s=end_s, state=state, where=source,
                   exit_ok=state == "COMPLETED", user=text_in(row, "User"),
                   account=text_in(row, "Account"), partition=text_in(row, "Partition"),
                   qos=text_in(row, "QOS"), constraint=text_in(row, "Constraints"),
                   node_list=text_in(row, "NodeList"), name=text_in(row, "JobName"),
                   reservation=text_in(row, "Reservation"))
    told = _submit_line(row, job, unused)
    _limit(row, job, filled)
    put_run_time(row, job, filled)
    fewest = _sizes(row, job, told, filled)
    _memory(row, job, told, filled, fewest)
    _gres(row, job, told, filled, fewest)
    _licences(row, job, told, unused)
    _power(row, job, filled)
    if submit_s < min(times["Eligible"], start_s):  # false where the log does not say it
        job.eligible_s = min(times["Eligible"], start_s)  # when it started it was eligible
        if job.dependency is None:
            job.begin_s = job.eligible_s
            job.let_go = "begin" not in told
            filled.note(ELIGIBLE, job_id)
    if "_" in job_id:
        job.array = job_id.partition("_")[0]
        if job.array_limit < 0:
            job.array_limit = max(number_in(row, "ArrayLimit"), 0) or -1
    else:
        job.array_limit = -1
    if "+" in job_id:
        unused.note(PART_OF_SEVERAL, job_id)
    return job


def _submit_line(row: Row, job: AskedJob, unused: Counter) -> set[str]:
    """What the line that submitted it asked for, where accounting has it."""
    try:
        words = shlex.split(text_in(row, "SubmitLine"))
        at = next((at for at, word in enumerate(words)
                   if word.rpartition("/")[2] in _PARALLEL), None)
        if at is None:
            return set()
        options = _of_part(options_of_parts(words[at + 1:], job.where), job)
        asked = {name: value for name, value in options.values.items()
                 if name in _ON_THE_LINE or (name in _COLUMNS and not text_in(row, _COLUMNS[name]))}
        if not {"begin", "hold"} & set(options.values):
            # With one of these the log's time of eligibility says more than the jobs waited for.
            asked |= {name: value for name, value in options.values.items()
                      if name == "dependency"}
        unread = apply_options(job, Options(asked), job.where)
    except (InputError, ValueError):
        unused.note("its SubmitLine cannot be read", job.job_id)
        return set()
    known = {*_COLUMNS, *IGNORED, *(_ELIGIBLE if text_in(row, "Eligible") else ())}
    for name in (*unread, *options.values):
        if name not in asked and name not in known:
            unused.note(f"nothing is done with the option {name} of its SubmitLine", job.job_id)
    return {*asked, *({"begin"} & set(options.values))}


def _of_part(parts: list[Options], job: AskedJob) -> Options:
    """Pick the options of the part that the record is of: 12+1 is the second of job 12."""
    number = job.job_id.partition("+")[2]
    return parts[int(number)] if number.isdecimal() and int(number) < len(parts) else parts[0]


def _limit(row: Row, job: AskedJob, filled: Counter) -> None:
    if any(str(row.get(column) or "").strip().lower() in _NO_LIMIT
           for column in ("TimelimitRaw", "Timelimit")):
        job.limit_s = math.inf
        return
    minutes = number_in(row, "TimelimitRaw")
    text = text_in(row, "Timelimit")
    found = minutes * 60 if minutes >= 0 else None
    if found is None and text:
        try:
            found = clock_s(text, job.where)
        except InputError:
            found = None
    if found is None:
        if job.limit_s < 0:
            filled.note("no time limit in the log: the partition's default", job.job_id)
        return
    job.limit_s = float(-(-found // 60) * 60)


def _sizes(row: Row, job: AskedJob, told: set[str], filled: Counter) -> int:
    """Its nodes and tasks; the number of nodes that totals of `ReqTRES` are for."""
    asked = _tres(row, "ReqTRES")
    given = _tres(row, "AllocTRES")
    job.nodes = number_in(row, "AllocNodes", "NNodes")
    if job.nodes < 0:
        job.nodes = given.get("node", len(hosts_of(job.node_list, job.where)) or -1)
    job.cpus = given.get("cpu", number_in(row, "AllocCPUS", "NCPUS"))
    fewest = asked.get("node", number_in(row, "ReqNodes"))
    if "nodes" not in told:
        if fewest < 1 and job.nodes > 0:
            fewest = job.nodes
            filled.note("no number of nodes asked for in the log: as many as it had", job.job_id)
        fewest = max(fewest, 1)
        _nodes_asked(job, fewest, told, filled)
    elif job.node_range and job.min_nodes <= job.nodes <= job.max_nodes:
        fewest = fewest if fewest > 0 else job.nodes
        # Its run time is that on so many nodes.
        job.min_nodes = job.max_nodes = job.nodes
        filled.note("asked for a range of nodes: as many as it had", job.job_id)
    cpus = asked.get("cpu", number_in(row, "ReqCPUS"))
    if not told & {"ntasks", "ntasks-per-node", "cpus-per-task"}:
        if cpus < 1:
            cpus = max(1, job.cpus)
            filled.note("no number of CPUs asked for in the log: as many as it had", job.job_id)
        job.tasks, job.cpus_per_task = cpus, 1
        filled.note("tasks are not in the log: one per CPU asked for", job.job_id)
    elif not told & {"ntasks", "mem-per-cpu", "cpus-per-gpu"}:
        _complete_line(job, cpus, told, filled)
    return fewest if fewest > 0 else max(job.min_nodes, 1)


def _nodes_asked(job: AskedJob, fewest: int, told: set[str], filled: Counter) -> None:
    """Let it have what its request leaves open: `ReqTRES` says the fewest nodes, never the most.

    One that asked for tasks alone (`-n 16`) has 1 there, however many nodes it gets.
    """
    job.min_nodes = job.max_nodes = fewest
    if fewest == 1 and ("ntasks" in told or job.nodes != 1):
        job.min_nodes = job.max_nodes = -1
        if "ntasks" not in told:
            filled.note(MORE_NODES if job.nodes > 1 else ANY_NODES, job.job_id)
    elif job.nodes < 1:
        filled.note(FEWEST_NODES, job.job_id)
    elif job.nodes > fewest:
        job.min_nodes = job.max_nodes = job.nodes
        filled.note("asked for a range of nodes: as many as it had", job.job_id)


def _complete_line(job: AskedJob, cpus: int, told: set[str], filled: Counter) -> None:
    """Let the CPUs that were asked for say what the line does not: its script has options too."""
    each = max(job.cpus_per_task, 1)
    tasks = max(job.min_nodes, 1) * max(job.tasks_per_node, 1)
    if cpus <= tasks * each:
        return
    if "cpus-per-task" not in told and cpus % tasks == 0:
        job.cpus_per_task = cpus // tasks
        filled.note(MORE_CPUS, job.job_id)
    elif "ntasks-per-node" not in told and cpus % each == 0:
        job.tasks = cpus // each
        filled.note(MORE_TASKS, job.job_id)


def _tres(row: Row, column: str) -> dict[str, int]:
    """Resources of a cell; one that cannot be read says nothing."""
    try:
        return tres_of(text_in(row, column), column)
    except InputError:
        return {}


def _memory(row: Row, job: AskedJob, told: set[str], filled: Counter, fewest: int) -> None:
    if told & {"mem", "mem-per-cpu", "mem-per-gpu"}:
        return
    text = text_in(row, "ReqMem")
    by = text[-1:].lower()
    try:
        if by in ("n", "c"):
            amount = megabytes(text[:-1], "ReqMem", job.where)
            if amount or by == "n":  # none per node is all of it, as with --mem=0
                setattr(job, "memory_per_node_mb" if by == "n" else "memory_per_cpu_mb", amount)
                return
        total = _tres(row, "ReqTRES").get("mem", 0)
        total = total or (megabytes(text, "ReqMem", job.where) if text and by not in "nc" else 0)
    except InputError:
        total = 0
    given = _tres(row, "AllocTRES")
    is_open = job.min_nodes < 0 and job.tasks > 1
    if total and is_open and not _is_by_node(total, given.get("mem", 0), fewest, job.nodes):
        job.memory_per_cpu_mb = -(-total // (job.tasks * max(job.cpus_per_task, 1)))
        if not given or "mem" in given:  # else memory counts for nothing there
            filled.note(BY_CPUS, job.job_id)
    elif total:
        job.memory_per_node_mb = -(-total // fewest)
        if fewest > 1:
            filled.note("memory is of the whole job in the log: an equal part on each node",
                        job.job_id)
    else:
        filled.note("no memory asked for in the log: the partition's default", job.job_id)


def _is_by_node(asked: int, given: int, fewest: int, nodes: int) -> bool:
    """Say whether a total of `fewest` nodes grew with the nodes that the job had."""
    return nodes > fewest and given * fewest == asked * nodes


def _gres(row: Row, job: AskedJob, told: set[str], filled: Counter, fewest: int) -> None:
    if told & {"gres", "gpus", "gpus-per-node", "gpus-per-task"}:
        return
    kinds, given = _devices(row, "ReqTRES"), _devices(row, "AllocTRES")
    if not kinds:
        kinds, fewest = given, max(1, job.nodes)
    # "gres/gpu=4,gres/gpu:a100=4" says one thing twice.
    typed = {kind for kind, model in kinds if model}
    kinds = {key: number for key, number in kinds.items() if key[1] or key[0] not in typed}
    for key, number in kinds.items():
        is_open = job.nodes < 1 and job.max_nodes < 0
        in_all = is_open or (job.nodes > fewest and not _is_by_node(
            number, given.get(key, 0), fewest, job.nodes))
        if number % fewest == 0 and not in_all:
            job.gres_per_node[key] = number // fewest
            if number and fewest > 1:
                filled.note(EQUAL_PARTS, job.job_id)
        elif number:
            job.gres_per_job[key] = number


def _devices(row: Row, column: str) -> dict[tuple[str, str], int]:
    """By kind and model of the cell."""
    found = {}
    for name, number in _tres(row, column).items():
        if name.startswith("gres/"):
            kind, _, model = name.removeprefix("gres/").partition(":")
            found[kind, model] = number
    return found


def _licences(row: Row, job: AskedJob, told: set[str], unused: Counter) -> None:
    if "licenses" in told:
        return
    job.licences = {name: int(number)
                    for name, number in _LICENCE.findall(text_in(row, "ReqTRES"))}
    if not job.licences and (listed := text_in(row, "Licenses")):
        try:
            apply_options(job, Options({"licenses": listed}), job.where)
        except InputError:
            unused.note("its Licenses cannot be read", job.job_id)


def _power(row: Row, job: AskedJob, filled: Counter) -> None:
    """Mean watts per node; whether they are the job's alone is known with its machine.

    They are of the time in which it ran, as it draws nothing in the twin while it is suspended.
    """
    energy_j = job_joules(row)
    ran_s = job.end_s - job.start_s - job.suspended_s
    if ran_s > 0 and job.nodes > 0:
        put_watts(job, energy_j / ran_s / job.nodes, is_empty=True)
        if energy_j > 0 and job.suspended_s > 0:
            filled.note("was suspended: all of its joules count for the time in which it ran",
                        job.job_id)
