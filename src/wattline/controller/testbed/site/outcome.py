"""What Slurm's accounting says of a replayed run: one row per job, times from the beginning."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from wattline.controller.testbed.site.submissions import Submission
from wattline.live.slurm.reading import moment_s

FIELDS = ("JobIDRaw,State,Account,User,Partition,QOS,Submit,Eligible,Start,End,AllocNodes,"
          "AllocCPUS,NodeList")


@dataclass(frozen=True)
class RunJob:
    """A job of a run; NaN where it never started."""

    job: str
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
    """The last life of each job, in the order of submission."""
    found: dict[int, RunJob] = {}
    for line in text.splitlines():
        cells = line.split("|")
        asked = labels.get(cells[0])
        if asked is None or len(cells) < len(FIELDS.split(",")):
            continue
        submit_s, eligible_s, start_s, end_s = (moment_s(cell) - begin_s for cell in cells[6:10])
        found[asked.number] = RunJob(
            job=asked.name, number=asked.number, state=cells[1].split()[0], account=cells[2],
            user=cells[3], partition=cells[4], qos=cells[5], tasks=asked.tasks, asks=asked.asks,
            asked_s=asked.at_s, submit_s=submit_s, eligible_s=eligible_s, start_s=start_s,
            end_s=end_s, nodes=int(cells[10]), cpus=int(cells[11]), node_list=cells[12])
    return [found[number] for number in sorted(found)]


def write_run(file: Path, jobs: list[RunJob]) -> None:
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([each.name for each in fields(RunJob)])
        writer.writerows(astuple(job) for job in jobs)
