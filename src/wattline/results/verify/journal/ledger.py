"""Joules of jobs by a journal beside those of the measured ledger.

Both come from the meters of nodes, on two ways: a controller adds up what it hears between two
looks, the ledger divides each node's readings by the times at which jobs came and went.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from wattline.results.verify._base import Counted, Finding, Skipped, Verdicts
from wattline.results.verify.journal.account import LATE_S, REACTION_S, ROUGH, Account, Over

WHOLE = 0.99
"""Part of a job's node-seconds that its readings cover where its joules are known."""


@dataclass(frozen=True)
class LedgerJob:
    """A job that the ledger has, in one of its runs."""

    label: str
    start_s: float
    end_s: float
    energy_j: float
    coverage: float
    """Part of its node-seconds of which the readings of its nodes tell."""
    from_meters: bool = True
    """False where Slurm's own figure counts."""


def ledger(account: Account, jobs: Iterable[LedgerJob]) -> Verdicts:
    """Each job that ended with joules of its meters has the same in the ledger."""
    if not account.has_whole_nodes:
        yield Skipped("jobs share nodes: the ledger divides what a node drew by processor time")
        return
    known: dict[str, list[LedgerJob]] = {}
    for job in jobs:
        known.setdefault(job.label, []).append(job)
    compared = 0
    for over in account.over:
        found = _same(over, known.get(_label(over.job), []))
        if found is None:
            continue
        compared += 1
        allowed_j = ROUGH * max(over.energy_j, found.energy_j) + LATE_S * over.most_w
        if abs(over.energy_j - found.energy_j) > allowed_j:
            number = int(over.job) if over.job.isdecimal() else None
            yield Finding(f"line {over.line} ({over.time_s:.10g} s): job {over.job} ends with "
                          f"{over.energy_j:.10g} J, and the ledger has {found.energy_j:.10g} J",
                          number, over.time_s)
    yield Counted(compared, len(account.over))


def _same(over: Over, lives: list[LedgerJob]) -> LedgerJob | None:
    """The run of a job that ended then, if the ledger knows its joules by meters."""
    ended = [job for job in lives if abs(job.end_s - over.time_s) <= REACTION_S]
    if len(ended) != 1 or not ended[0].from_meters or ended[0].coverage < WHOLE:
        return None
    return ended[0]


def _label(name: str) -> str:
    """The number that Slurm knows a job by: a run after a requeue has `.1` behind it, one that
    came back under its number `~1`."""
    return re.split(r"[.~]", name, maxsplit=1)[0]
