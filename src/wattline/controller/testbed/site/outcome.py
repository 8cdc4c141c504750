"""What Slurm's accounting says of a replayed run: one row per job, times from the beginning."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

from wattline.controller.testbed.site.submissions import Submission
from wattline.live.slurm.reading import moment_s

FIELDS = ("JobID,State,Account,User,Partition,QOS,Submit,Eligible,Start,End,AllocNodes,"
          "AllocCPUS,NodeList")


_PARTS = re.compile(r"([0-9]*)([_+]?)(.*)")
"""Of a JobID: 12, 12_3, 12+1."""


@dataclass(frozen=True)
class RunJob:
    """A job of a run; NaN where it never started."""

    job: str
    job_id: str
    """As the file calls it, with the task of an array: 12, 12_3."""
    number: int
    state: str
    account: str
    user: str
    partition: str
    qos: str
    tasks: int
    asks: str
    """What of a node it asks for that not every job does."""
    asked_s: float
    """When the file says that it is submitted."""
    submit_s: float
    eligible_s: float
    start_s: float
    end_s: float
    nodes: int
    cpus: int
    node_list: str


def read_accounting(
    text: str, labels: Mapping[str, Submission], begin_s: float
) -> list[RunJob]:
    """A row for each job, task of an array and part of a heterogeneous job, as they were submitted.

    Of a job that was requeued `sacct -D` has every life: it was submitted with the first, and its
    start, end and nodes are those of the last.
    """
    found: dict[tuple[int, int], RunJob] = {}
    for line in text.splitlines():
        cells = line.split("|")
        base, sign, task = _PARTS.match(cells[0]).groups()  # type: ignore[union-attr]
        asked = labels.get(base)
        if asked is None or len(cells) < len(FIELDS.split(",")) or not (task or "0").isdecimal():
            continue  # tasks that were never made stand together, as 12_[3-5]
        submit_s, eligible_s, start_s, end_s = (moment_s(cell) - begin_s for cell in cells[6:10])
        ended = f"{sign}{task}"
        life = RunJob(
            job=f"{asked.name}{ended}", job_id=f"{asked.job_id}{ended}", number=asked.number,
            state=cells[1].split()[0], account=cells[2], user=cells[3], partition=cells[4],
            qos=cells[5], tasks=asked.tasks, asks=asked.asks, asked_s=asked.at_s,
            submit_s=submit_s, eligible_s=eligible_s, start_s=start_s, end_s=end_s,
            nodes=int(cells[10]), cpus=int(cells[11]), node_list=cells[12])
        key = (asked.number, int(task or 0))
        found[key] = _as_one(found[key], life) if key in found else life
    return [found[key] for key in sorted(found)]


def _as_one(one: RunJob, other: RunJob) -> RunJob:
    """Two lives of a job: submitted with the first, run in the last."""
    first, last = sorted((one, other), key=lambda life: life.submit_s)
    return replace(last, submit_s=first.submit_s, eligible_s=first.eligible_s)


def write_run(file: Path, jobs: list[RunJob]) -> None:
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([each.name for each in fields(RunJob)])
        writer.writerows(astuple(job) for job in jobs)
