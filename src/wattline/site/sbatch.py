"""Options of `sbatch` as they stand on a line: what a job asks for.

`-n 12`, `-n12`, `--ntasks 12`, `--ntasks=12` are the same; `--part=x` is `--partition=x`. See
sbatch(1).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from wattline.model.errors import InputError
from wattline.site.limits import clock_s
from wattline.site.sbatch_names import whole_name

_SHORT = {
    "A": "account", "a": "array", "b": "begin", "c": "cpus-per-task", "C": "constraint",
    "d": "dependency", "F": "nodefile", "G": "gpus", "H": "hold", "J": "job-name",
    "L": "licenses", "M": "clusters", "N": "nodes", "n": "ntasks", "o": "output", "e": "error",
    "i": "input", "p": "partition", "q": "qos", "t": "time", "w": "nodelist", "x": "exclude",
    "s": "oversubscribe", "B": "extra-node-info", "m": "distribution", "D": "chdir", "k": "no-kill",
    "O": "overcommit", "Q": "quiet", "S": "core-spec", "v": "verbose", "W": "wait",
    "l": "label", "u": "unbuffered", "X": "disable-status", "E": "preserve-env", "I": "immediate",
    "Z": "no-allocate", "K": "kill-on-bad-exit",
}
_FLAGS = {"hold", "exclusive", "oversubscribe", "requeue", "no-requeue", "contiguous", "no-kill",
          "overcommit", "quiet", "verbose", "wait", "parsable", "spread-job", "use-min-nodes",
          "ignore-pbs", "reboot", "test-only", "spread", "get-user-env", "propagate", "nice",
          "pty", "unbuffered", "label", "x11", "no-shell", "bell", "no-bell", "overlap",
          "disable-status", "preserve-env", "immediate", "no-allocate", "kill-on-bad-exit"}
"""Options that need no value; some may have one after `=`."""
IGNORED = {"output", "error", "input", "job-name", "chdir", "quiet", "verbose", "wait", "parsable",
           "comment", "mail-type", "mail-user", "export", "wckey", "uid", "gid", "no-kill",
           "ignore-pbs", "open-mode", "signal", "get-user-env", "wrap", "acctg-freq", "profile",
           "distribution", "propagate", "batch", "test-only",
           "pty", "unbuffered", "label", "x11", "no-shell", "bell", "no-bell", "overlap", "mpi",
           "cpu-bind", "mem-bind", "gpu-bind", "tres-bind", "export-file",
           "disable-status", "preserve-env", "immediate", "no-allocate", "kill-on-bad-exit"}
"""Options that change no start."""
MOST_TASKS = 4_000_001
"""Of an array: more than slurm.conf's MaxArraySize can be."""


@dataclass(frozen=True)
class Options:
    """By their long names, the last one counting, and what is left over."""

    values: Mapping[str, str] = field(default_factory=dict)
    rest: tuple[str, ...] = ()

    def get(self, name: str) -> str | None:
        return self.values.get(name)


def options_of(words: Sequence[str], where: str, further: Sequence[str] = ()) -> Options:
    """The options before the script; `further` are long ones with one dash and a value."""
    found: dict[str, str] = {}
    rest: list[str] = []
    todo = iter(words)
    for word in todo:
        if word[:1] != "-" or word == "-":
            rest = [word, *todo]
            break
        name, value = _split(word, further)
        if word.startswith("--") and name not in further:
            name = whole_name(name, where)
        if value is None and name not in _FLAGS:
            value = _next(todo, word, where)
        found[name] = "" if value is None else value
    return Options(found, tuple(rest))


def _split(word: str, further: Sequence[str]) -> tuple[str, str | None]:
    if word.lstrip("-") in further:
        return word.lstrip("-"), None
    if word.startswith("--"):
        name, equals, value = word[2:].partition("=")
        return name, value if equals else None
    name = _SHORT.get(word[1], word[1])
    value = word[2:].removeprefix("=")
    return name, value or None


