"""Who used how much of its share of the joules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.account.fairshare import ShareTree, Standing, read_shares, usage_at
from wattline.model.errors import InputError, warn
from wattline.model.run import Run
from wattline.model.units import parse_duration

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FairShare:
    """Shares, faded joules and the fair-share factor of every account and user."""

    at_s: float
    half_life_s: float
    standings: tuple[Standing, ...]
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"at_s": self.at_s, "half_life_s": self.half_life_s, "assumed": list(self.remarks),
                "accounts": [vars(standing) for standing in self.standings]}

    def to_pandas(self) -> pd.DataFrame:
        """A row per account and user."""
        import pandas as pd

        return pd.DataFrame([vars(standing) for standing in self.standings])


def fairshare(
    run: Run | str | Path | None = None, *, store: str = "", run_name: str = "",
    shares: str | Path | None = None, half_life: float | str = "7d",
    at: float | str | None = None,
) -> FairShare:
    """Show who used how much of its share of the joules, of a run, its folder or a ledger's run.

    `shares` is a file with the account tree; without it all users have equal shares. Half of a
    usage is forgotten after `half_life`; `at` is a time of the run, its end otherwise.

    >>> import pandas as pd
    >>> import wattline as wl
    >>> jobs = pd.DataFrame({"submit_s": [0, 0], "run_s": [900, 300], "procs": [4, 4],
    ...                      "user": ["ann", "bob"]})
    >>> run = wl.simulate(jobs, machine=wl.Machine(nodes=8, node_idle_w=90, node_active_w=300))
    >>> {each.name: round(each.usage, 2) for each in wl.fairshare(run).standings}
    {'ann': 0.75, 'bob': 0.25}
    """
    tree = read_shares(Path(shares)) if shares else None
    half_life_s = parse_duration(half_life) if isinstance(half_life, str) else float(half_life)
    if not half_life_s > 0:
        raise InputError(f"--half-life is {half_life_s:g} s, must be above 0")
    users, columns, assumed = _jobs(run, store, run_name)
    if not users:
        raise InputError("no job of this run ran, so nobody used anything")
    if at is None or at == "":
        at_s = float(max(columns["end_s"]))
    else:
        at_s = parse_duration(at) if isinstance(at, str) else float(at)
    used = usage_at(at_s, users, columns["start_s"], columns["end_s"], columns["energy_j"],
                    half_life_s=half_life_s)
    found = (tree or ShareTree.flat(sorted(set(users)))).standings(used)
    warn(assumed)
    return FairShare(at_s, half_life_s, tuple(found), tuple(assumed))


def _jobs(
    run: Run | str | Path | None, store: str, name: str
) -> tuple[list[str], dict[str, Any], Sequence[str]]:
    """User, times and energy of the jobs that ran, and what the joules rest on."""
    import numpy as np

    if run is not None:
        from wattline.account.from_run import named
        from wattline.analysis import rundir

        run = run if isinstance(run, Run) else rundir.read(run)
        rows = np.flatnonzero(run.ran)
        users = [named(run.jobs, "user", int(code)) for code in run.jobs.user[rows]]
        return users, {n: getattr(run.schedule, n)[rows]
                       for n in ("start_s", "end_s", "energy_j")}, run.assumed
    if not store:
        raise InputError("name a run folder, or a ledger with --store")
    from wattline.account.ledger import Ledger
    from wattline.account.store import Store, refuse_missing

    refuse_missing(store)
    with Store(store) as opened:
        ledger = Ledger(opened)
        run_row = ledger.run_of(name)
        jobs = ledger.jobs_of(run_row["id"])
    return [str(job["user"]) for job in jobs], {
        n: np.array([float(job[n]) for job in jobs]) for n in ("start_s", "end_s", "energy_j")
    }, run_row["assumed"]
