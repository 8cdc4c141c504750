"""Jobs from `.events` files: `-dt 49 -e submit_batch_job | -J jobid_2 -sim-walltime 30 -n 12 ...`.

`-dt` is seconds from the beginning of the file. `-sim-walltime` is how long the job runs: -1 into
its limit, 0 it ends at once. The tasks of an array (`-a 1-9:2%2`) all run that long.

Jobs are called as `site.event_ids` says; tasks have Slurm's `%A_%a`: 12_1, 12_3, ...
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.reading import log_text, read_unpacked
from wattline.scenario.twin.asked import (
    NEVER_ENDS_S,
    PART_OF_SEVERAL,
    AskedJob,
    Counter,
    Log,
)
from wattline.scenario.twin.options import apply_options
from wattline.scenario.twin.settings import number
from wattline.shared_nodes.in_partition import LONGEST_S
from wattline.site.event_ids import own_id
from wattline.site.het_jobs import options_of_parts
from wattline.site.sbatch import IGNORED, Options, array_of

_OURS = ("sim-walltime",)
MOST_S = 1e10
NO_TIME = "no -sim-walltime on its line: it ends at once"
NO_SCRIPT = "its line names no script, as others do, and may be cut off: taken as it stands"


def read_events(path: str | Path) -> Log:
    """The submissions of a file, also packed (.xz, .gz)."""
    text = log_text(read_unpacked(path)[0], path)
    jobs: list[AskedJob] = []
    left_out, said = Counter(), _Said()
    submissions = 0
    for at, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        where = f"{path}:{at}"
        head, bar, tail = line.partition("|")
        event = _head(head, where)
        if event["e"] not in ("submit_batch_job", "sbatch"):
            left_out.note(f"event {event['e']} is no submission", f"line {at}")
            continue
        if not bar:
            raise InputError(f"{where}: has no '|' after which the options of sbatch stand")
        submissions += 1
        jobs += _jobs(event, tail, where, submissions, said)
    if not jobs:
        raise InputError(f"{path}: has no submission; a line is like '-dt 0 -e submit_batch_job | "
                         "-n 12 -t 00:07:00 -sim-walltime 15'")
    assumed = _check_ids(jobs)
    unused, filled = said.by_job(jobs)
    jobs.sort(key=lambda job: job.submit_s)
    return Log(jobs, str(path), None, filled.lines(), left_out.lines(), unused.lines(), False,
               filled.counts(), filled.ids(), filled, unused, assumed)


@dataclass
class _Said:
    """Remarks on lines; jobs get their last ids when all lines are read."""

    unused: list[tuple[str, str]] = field(default_factory=list)
    """The place of a line, and an option of it that nothing is done with."""
    no_time: set[str] = field(default_factory=set)
    """Places of lines that do not say how long their jobs run."""
    no_script: set[str] = field(default_factory=set)
    """Places of lines that end with an option."""
    parts: set[str] = field(default_factory=set)
    """Places of heterogeneous jobs."""

    def by_job(self, jobs: Iterable[AskedJob]) -> tuple[Counter, Counter]:
        unused, filled = Counter(), Counter()
        job_of: dict[str, str] = {}
        jobs = list(jobs)
        usual = len(self.no_script) < len({job.where for job in jobs})
        for job in jobs:
            job_of.setdefault(job.where, job.array or job.job_id)
            if job.where in self.parts:
                unused.note(PART_OF_SEVERAL, job.job_id)
            if job.where in self.no_time:
                filled.note(NO_TIME, job.job_id)
            if usual and job.where in self.no_script:
                filled.note(NO_SCRIPT, job.job_id)
        for where, option in self.unused:
            unused.note(f"nothing is done with the option {option}", job_of[where])
        return unused, filled


def _head(text: str, where: str) -> dict[str, str]:
    words = text.split()
    found = {"e": "", "dt": ""}
    for option, value in zip(words[::2], words[1::2], strict=False):
        found[option.lstrip("-")] = value
    if not found["dt"] or not found["e"]:
        raise InputError(f"{where}: a line is like '-dt 0 -e submit_batch_job | OPTIONS'; this one "
                         f"begins with '{text.strip()[:40]}'")
    return found


def _jobs(event: dict[str, str], tail: str, where: str, line: int, said: _Said) -> list[AskedJob]:
    """The job of a line, the so many-th submission, or all tasks of its array."""
    submit_s = number(event["dt"], "-dt", where)
    if not 0 <= submit_s <= MOST_S:
        raise InputError(f"{where}: -dt is {event['dt']}, must be from 0 to {MOST_S:g}")
    try:
        # Taking quotes apart is slow, and most lines have none.
        words = shlex.split(tail) if re.search(r"[\"'\\]", tail) else tail.split()
    except ValueError as error:
        raise InputError(f"{where}: cannot be taken apart: {str(error).lower()}") from None
    parts = options_of_parts(words, where, _OURS)
    if not parts[-1].rest or parts[-1].rest[0] == "-":
        said.no_script.add(where)
    script = (parts[-1].rest or ("sbatch",))[0].rpartition("/")[2]
    found: list[AskedJob] = []
    for part, options in enumerate(parts):
        job = _job(options, submit_s, where, line, said, script)
        if len(parts) > 1:
            job.job_id = f"{job.job_id}+{part}"
            said.parts.add(where)
        found += _tasks(job, options.get("array"), where)
    return found


def _job(options: Options, submit_s: float, where: str, line: int, said: _Said,
         script: str) -> AskedJob:
    run_s = number(options.get("sim-walltime") or "0", "-sim-walltime", where)
    if options.get("sim-walltime") is None:
        said.no_time.add(where)
    if run_s > MOST_S:
        raise InputError(f"{where}: -sim-walltime is {run_s:g}, must be at most {MOST_S:g}")
    job = AskedJob(own_id(options.get("job-name") or "", line), submit_s,
                   NEVER_ENDS_S if run_s < 0 else run_s, user=options.get("uid") or "", where=where,
                   name=script)
    unread = apply_options(job, options, where)
    # Over the time of every partition that has one, where it waits as one with too long a limit.
    job.limit_s = min(job.limit_s, LONGEST_S)
    for option in unread:
        if option not in IGNORED and option not in _OURS:
            said.unused.append((where, option))
    return job


def _tasks(job: AskedJob, array: str | None, where: str) -> list[AskedJob]:
    """List the tasks of a job's array, or the job alone."""
    if array is None:
        return [job]
    job.array = job.job_id
    return [replace(job, job_id=f"{job.job_id}_{task}") for task in array_of(array, where)[0]]


def _check_ids(jobs: list[AskedJob]) -> tuple[str, ...]:
    """Where names give no number of their own, lines are counted, which is said."""
    line = {where: number for number, where in enumerate(
        dict.fromkeys(job.where for job in jobs), start=1)}
    # Of an array its own id: a job 7 beside tasks 7_1 and 7_2 would be meant by `afterok:7` too.
    if len({_line_id(job) for job in jobs}) == len(line):
        return ()
    first: dict[str, str] = {}
    twice = next(job for job in jobs
                 if first.setdefault(_line_id(job), job.where) != job.where)
    said = (f"{twice.where}: job {_line_id(twice)} is also that of "
            f"{first[_line_id(twice)]}: all jobs are called by their place among the "
            "submissions")
    for job in jobs:
        number = str(line[job.where])
        if "+" in job.job_id:
            number += f"+{job.job_id.partition('+')[2].partition('_')[0]}"
        if job.array:
            job.array, number = number, f"{number}_{job.job_id.partition('_')[2]}"
        job.job_id = number
    return (said,)


def _line_id(job: AskedJob) -> str:
    """Return its submission's id: of all tasks of an array, all parts of a heterogeneous job."""
    return (job.array or job.job_id).partition("+")[0]
