"""Places of the loops of slurmctld when the submissions of real runs began.

All of them count from its start. That is known of a run by its own log (`NAME.log`, `NAME.boot`,
or `NAME/slurmctld.log` beside `NAME.txt`: "slurmctld version 22.05.8 started on cluster ..."), by
what `scontrol show config` said meanwhile (BOOT_TIME), or by the replay.json of `wattline testbed
replay`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.local_time import moment_of
from wattline.twin.real_runs import RealRun

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
MINUTE_S = 60.0
RECORD = "replay.json"
"""File that `wattline testbed replay` writes beside its runs."""
LOGS = ("{run}.boot", "{run}.log", "{run}.config", "{run}/slurmctld.log")
"""Files of a run in which the start of its slurmctld may stand."""
_STARTS = (re.compile(r"^\[(\S+?)\].* slurmctld version \S+ started on cluster", re.MULTILINE),
           re.compile(r"^BOOT_TIME\s*=\s*(\S+)", re.MULTILINE))


@dataclass(frozen=True)
class Phase:
    """One place of the loops."""

    after_s: float
    """From the start of slurmctld to the first moment of the twin's clock."""
    unix_s: float
    """The second of the minute at that moment."""


def phases_between(least_s: float, most_s: float, count: int) -> Iterator[Phase]:
    """Evenly between two times from the start of slurmctld; seconds of the minute all over it."""
    for number in range(count):
        yield Phase(least_s + (most_s - least_s) * (number + 0.5) / count,
                    MINUTE_S * (number * GOLDEN % 1.0))


def phases_of(
    folder: Path, runs: Sequence[RealRun], submits_first_s: float, period_s: float, count: int,
    zone: tzinfo = UTC,
) -> tuple[list[Phase], str]:
    """So many phases, and from what they are known.

    `submits_first_s` is when the twin's first submission comes by its clock, `period_s` the
    longest of the loops; logs have times of the `zone`.
    """
    told = _by_record(folder)
    if told is not None:
        return list(phases_between(min(told), max(told), count)), f"by {RECORD}"
    after_s = [_after_s(folder, run, zone) for run in runs]
    if not any(math.isnan(each) for each in after_s):
        # Accounting has whole seconds: the submission was somewhere within its own.
        turns = -(-count // len(runs))
        return [Phase(after_s[at] - submits_first_s + (turn + 0.5) / turns,
                      (run.first_s - submits_first_s) % MINUTE_S)
                for turn in range(turns) for at, run in enumerate(runs)][:count], \
            "each run's own, by the start of its slurmctld"
    missing = [run.name for run, known in zip(runs, after_s, strict=True) if math.isnan(known)]
    return list(phases_between(0.0, period_s, count)), (
        f"unknown, so all over {period_s:g} s: of {', '.join(missing)} nothing says when its "
        f"slurmctld had started before the first submission ({RECORD}, or "
        f"{', '.join(LOGS).format(run=missing[0])})")


def _by_record(folder: Path) -> list[float] | None:
    """Seconds from the start of slurmctld to the first moment, of each run; None without record."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return [float(run["begin_after_slurmctld_s"]) for run in record["runs"]]
    except OSError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder / RECORD} cannot be read: {error}") from None


def _after_s(folder: Path, run: RealRun, zone: tzinfo) -> float:
    """From the last start of its slurmctld to its first submission; NaN where none is known."""
    starts_s = [at_s for name in LOGS
                for at_s in _starts_s(folder / name.format(run=run.name), zone)]
    return run.first_s - max((at_s for at_s in starts_s if at_s <= run.first_s + 1.0),
                             default=math.nan)


def _starts_s(file: Path, zone: tzinfo) -> Iterator[float]:
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for pattern in _STARTS:
        for found in pattern.findall(text):
            try:
                yield from moment_of(datetime.fromisoformat(found), zone).choices
            except ValueError:
                continue
