"""Submissions of an `.events` file: when, by whom, with which options of sbatch, for how long."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wattline.model.errors import InputError

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
    return found


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
