"""Decide mode on shared nodes: the twin's own decision for this instant.

Slurm's rules, as the machine file has them, choose who of the held jobs starts now and on which
nodes, under the cap. What was decided is on disk, with the picture that it was made from, before
anything is done about it.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wattline.controller.sharing.picture import Picture, asked
from wattline.scenario.twin.asked import Log
from wattline.scenario.twin.section import TwinSection
from wattline.scenario.twin.site import site_with
from wattline.shared_nodes.instant import Placed, starts_now


@dataclass(frozen=True)
class SharedStart:
    """A job that is to start now, and where."""

    label: str
    nodes: tuple[str, ...]
    cpus: tuple[int, ...]
    watts: float
    """Added by it to what its nodes draw idle."""


@dataclass(frozen=True)
class SharedDecision:
    """Who starts, and what must be known of jobs that never will."""

    starts: tuple[SharedStart, ...]
    unfit: tuple[str, ...] = ()


def decided(section: TwinSection, picture: Picture, names: Iterable[str]) -> SharedDecision:
    """By Slurm's rules, on these nodes of the machine: others are as if they were not there."""
    jobs = sorted(picture.jobs, key=lambda job: job.submit_s)
    if not any(not job.held for job in jobs):
        return SharedDecision(())
    base_s = jobs[0].submit_s
    site = site_with(section, Log([asked(job, base_s) for job in jobs], "the queue", base_s))
    nodes = site.machine.nodes
    row_of = {name: row for row, name in enumerate(nodes.names)}
    ours = set(names)
    outside_w = float(sum(nodes.idle_w[row] for name, row in row_of.items() if name not in ours))
    placed = {at: Placed([row_of[name] for name in job.held], list(job.held.values()),
                         job.start_s - base_s)
              for at, job in enumerate(jobs) if job.held and set(job.held) <= set(row_of)}
    gone = [row for name, row in row_of.items() if name not in ours or name in picture.down]
    found = starts_now(site.machine, site.made.requests, site.rules, placed,
                       picture.time_s - base_s, cap_w=picture.cap_w + outside_w,
                       drawn_w=picture.drawn_w + outside_w, down=gone)
    return SharedDecision(
        tuple(SharedStart(jobs[each.job].label, tuple(nodes.names[row] for row in each.nodes),
                          each.cpus, each.watts)
              for each in found if not jobs[each.job].held), site.made.unfit)


DECISIONS = "decisions.jsonl"
"""Where a controller's folder has them."""
BEFORE = ".before"
"""How the name of the file ends that a large one was put away as."""


class Decisions:
    """A file of pictures and what was decided from them; a large one begins anew."""

    def __init__(self, file: Path, largest_bytes: float = math.inf) -> None:
        self.file, self.largest_bytes = file, largest_bytes

    def write(self, picture: Picture, starts: Sequence[SharedStart]) -> None:
        from wattline.controller.remembering import synced

        if self.file.exists() and self.file.stat().st_size > self.largest_bytes:
            self.file.replace(self.file.with_suffix(BEFORE))
        line = json.dumps({"picture": picture.to_dict(),
                           "starts": [[each.label, list(each.nodes)] for each in starts]})
        with self.file.open("a", encoding="utf-8") as file:
            synced(file, ("\n" if self._torn else "") + line + "\n")

    @property
    def _torn(self) -> bool:
        """Whether a writer was killed within its last line: the next one does not go on with it."""
        if not self.file.exists() or not self.file.stat().st_size:
            return False
        with self.file.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read() != b"\n"
