"""A site's machine on a real Slurm, several times over the same submissions.

A real Slurm does not repeat itself: its loops have another phase against the submissions each
time. So one run is no truth; several are, with how far they lie apart.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from wattline.controller.testbed.bed import check_machine
from wattline.controller.testbed.daemons import program
from wattline.controller.testbed.layout import Bed, lay_out
from wattline.controller.testbed.site.daemons import SiteDaemons
from wattline.controller.testbed.site.outcome import FIELDS, RunJob, read_accounting, write_run
from wattline.controller.testbed.site.submissions import Submission, read_submissions
from wattline.controller.testbed.site.translating import SiteFiles, read_site
from wattline.model.errors import InputError, WattlineError
from wattline.model.progress import Advance, silent

LATEST_S = 7200.0
"""So long jobs may take after the last submission."""
STEP_S = 13.0
"""So much later than the run before each begins after its daemons are up: another phase."""
SUMMARY = "replay.json"
KEPT_LOGS = ("slurmctld.log", "sacctmgr.log")


@dataclass
class ReplayedRun:
    """One run: what became of each job, and what the machine was like meanwhile."""

    number: int
    jobs: list[RunJob] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    not_awaited: list[str] = field(default_factory=list)
    """Jobs that wait for others which are not among the submissions before them."""
    begin_s: float = math.nan
    """Unix time of the file's 0."""
    up_s: float = math.nan
    """Unix time at which slurmctld had been started."""
    loads: list[float] = field(default_factory=list)
    """Load averages of the last minute, every minute."""
    late_s: list[float] = field(default_factory=list)
    """How late each submission was made."""

    @property
    def waits_s(self) -> list[float]:
        return [job.start_s - job.submit_s for job in self.jobs if not math.isnan(job.start_s)]

    @property
    def mean_wait_s(self) -> float:
        waits = self.waits_s
        return sum(waits) / len(waits) if waits else math.nan

    def to_dict(self) -> dict[str, Any]:
        return {
            "run": self.number, "jobs": len(self.jobs), "started": len(self.waits_s),
            "refused": self.refused, "not_awaited": self.not_awaited,
            "begin_unix_s": self.begin_s,
            "begin_after_slurmctld_s": self.begin_s - self.up_s,
            "mean_wait_s": self.mean_wait_s,
            "load_mean": sum(self.loads) / max(len(self.loads), 1),
            "load_max": max(self.loads, default=0.0),
            "submission_late_s_max": max(self.late_s, default=0.0),
        }


@dataclass
class Replayed:
    """All runs, and of what they are."""

    slurm: str
    date: str
    cluster: str
    submissions: int
    replaced: tuple[str, ...]
    """Keys of the site's slurm.conf that the bed sets itself."""
    left_out: tuple[str, ...]
    runs: list[ReplayedRun] = field(default_factory=list)

    def remarks(self, files: SiteFiles) -> list[str]:
        """What is not as at the site."""
        found = ["jobs are sleeps; a -sim-walltime below 0 sleeps until the limit ends it",
                 f"set for one machine: {', '.join(self.replaced)}",
                 f"left out of {files.slurm_conf.name}: {', '.join(self.left_out) or 'nothing'}"]
        if files.gres is not None:
            found.append(f"{files.gres.name}: counts and types of Gres= in slurm.conf are emulated,"
                         " which cores they lie next to is not")
        return found

    def to_dict(self) -> dict[str, Any]:
        means = [run.mean_wait_s for run in self.runs]
        return {
            "slurm": self.slurm, "date": self.date, "cluster": self.cluster,
            "submissions": self.submissions, "replaced": list(self.replaced),
            "left_out": list(self.left_out), "mean_wait_s": means,
            "runs": [run.to_dict() for run in self.runs]}


def replay(
    files: SiteFiles, events: Path, out: Path, *, runs: int = 5, at_once: int = 1,
    first: int | None = None, progress: Advance = silent,
    say: Callable[[str], None] = lambda _: None,
) -> Replayed:
    """Run the submissions of `events` so many times; a CSV per run and Slurm's logs go to `out`.

    Times are real. All that was started is ended whatever happens, an interrupt included.
    """
    check_machine()
    submissions = read_submissions(events)[:first]
    site = read_site(files.slurm_conf)
    if out.exists() and any(out.glob("run*.csv")):
        raise InputError(f"{out} has runs already; name another folder")
    out.mkdir(parents=True, exist_ok=True)
    replayed = Replayed(_version(), date.today().isoformat(), site.cluster, len(submissions),
                        _once(site.replaced), _once(site.left_out))
    for remark in replayed.remarks(files):
        say(remark)
    stop = threading.Event()
    shares = [0.0] * runs

    def one(number: int) -> ReplayedRun:
        def come(fraction: float) -> None:
            shares[number] = fraction
            progress(sum(shares) / runs)
        return _Run(number + 1, files, submissions, out, stop, come).carried_out()

    pool = ThreadPoolExecutor(max_workers=at_once)
    try:
        waiting = [pool.submit(one, number) for number in range(runs)]
        replayed.runs.extend(each.result() for each in waiting)
    except BaseException:
        stop.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    (out / SUMMARY).write_text(json.dumps(replayed.to_dict(), indent=1), encoding="utf-8")
    return replayed


