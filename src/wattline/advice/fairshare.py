"""Who used how much of its share of the joules."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.account.fairshare import (
    ShareTree,
    Standing,
    association_tree,
    read_shares,
    uneven,
    usage_at,
)
from wattline.account.nodes_held import UNKNOWN
from wattline.model.errors import InputError, warn
from wattline.model.jobs import JobTable
from wattline.model.run import Run
from wattline.model.shown import Shown
from wattline.model.units import joules_text, parse_duration
from wattline.site.associations import read_associations

if TYPE_CHECKING:
    import pandas as pd


_SHOWN = 5


@dataclass(frozen=True)
class Unplaced:
    """A user, in an account if its jobs name one, that the share tree does not have."""

    user: str
    account: str
    jobs: int
    usage_j: float
    """Faded, as in a standing; it counts for nobody."""


@dataclass(frozen=True, repr=False)
class FairShare(Shown):
    """Shares, faded joules and the fair-share factor of every account and user.

    >>> import wattline as wl
    >>> trace = wl.generate("lublin", seed=1, jobs=20, nodes=32)
    >>> machine = wl.Machine(nodes=32, node_idle_w=90, node_active_w=300)
    >>> wl.fairshare(wl.simulate(trace, machine=machine)).half_life_s
    604800.0
    """

    at_s: float
    half_life_s: float
    standings: tuple[Standing, ...]
    remarks: tuple[str, ...] = ()
    unplaced: tuple[Unplaced, ...] = ()
    """Whose jobs the tree has no place for."""

    def to_dict(self) -> dict[str, Any]:
        return {"at_s": self.at_s, "half_life_s": self.half_life_s, "assumed": list(self.remarks),
                "accounts": [vars(standing) for standing in self.standings],
                "unplaced": [vars(each) for each in self.unplaced]}

    def to_pandas(self) -> pd.DataFrame:
        """A row per account and user."""
        import pandas as pd

        return pd.DataFrame([vars(standing) for standing in self.standings])


def fairshare(
    run: Run | str | Path | None = None, *, store: str = "", run_name: str = "",
    shares: str | Path | None = None, assoc: str | Path | None = None, cluster: str = "",
    half_life: float | str = "7d", at: float | str | None = None, zone: str = "",
) -> FairShare:
    """Show who used how much of its share of the joules, of a run, its folder or a ledger.

    Of a ledger (`store`) these are the measured jobs, of `cluster` where it has several, or a run
    of it, which `run_name` names or which is the last where nothing was measured.

    `shares` is a file with the account tree; `assoc` one with Slurm's associations (of `cluster`,
    where it has several): `sacctmgr show assoc -P tree`, `sacctmgr dump`, or a script. Without
    either all users have equal shares. Users that the tree does not have count for nobody and are
    in `unplaced`. Half of a usage is forgotten after `half_life`; `at` is a time of the run, its
    end otherwise; of measured jobs a date in `zone`.

    >>> import pandas as pd
    >>> import wattline as wl
    >>> jobs = pd.DataFrame({"submit_s": [0, 0], "run_s": [900, 300], "procs": [4, 4],
    ...                      "user": ["ann", "bob"]})
    >>> run = wl.simulate(jobs, machine=wl.Machine(nodes=8, node_idle_w=90, node_active_w=300))
    >>> {each.name: round(each.usage, 2) for each in wl.fairshare(run).standings}
    {'ann': 0.75, 'bob': 0.25}
    """
    measured, which = _is_measured(run, store, run_name)
    if not measured and cluster and not assoc:
        raise InputError("--cluster chooses among the associations of --assoc; give that too")
    if not measured and zone:
        raise InputError("--zone goes with measured jobs, and this is a simulated run")
    tree, assumed = _tree(shares, assoc, cluster)
    half_life_s = parse_duration(half_life) if isinstance(half_life, str) else float(half_life)
    if not half_life_s > 0:
        raise InputError(f"--half-life is {half_life_s:g} s, must be above 0")
    if measured:
        from wattline.advice.fairshare_measured import measured_jobs

        owners, columns, rests_on = measured_jobs(store, cluster)
    else:
        owners, columns, rests_on = _jobs(run, store, run_name)
    if not owners:
        raise InputError("no job of this run ran, so nobody used anything")
    if at is None or at == "":
        at_s = float(max(columns["end_s"]))
    elif measured and isinstance(at, str):
        at_s = _date_s(at, zone)
    else:
        at_s = parse_duration(at) if isinstance(at, str) else float(at)
    tree = tree or ShareTree.flat(sorted({owner[0] for owner in owners}))
    places: dict[Owner, Hashable | None] = {owner: tree.leaf(*owner) for owner in set(owners)}
    # Who has no place is kept apart by owner, and those who have one are joined by place.
    used = usage_at(at_s, [places[owner] or _Nobody(owner) for owner in owners],
                    columns["start_s"], columns["end_s"], columns["energy_j"],
                    half_life_s=half_life_s)
    found = tree.standings({key: value for key, value in used.items()
                            if not isinstance(key, _Nobody)})
    unplaced = _unplaced(owners, places, used)
    remarks = (*which, *rests_on, *assumed, *_words(unplaced, len(owners)))
    warn(remarks)
    return FairShare(at_s, half_life_s, tuple(found), remarks, unplaced)


def _is_measured(
    run: Run | str | Path | None, store: str, run_name: str
) -> tuple[bool, list[str]]:
    """Whether the measured jobs of a store are meant, and what to say where it has both."""
    if run is not None or run_name or not store:
        return False, []
    from wattline.advice.measured import kept_in

    kept = kept_in(store)
    both = kept == {"measured", "runs"}
    return "measured" in kept, ["the store has simulated runs and measured jobs; this is of the "
                                "measured jobs, --run-name NAME is of a run"] if both else []


def _date_s(text: str, zone: str) -> float:
    from wattline.account.measured.periods import instant
    from wattline.model.local_time import zone_of

    return instant(text, "--at", zone_of(zone))


Owner = tuple[str, str, str]
"""User, account and partition of a job; empty where the log does not say."""


@dataclass(frozen=True)
class _Nobody:
    owner: Owner


def _tree(
    shares: str | Path | None, assoc: str | Path | None, cluster: str
) -> tuple[ShareTree | None, list[str]]:
    """The share tree that was given, and what must be known of it."""
    if shares and assoc:
        raise InputError("give --shares or --assoc, not both: each is a whole tree of accounts")
    if assoc:
        found = read_associations(assoc)
        try:
            return association_tree(found.of(cluster)), [
                *found.remarks, *(f"unknown: {line}" for line in found.unknown)]
        except InputError as error:
            said = str(error)
            raise InputError(said if said.startswith(str(assoc)) else f"{assoc}: {said}") from None
    if shares:
        tree = read_shares(Path(shares))
        return tree, [f"{shares}: {line}" for line in uneven(tree)]
    return None, []


def _unplaced(owners: Sequence[Owner], places: dict[Owner, Hashable | None],
              used: dict[Any, float]) -> tuple[Unplaced, ...]:
    """By user and account, most joules first."""
    jobs: dict[tuple[str, str], int] = {}
    joules: dict[tuple[str, str], float] = {}
    for owner in owners:
        if places[owner] is None:
            jobs[owner[:2]] = jobs.get(owner[:2], 0) + 1
    for key, drawn_j in used.items():
        if isinstance(key, _Nobody):
            joules[key.owner[:2]] = joules.get(key.owner[:2], 0.0) + drawn_j
    found = [Unplaced(*who, count, joules.get(who, 0.0)) for who, count in jobs.items()]
    return tuple(sorted(found, key=lambda each: (-each.usage_j, each.user, each.account)))


def _words(unplaced: Sequence[Unplaced], jobs: int) -> list[str]:
    if not unplaced:
        return []
    names = [f"'{each.user}'" + (f" in '{each.account}'" if each.account else "")
             for each in unplaced]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return [f"{sum(each.jobs for each in unplaced):,} of {jobs:,} jobs are of users that have no "
            f"place in the share tree, and count for nobody "
            f"({joules_text(sum(each.usage_j for each in unplaced))} faded): "
            f"{', '.join(names[:_SHOWN])}{more}"]


def _jobs(
    run: Run | str | Path | None, store: str, name: str
) -> tuple[list[Owner], dict[str, Any], Sequence[str]]:
    """Owner, times and energy of the jobs that ran, and what the joules rest on."""
    import numpy as np

    if run is not None:
        from wattline.account.from_run import named
        from wattline.analysis import rundir

        run = run if isinstance(run, Run) else rundir.read(run)
        rows = np.flatnonzero(run.ran)
        jobs = run.jobs
        owners = [(named(jobs, "user", int(jobs.user[row])), _said(jobs, "group", row),
                   _said(jobs, "partition", row)) for row in rows.tolist()]
        return owners, {n: getattr(run.schedule, n)[rows]
                       for n in ("start_s", "end_s", "energy_j")}, run.assumed
    if not store:
        raise InputError("name a run folder, or a ledger with --store")
    from wattline.account.ledger import Ledger
    from wattline.account.store import Store, refuse_missing

    refuse_missing(store)
    with Store(store) as opened:
        ledger = Ledger(opened)
        run_row = ledger.run_of(name)
        kept = ledger.jobs_of(run_row["id"])
    return [(str(job["user"]), _known(job["account"]), _known(job["partition"]))
            for job in kept], {
        n: np.array([float(job[n]) for job in kept]) for n in ("start_s", "end_s", "energy_j")
    }, run_row["assumed"]


def _said(jobs: JobTable, column: str, row: int) -> str:
    code = int(getattr(jobs, column)[row])
    return jobs.name_of(column, code) if code >= 0 else ""


def _known(text: object) -> str:
    return "" if text in (None, UNKNOWN) else str(text)