def _next(words: Iterator[str], option: str, where: str) -> str:
    try:
        return next(words)
    except StopIteration:
        raise InputError(f"{where}: {option} has no value after it") from None


def count(text: str, what: str, where: str) -> int:
    """A whole number; sbatch takes k and m for thousands of 1024."""
    found = re.fullmatch(r"([0-9]{1,12})([kKmM]?)", text.strip())
    if found is None:
        raise InputError(f"{where}: {what} is '{text[:40]}', must be a whole number")
    return int(found[1]) << {"": 0, "k": 10, "m": 20}[found[2].lower()]


def node_range(text: str, where: str) -> tuple[int, int]:
    """`4`, `2-4`: the fewest and the most nodes."""
    low, dash, high = text.partition("-")
    fewest = count(low, "the number of nodes", where)
    most = count(high, "the number of nodes", where) if dash else fewest
    if fewest < 1:
        raise InputError(f"{where}: the number of nodes is '{text[:40]}', must be at least 1; jobs "
                         "without nodes, for burst buffers, are not modelled")
    if most < fewest:
        raise InputError(f"{where}: the number of nodes is '{text[:40]}': the most ({most}) is "
                         f"less than the fewest ({fewest})")
    return fewest, most


def array_of(text: str, where: str) -> tuple[list[int], int]:
    """`0-9`, `1,3,5-9:2%4`: the numbers of the tasks, and how many may run at once (-1: all)."""
    listed, percent, most = text.strip().partition("%")
    tasks: dict[int, None] = {}
    for part in listed.split(","):
        found = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9}))?)?", part.strip())
        first, last, step = (int(found[1]), int(found[2] or found[1]), int(found[3] or 1)) \
            if found else (0, -1, 1)
        if not 0 <= last - first < MOST_TASKS or step < 1:
            raise InputError(f"{where}: array is '{text[:40]}', must be like 0-9, 1,3,5 or 1-9:2%4 "
                             f"of at most {MOST_TASKS:,} tasks")
        tasks.update(dict.fromkeys(range(first, last + 1, step)))
    limit = count(most, "the limit of the array", where) if percent else 0
    return list(tasks), limit if limit > 0 else -1


def megabytes(text: str, what: str, where: str) -> int:
    """Memory as sbatch takes it: MB, or with K, M, G, T."""
    found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]+)?)([KMGT]?)B?", text.strip(), re.IGNORECASE)
    if found is None:
        raise InputError(f"{where}: {what} is '{text[:40]}', must be like 4000, 4000M or 4G")
    number = float(found[1])
    scale = {"K": 1 / 1024, "": 1.0, "M": 1.0, "G": 1024.0, "T": 1048576.0}[found[2].upper()]
    amount = number * scale
    return int(amount) if amount == int(amount) else int(amount) + 1


def gres_asked(text: str, where: str, usual: str = "") -> dict[tuple[str, str], int]:
    """`gpu:a100:2`, `gpu:2`, `gres/gpu=2`; for `--gpus` the name is gpu (`usual`)."""
    found: dict[tuple[str, str], int] = {}
    for part in filter(None, text.split(",")):
        words = part.removeprefix("gres/").removeprefix("gres:").replace("=", ":").split(":")
        number = count(words.pop(), f"the count of {part}", where) if words[-1][:1].isdigit() else 1
        words = [usual, *words] if usual else words
        if not words or not words[0] or len(words) > 2:
            raise InputError(f"{where}: '{part}' is no resource; write it like gpu:2 or gpu:a100:2")
        key = (words[0], words[1] if len(words) > 1 else "")
        found[key] = found.get(key, 0) + number
    return found


def limit_s(text: str, where: str) -> float:
    """A time limit in whole minutes, as Slurm keeps it; inf without end, which 0 asks for too."""
    found = clock_s(text, f"{where}: the time limit")
    return float(-(-found // 60) * 60) if found else math.inf
