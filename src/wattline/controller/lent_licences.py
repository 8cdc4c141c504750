"""Licences of running jobs, where they hold more of them than the cap leaves for all.

A job that a policy slows, or whose unused watts are lent to others, holds as many licences as it
claims. There are never more than the cap: so it holds as many as are counted for it, as long as
others need the rest, and its claim again once there is room, once it waits, and once Slurm starts
jobs by licences alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from wattline.controller.suspended_jobs import free_licences
from wattline.controller.writings import Written
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import ACTIVE, ENDING, STARTING, WAITING, WATTS, SlurmJob

if TYPE_CHECKING:
    from wattline.controller.controller import Controller


@dataclass
class LentLicences:
    """Changes as many licences of running jobs as the cap needs."""

    controller: Controller
    failed: set[str] = field(default_factory=set)
    """Labels of jobs of which it was said that Slurm does not change them."""
    _begun: dict[str, float] = field(default_factory=dict)
    """Starts that were seen here: what these wrote on jobs no look has shown before."""

    def fit(self, cap_w: float) -> None:
        """Let all jobs together hold no more than the cap, where what is counted allows it."""
        claims, elsewhere_w = self._claims()
        self._begun = {name: at_s for name, at_s in self._begun.items() if name in claims}
        counted = {name: min(claim, max(math.floor(booked_w), 1)) if not math.isnan(
            booked_w := self.controller.watcher.booked_w(name)) else claim
            for name, claim in claims.items()}
        over_w = sum(claims.values()) + elsewhere_w - cap_w
        held = dict(claims)
        for name in sorted(claims, key=lambda name: counted[name] - claims[name]):
            if over_w <= 0.0:
                break
            held[name] = counted[name]
            over_w -= claims[name] - counted[name]
        self._write(held, claims)
        self._restore_waiting()

    def restore(self) -> None:
        """Give each job its claim again: Slurm starts others by what is left."""
        claims, _ = self._claims()
        self._write(claims, claims)
        self._restore_waiting()

    def _claims(self) -> tuple[dict[str, int], float]:
        """By name what jobs that were started from here claim, and what all others hold."""
        watcher = self.controller.watcher
        found = {}
        for name, told in watcher.told.items():
            # Slurm changes none of a suspended job: those that are free are allowed beside.
            if (told.running and not told.idles and told.row is not None
                    and told.label in watcher.written):
                written = watcher.written[told.label]
                claim = written.claim(told.row, starting=not math.isnan(told.asked_s))
                if claim is not None:
                    found[name] = claim
        labels = {watcher.told[name].label for name in found} | free_licences(watcher).keys()
        return found, sum(job.licenses.get(WATTS, 0) for job in watcher.seen if job.node_list
                          and job.state in (*ACTIVE, *STARTING, *ENDING)
                          and job.label not in labels)

    def _write(self, held: Mapping[str, int], claims: Mapping[str, int]) -> None:
        watcher = self.controller.watcher
        changes = {name: replace(watcher.written[watcher.told[name].label],
                                 lent=watts if watts != claims[name] else None)
                   for name, watts in held.items() if watts != self._now(name, claims[name])}
        if not changes:
            return
        before = dict(watcher.written)
        watcher.written |= {watcher.told[name].label: each for name, each in changes.items()}
        self.controller.hands.keep_written(watcher.written)
        # First those that hold fewer: their watts are what others get.
        for name in sorted(changes, key=lambda name: held[name] - claims[name]):
            row = watcher.told[name].row
            if row is not None and not self._license(row, held[name]):
                watcher.written[row.label] = before[row.label]

    def _now(self, name: str, claim: int) -> int:
        """Return a job's licences: as its start has just written, or as the last look shows."""
        told = self.controller.watcher.told[name]
        if not math.isnan(told.asked_s) and self._begun.get(name) != told.asked_s:
            self._begun[name] = told.asked_s
            return claim
        return claim if told.row is None else told.row.licenses.get(WATTS, claim)

    def _restore_waiting(self) -> None:
        """A job that was queued again waits with what it claims."""
        watcher = self.controller.watcher
        if any(each.lent is not None for each in watcher.written.values()):
            restore_lent(self.controller.slurm, (
                job for job in watcher.seen if job.state in WAITING and not (
                    (told := watcher.told.get(watcher.name(job))) and told.running)),
                watcher.written)

    def _license(self, row: SlurmJob, watts: int) -> bool:
        try:
            self.controller.slurm.license(row, watts)
        except SlurmError as error:
            if row.label not in self.failed:
                self.failed.add(row.label)
                self.controller.notes.append(
                    f"job {row.label} keeps its licences called {WATTS}: {error}")
            return False
        self.failed.discard(row.label)
        return True


def restore_lent(
    slurm: Slurm, jobs: Iterable[SlurmJob], written: Mapping[str, Written]
) -> Sequence[SlurmJob]:
    """Give jobs the licences again that they claim; the jobs with these."""
    found = []
    for job in jobs:
        mine = written.get(job.label)
        claimed = job if mine is None else mine.as_claimed(job)
        if claimed.licenses != job.licenses and job.state in (*ACTIVE, *STARTING, *WAITING):
            with suppress(SlurmError):  # it may have gone: it counts with its claim all the same
                slurm.license(job, claimed.licenses[WATTS])
        found.append(claimed)
    return tuple(found)
