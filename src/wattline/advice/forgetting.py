"""Taking back what was entered in the measured ledger, after saying what goes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattline.account import schema
from wattline.account.measured.forgetting import (
    Unwanted,
    forget_jobs,
    forget_meters,
    jobs_going,
    meters_going,
)
from wattline.account.measured.periods import between
from wattline.advice.measured import check_clusters, open_ledger
from wattline.model.errors import InputError
from wattline.model.local_time import zone_of
from wattline.model.shown import Shown


@dataclass(frozen=True, repr=False)
class Forgotten(Shown):
    """What goes, or went.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import wattline as wl
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "dump.txt").write_text(
    ...     "JobID|Account|State|Start|End|NNodes|NodeList|AllocTRES\\n"
    ...     "7|phys|COMPLETED|2026-10-05T10:00:00|2026-10-05T11:00:00|1|n1|energy=720000\\n")
    >>> told = wl.account_import(folder / "dump.txt", store=folder / "site.db", zone="UTC")
    >>> asked = wl.account_forget(folder / "site.db", jobs=["7"])
    >>> asked.done, asked.energy_j
    (False, 720000.0)
    """

    done: bool
    """False where it was only asked what would go."""
    jobs: int
    lives: int
    energy_j: float
    meters: int
    meter_days: int

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))


def account_forget(
    store: str | Path, *, cluster: str | None = None, jobs: Iterable[str | int] = (),
    start: str = "", end: str = "", zone: str = "", meters: bool = False, yes: bool = False,
) -> Forgotten:
    """Take jobs back that were entered in a ledger; without `yes`, say only what would go.

    Conditions hold together: of `cluster` (the empty one too), of these numbers (`300` with all its
    tasks, `300_1`), begun from `start` on and before `end` (dates in `zone`). What their nodes drew
    goes to whoever else was there. `meters` takes all samples of `cluster` back instead.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import wattline as wl
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "dump.txt").write_text(
    ...     "JobID|User|State|Start|End|NNodes|NodeList|AllocTRES\\n"
    ...     "7|ann|COMPLETED|2026-10-05T10:00:00|2026-10-05T11:00:00|1|n1|energy=720000\\n")
    >>> _ = wl.account_import(folder / "dump.txt", store=folder / "site.db", zone="UTC")
    >>> wl.account_forget(folder / "site.db", jobs=["7"]).energy_j
    720000.0
    >>> wl.account_forget(folder / "site.db", jobs=["7"], yes=True).done
    True
    """
    period = between(start, end, zone_of(zone))
    named = tuple(map(str, jobs))
    wrong = [text for text in named if not re.fullmatch(r"[0-9]{1,20}([_+][0-9]{1,20})?", text)]
    if wrong:
        raise InputError(f"-j: '{wrong[0]}' is not a job; write it like 12, 300_1 or 12+0")
    unwanted = Unwanted(cluster, named, period.start_s, period.end_s)
    if unwanted == Unwanted():
        raise InputError("what is to be forgotten? Name it with --cluster, -j, -S or -E")
    if meters and (cluster is None or unwanted != Unwanted(cluster)):
        raise InputError("--meters forgets all samples of a cluster; it goes with --cluster alone")
    with closing(open_ledger(store)) as opened:
        check_clusters(opened, [] if cluster is None else [cluster], "--cluster")
        with opened.session() as session:
            connection = session.connection()
            schema.lock(connection)
            going = meters_going(connection, cluster or "") if meters else jobs_going(
                connection, unwanted)
            if yes and meters:
                forget_meters(connection, cluster or "")
            elif yes:
                forget_jobs(connection, unwanted)
    return Forgotten(yes, **vars(going))
