"""The rules for journals, and `verify_journal`, which judges one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from wattline.results.verify._base import Counted, Finding, Judged, Skipped, Verdicts
from wattline.results.verify.journal._reading import Lines, is_journal, read
from wattline.results.verify.journal.account import REACTION_S, Account, remarks
from wattline.results.verify.journal.ledger import LedgerJob, ledger
from wattline.results.verify.judge import Verification

__all__ = ["is_journal", "verify_journal"]

RULES = {
    "lines": "checksums fit, and no line is missing",
    "time": "time does not go back",
    "events": "what is told of a job fits what was told before",
    "orders": "orders are of jobs that can carry them out, and each start is ordered once",
    "nodes": "no node is given twice, or while it is out of order",
    "units": "jobs hold no more nodes than there are",
    "cap": "no start takes the machine above its cap, by the power that was expected or measured",
    "measured": f"the machine is not measured above its cap for more than {REACTION_S:g} s",
    "carried-out": f"starts are seen or taken back within {REACTION_S:g} s, on their nodes",
    "energy": "joules of a job by its meters grow, by what its nodes can draw, and at its end are "
              "no less than they draw idle",
    "licences": "no job takes Slurm's licences of watts with which more are held than the cap",
    "ledger": "jobs end with the joules that the ledger has of them",
}


def verify_journal(
    path: Path | str, jobs: Iterable[LedgerJob] | None = None
) -> Verification:
    """Judge a journal of a controller or of a simulation by its own lines.

    Where `jobs` of the measured ledger are given, joules of both are compared;
    `wattline sensors compare` puts meters side by side.
    """
    lines = read(path)
    account = Account(lines)
    account.follow()
    found: list[Finding] = []
    judged: list[Judged] = []
    skipped: list[Skipped] = []
    for code, title in RULES.items():
        rule = f"journal.{code}"
        before, counted = len(skipped), Counted(None, None)
        for remark in _remarks(code, lines, account, jobs):
            if isinstance(remark, Finding):
                found.append(replace(remark, rule=rule))
            elif isinstance(remark, Skipped):
                skipped.append(replace(remark, rule=rule))
            else:
                counted = remark
        if len(skipped) == before:
            judged.append(Judged(rule, title, counted.decisions, counted.of))
    return Verification(tuple(found), tuple(judged), tuple(skipped))


def _remarks(
    code: str, lines: Lines, account: Account, jobs: Iterable[LedgerJob] | None
) -> Verdicts:
    if code == "lines":
        yield from _lines(lines)
    elif code != "ledger":
        yield from remarks(account, code)
    elif jobs is not None:
        yield from ledger(account, jobs)
    else:
        yield Skipped("it stands in another file, which was not given (--store)")


def _lines(lines: Lines) -> Verdicts:
    if lines.damaged:
        yield Finding(f"the checksum of line {lines.damaged[0]} does not fit, of "
                      f"{len(lines.damaged):,} in all")
    if not lines.is_complete:
        yield Skipped("it has no last line: its writer still runs or was killed, or lines were "
                      "lost")
