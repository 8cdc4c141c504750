"""Frequencies that jobs ask for (`--cpu-freq`): no column of squeue says it, `scontrol` does."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from wattline.live.slurm.commands import Commands, SlurmError
from wattline.live.slurm.reading import ACTIVE, STARTING, WAITING, SlurmJob

ONE_BY_ONE = 8
"""Of so many new jobs each is asked for by itself; of more, all jobs of the machine at once."""
_KEYS = {"JobId": "job", "ArrayJobId": "array", "ArrayTaskId": "task", "CPU_min_freq": "low",
         "CPU_max_freq": "high", "Governor": "governor"}
_ASKED = ("CPU_min_freq=", "CPU_max_freq=", "Governor=")
_WORDS = re.compile(rf"(?:^|\s)({'|'.join(_KEYS)})=(\S+)")

Known = tuple[str, float]
"""A job by its label and when it was submitted: Slurm may give a number again."""


def frequencies(commands: Commands, labels: Collection[str]) -> dict[str, str]:
    """By label what these jobs ask for, in the words of `--cpu-freq`; others are not among them."""
    which = [(label,) for label in labels] if len(labels) <= ONE_BY_ONE else [()]
    found: dict[str, str] = {}
    for each in which:
        found |= read_frequencies(commands.run("scontrol", "-o", "show", "job", *each))
    # Tasks of an array that wait have one record together, and all ask for the same.
    by_label = {label: found.get(label, found.get(label.partition("_")[0], ""))
                for label in labels}
    return {label: words for label, words in by_label.items() if words}


def read_frequencies(text: str) -> dict[str, str]:
    """The same of what `scontrol -o show job` prints; of an array's tasks also by its number.

    >>> read_frequencies("JobId=7 JobName=a CPU_min_freq=1200000 CPU_max_freq=2400000 ")
    {'7': '1200000-2400000'}
    """
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not any(word in line for word in _ASKED):  # as of nearly all of thousands
            continue
        said = {_KEYS[name]: word for name, word in _WORDS.findall(line)}
        words = _words(said)
        if words and "job" in said:
            array = said.get("array", said["job"])
            task = said.get("task", "")
            found[f"{array}_{task}" if task.isdecimal() else array] = words
            found.setdefault(array, words)
    return found


def _words(said: Mapping[str, str]) -> str:
    """As the user may have written it: one frequency alone stands as the highest."""
    low, high, governor = (said.get(name, "").lower() for name in ("low", "high", "governor"))
    span = f"{low}-{high}" if low and high else low or high
    return f"{span}:{governor}" if span and governor else span or governor


@dataclass
class FrequencyReader:
    """Adds to the jobs of each look what they ask for; each job is asked for once."""

    _known: dict[Known, str] = field(default_factory=dict)
    _shown: dict[str, tuple[SlurmJob, SlurmJob]] = field(default_factory=dict)
    """By label a job without and with it: one that is shown as before is the one of before."""

    def read(
        self, jobs: Sequence[SlurmJob], ask: Callable[[Collection[str]], Mapping[str, str]]
    ) -> list[SlurmJob]:
        new = {(job.label, job.submit_s): job.label for job in jobs
               if (job.label, job.submit_s) not in self._known
               and job.state in (*WAITING, *STARTING, *ACTIVE)}
        if new:
            with suppress(SlurmError):  # one of them may have gone: the next look asks again
                said = ask(list(new.values()))
                self._known |= {known: said.get(label, "") for known, label in new.items()}
        if len(self._known) > 2 * len(jobs) + ONE_BY_ONE:
            shown = {(job.label, job.submit_s) for job in jobs}
            self._known = {known: words for known, words in self._known.items() if known in shown}
        if not any(self._known.values()):
            self._shown = {}
            return list(jobs)
        before, self._shown = self._shown, {}
        return [self._with(job, before) for job in jobs]

    def _with(self, job: SlurmJob, before: Mapping[str, tuple[SlurmJob, SlurmJob]]) -> SlurmJob:
        words = self._known.get((job.label, job.submit_s), "")
        if not words:
            return job
        known = before.get(job.label)
        kept = known if known is not None and known[0] is job else (
            job, replace(job, cpu_freq=words))
        self._shown[job.label] = kept
        return kept[1]
