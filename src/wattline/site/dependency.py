"""`sbatch --dependency`: what a job waits for, as it stands on a line. See sbatch(1)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wattline.model.errors import InputError
from wattline.site.sbatch import array_of

KINDS = ("afterany", "afterok", "afternotok", "after", "aftercorr", "afterburstbuffer", "expand")
SINGLETON = "singleton"
_JOB = re.compile(r"([0-9]{1,15})(?:_([0-9]{1,15}|\*|\[[0-9,:-]+\]))?(?:\+([0-9]{1,9}))?"
                  r"(?:\([a-z]*\))?")


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that must have happened; of a singleton the other jobs are those of its name."""

    kind: str
    job_id: str = ""
    """`12`, a task `12_3`, or all tasks of an array, `12_*`."""
    delay_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Dependency:
    conditions: tuple[Condition, ...]
    any_of: bool
    """One of them is enough."""


def dependency_of(text: str, where: str) -> Dependency:
    """`afterok:1:2,afterany:3`: all of them; with `?` instead of `,` one is enough."""
    if text.strip() in ("", "0"):
        return Dependency((), False)
    parts = re.split(r"([,?])(?![^\[]*\])", text.strip())
    found = [condition for part in parts[::2] for condition in _conditions(part, text, where)]
    return Dependency(tuple(found), "?" in parts[1::2])


def renamed(dependency: Dependency, ids: Mapping[str, str]) -> tuple[str, list[str]]:
    """The text of it with other ids of jobs, and those that have none.

    What waits for one of these waits for nobody; where one condition is enough, it waits no more.
    """
    unknown = [each.job_id for each in dependency.conditions
               if each.kind != SINGLETON and each.job_id.partition("_")[0] not in ids]
    if unknown and dependency.any_of:
        return "", unknown
    said = []
    for each in dependency.conditions:
        job, line, task = each.job_id.partition("_")
        if each.kind == SINGLETON:
            said.append(SINGLETON)
        elif job in ids:
            late = f"+{each.delay_s / 60.0:g}" if each.delay_s else ""
            said.append(f"{each.kind}:{ids[job]}{line}{task}{late}")
    return ("?" if dependency.any_of else ",").join(said), unknown


def _conditions(part: str, text: str, where: str) -> Iterator[Condition]:
    word, colon, ids = part.partition(":")
    kind = word.lower()
    if not colon and kind == SINGLETON:
        yield Condition(SINGLETON)
        return
    if not colon and _JOB.fullmatch(part):
        kind, ids = "afterany", part  # "This is the default dependency type"
    matches = [_JOB.fullmatch(one) for one in ids.split(":")]
    if kind not in KINDS or None in matches:
        raise InputError(f"{where}: dependency is '{text[:40]}', must be like afterok:12:13, "
                         "afterok:12?afterany:13, after:12+5 or singleton")
    for job_id, task, minutes in (match.groups() for match in matches if match is not None):
        for name in _names(job_id, task, where):
            yield Condition(kind, name, 60.0 * int(minutes or 0))


def _names(job_id: str, task: str | None, where: str) -> list[str]:
    """`12_[3-4]` is 12_3 and 12_4."""
    if task is None:
        return [job_id]
    tasks = map(str, array_of(task[1:-1], where)[0]) if task[0] == "[" else [task]
    return [f"{job_id}_{each}" for each in tasks]
