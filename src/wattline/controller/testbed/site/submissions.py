"""Submissions of an `.events` file: when, by whom, with which options of sbatch, for how long."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wattline.model.errors import InputError
from wattline.site.dependency import dependency_of, renamed
from wattline.site.event_ids import event_ids

SPECIAL = (("--constraint", "-C"), ("--gres", ""), ("--gpus", "-G"), ("--mem", ""),
           ("--exclusive", ""))
FOREVER_S = 10 * 365 * 86400


@dataclass(frozen=True)
class Submission:
    """One line of the file."""

    number: int
    name: str
    at_s: float
    """Seconds after the first of the file's clock."""
    run_s: float
    """Infinite for a job that runs until its limit ends it."""
    options: tuple[str, ...]
    """Those of sbatch, as they stand in the file."""
    job_id: str = ""
    """By which others of the file wait for it; a real Slurm gives it another."""

    @property
    def user(self) -> str:
        return self.option("--uid") or "root"

    @property
    def tasks(self) -> int:
        said = self.option("--ntasks", "-n")
        return int(said) if said.isdecimal() else 1

    @property
    def asks(self) -> str:
        """What of a node it asks for that not every job does; empty for nothing of the kind."""
        named = ((long, self.option(long, short)) for long, short in SPECIAL)
        return " ".join(f"{long.lstrip('-')}={value}" for long, value in named if value)

    def options_with(self, ids: Mapping[str, str]) -> tuple[tuple[str, ...], list[str]]:
        """Its options where jobs of the file have these ids in Slurm, and the unknown among those
        that it waits for: it does not wait for them, as in the twin.

        A dependency names jobs by the ids of the file, which are not those that sbatch answers: an
        array takes a number for each of its tasks.
        """
        kept: list[str] = []
        unknown: list[str] = []
        words = iter(self.options)
        for word in words:
            value = _dependency_in(word)
            if value is None:
                kept.append(word)
                continue
            said, missing = renamed(dependency_of(value or next(words, ""), self.name), ids)
            unknown += missing
            kept += [f"--dependency={said}"] if said else []
        return tuple(kept), unknown

    def option(self, *names: str) -> str:
        """The value of an option by any of its names; empty where it is not given."""
        for place, word in enumerate(self.options):
            if word in names and place + 1 < len(self.options):
                return self.options[place + 1]
            name, equals, value = word.partition("=")
            if equals and name in names:
                return value
        return ""

    @property
    def script(self) -> str:
        """What the job does: it sleeps."""
        seconds = FOREVER_S if math.isinf(self.run_s) else self.run_s
        return f"#!/bin/sh\nexec sleep {seconds:g}\n"


def read_submissions(file: Path) -> list[Submission]:
    """All submissions of a file, in its order."""
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            found.append(_submission(file, number, line))
    if not found:
        raise InputError(f"{file}: it has no submissions; a line is like "
                         "'-dt 0 -e submit_batch_job | -J j1 -sim-walltime 9 -n 1 job.sh'")
    ids = event_ids([each.option("-J", "--job-name") for each in found])
    return [replace(each, job_id=job_id) for each, job_id in zip(found, ids, strict=True)]


def _dependency_in(word: str) -> str | None:
    """The value of a dependency in a word; empty where the next word has it."""
    name, equals, value = word.partition("=")
    if len(name) > 4 and "--dependency".startswith(name):
        return value if equals else ""
    if word.startswith("-d"):
        return word[2:].removeprefix("=")
    return None


def _submission(file: Path, number: int, line: str) -> Submission:
    when, bar, what = line.partition("|")
    words = shlex.split(what)
    before = shlex.split(when)
    if not bar or "submit_batch_job" not in before or not words:
        raise InputError(f"{file}, line {number}: only submissions are read, '-dt SECONDS -e "
                         "submit_batch_job | OPTIONS SCRIPT'")
    try:
        at_s = float(_value(before, "-dt"))
        run_s = float(_value(words, "-sim-walltime"))
    except ValueError:
        raise InputError(f"{file}, line {number}: -dt and -sim-walltime want seconds") from None
    place = words.index("-sim-walltime")
    options = tuple(words[:place] + words[place + 2:-1])
    made = Submission(number, f"line{number}", at_s, math.inf if run_s < 0 else run_s, options)
    return Submission(number, made.option("-J", "--job-name") or made.name, at_s, made.run_s,
                      options)


def _value(words: Sequence[str], name: str) -> str:
    try:
        return words[words.index(name) + 1]
    except (ValueError, IndexError):
        raise ValueError(name) from None
