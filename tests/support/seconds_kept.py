"""Seconds that each file of tests took when it was last run, kept under `.cache`.

`make check` chooses by it what it has time for, so tests that it never runs have no part in it.
Each test is kept by itself: a run of some tests of a file changes what is known of these alone.
"""

from __future__ import annotations

import fcntl
import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path

from tests.support.plain import ROOT

KEPT = ROOT / ".cache" / "test_seconds.json"
UNKNOWN_S = 1.0
"""Of a file that was never run."""


NEVER = {"compiled", "waits", "servers", "browser", "long"}
"""Marks of tests that `make check` leaves to `make test`."""


def keep(took_s: Mapping[str, float], kept: Path = KEPT, *, never: Collection[str] = ()) -> None:
    """Put seconds, by the name of the test, beside those of other tests; forget those that are
    `never` run by `make check`."""
    if not took_s and not never:
        return
    kept.parent.mkdir(exist_ok=True)
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # steps that run beside each other
        new = _read(kept) | {name: round(seconds, 3) for name, seconds in took_s.items()}
        new = {name: seconds for name, seconds in new.items() if name not in never}
        draft = kept.with_suffix(".new")
        draft.write_text(json.dumps(new), encoding="utf-8")
        draft.replace(kept)


def seconds_by_file(kept: Path = KEPT) -> dict[str, float]:
    found: defaultdict[str, float] = defaultdict(lambda: UNKNOWN_S)
    for name, seconds in _read(kept).items():
        file = name.partition("::")[0]
        found[file] = found.get(file, 0.0) + seconds
    return found


def _read(kept: Path) -> dict[str, float]:
    try:
        return dict(json.loads(kept.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}