class _Stopped(WattlineError):
    """Somebody wants all runs to end."""


class _Run:
    """One bed from its start to its end."""

    def __init__(self, number: int, files: SiteFiles, submissions: Sequence[Submission],
                 out: Path, stop: threading.Event, come: Advance) -> None:
        self.submissions = submissions
        self.out = out
        self.stop = stop
        self.come = come
        self.found = ReplayedRun(number)
        site = read_site(files.slurm_conf)
        self.place = Path(tempfile.mkdtemp(prefix="site"))
        self.place.chmod(0o755)  # the scripts of jobs, which run as users of the site, lie in it
        with _choosing_ports:
            bed = lay_out(self.place / "b", len(site.names), avoid=_taken)
            _taken.update(range(bed.port, bed.node_ports[1] + 1))
        self.bed: Bed = bed
        users = sorted({each.user for each in submissions} | _users_of(files.assoc))
        self.daemons = SiteDaemons(bed, files, site, users)
        self.labels: dict[str, Submission] = {}
        self.ids: dict[str, str] = {}
        """Slurm's numbers for the jobs of the file, by their ids there."""

    def carried_out(self) -> ReplayedRun:
        try:
            self.daemons.write()
            self.daemons.start()
            self.found.up_s = (self.bed.pids / "slurmctld").stat().st_mtime
            self._submit()
            self._wait()
            self._account()
        finally:
            self._end()
        return self.found

    def _submit(self) -> None:
        """Each on its second; those of one second in the order of the file."""
        begin_s = math.ceil(time.time() + 1.0 + STEP_S * (self.found.number - 1))
        self.found.begin_s = begin_s
        for each in self.submissions:
            self._until(begin_s + each.at_s)
            try:
                self._submitted(each)
            except WattlineError as error:
                self.found.refused.append(f"{each.name}: {error}")
            self.found.late_s.append(time.time() - begin_s - each.at_s)
            self.come(0.9 * each.at_s / max(self.submissions[-1].at_s, 1.0))

    def _submitted(self, asked: Submission) -> None:
        options, unknown = asked.options_with(self.ids)
        if unknown:
            self.found.not_awaited.append(
                f"{asked.name}: {', '.join(unknown)} not submitted before it")
        said = self.daemons.ask("sbatch", "--parsable", "--output=/dev/null", "--chdir=/tmp",
                                *options, stdin=asked.script)
        number = said.strip().split(";")[0]
        self.labels[number], self.ids[asked.job_id] = asked, number

    def _wait(self) -> None:
        until_s = time.time() + LATEST_S
        while self.daemons.ask("squeue", "-h", "-o", "%i").strip():
            if time.time() > until_s:
                raise WattlineError(f"jobs were left {LATEST_S:.0f} s after the last submission")
            self._until(time.time() + 2.0)

    def _account(self) -> None:
        """Accounting is told of an end a little after the queue."""
        time.sleep(3.0)
        text = self.daemons.ask("sacct", "-n", "-X", "-D", "-a", "-P", "-S", "2000-01-01", "-o",
                                FIELDS)
        self.found.jobs = read_accounting(text, self.labels, self.found.begin_s)
        write_run(self.out / f"run{self.found.number}.csv", self.found.jobs)
        self.come(1.0)

    def _until(self, at_s: float) -> None:
        """Sleep, look at the load, and end early where all is to end."""
        while True:
            if int(time.time()) // 60 >= len(self.found.loads) + int(self.found.begin_s) // 60:
                self.found.loads.append(os.getloadavg()[0])
            left_s = at_s - time.time()
            if self.stop.wait(max(min(left_s, 5.0), 0.0)):
                raise _Stopped("the runs were stopped")
            if left_s <= 5.0:
                return

    def _end(self) -> None:
        """Nodes first, with all that their jobs run."""
        for name in self.daemons.site.names:
            self.daemons.kill_node(name)
        self.daemons.stop()
        logs = self.out / f"run{self.found.number}"
        logs.mkdir(parents=True, exist_ok=True)
        for name in KEPT_LOGS:
            if (self.bed.logs / name).exists():
                shutil.copy(self.bed.logs / name, logs / name)
        shutil.rmtree(self.place, ignore_errors=True)


_choosing_ports = threading.Lock()
_taken: set[int] = set()


def _users_of(script: Path | None) -> set[str]:
    """Users that a script of sacctmgr adds."""
    if script is None:
        return set()
    words = script.read_text(encoding="utf-8").split("\n")
    return {word.partition("=")[2].strip("\"'") for line in words
            if line.strip().lower().startswith("add user")
            for word in line.split() if word.lower().startswith("name=")}


def _version() -> str:
    """Of slurmctld itself: the commands say theirs only where a cluster is configured."""
    found = program("slurmctld")
    if found is None:
        return ""
    said = subprocess.run([found, "-V"], capture_output=True, text=True, check=False).stdout
    return said.strip().removeprefix("slurm-wlm ")


def _once(keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(keys))
