"""What applications are known to need: listed, chosen from, verified and kept in a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.account.claim_table import ClaimTable, ended_jobs
from wattline.account.measured.ended import measured_jobs
from wattline.account.store import Store, refuse_missing, shown_url
from wattline.model.errors import InputError, warn
from wattline.model.shown import Shown
from wattline.physics.claims import (
    Claim,
    ClaimBook,
    ClaimVerification,
    Objective,
    npb_claims,
    read_claims,
    read_runs,
)
from wattline.physics.claims.learning import COMPLETED, Ended, measured

if TYPE_CHECKING:
    import pandas as pd

LEAST_COVERAGE = 0.9
SHIPPED = "npb"
"""The claims that come with the package."""


@dataclass(frozen=True, eq=False, repr=False)
class Claims(Shown):
    """Claims, the best first where they were chosen from.

    >>> import wattline as wl
    >>> wl.list_claims(application="CG.A").claims[0].node_class
    'odroid-c1'
    """

    claims: tuple[Claim, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"claims": [claim_row(claim) for claim in self.claims]}

    def to_pandas(self) -> pd.DataFrame:
        """A row per claim."""
        import pandas as pd

        return pd.DataFrame([claim_row(claim) for claim in self.claims])


@dataclass(frozen=True, repr=False)
class ClaimsImported(Shown):
    """What became of claims that were to be kept in a store.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     wl.import_claims("npb", f"{folder}/claims.sqlite").imported
    44
    """

    imported: int
    applications: int
    verified_kept: int
    verified_replaced: int
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"imported": self.imported, "verified_kept": self.verified_kept,
                "verified_replaced": self.verified_replaced}


@dataclass(frozen=True, eq=False, repr=False)
class ClaimsVerified(Shown):
    """Claims beside what was measured.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     rows = wl.list_claims(application="CG.A").to_pandas()
    ...     rows[["application", "node_class", "time_s", "energy_j"]].to_csv(f"{folder}/runs.csv")
    ...     wl.verify_claims(f"{folder}/runs.csv").corrected
    False
    """

    verified: tuple[ClaimVerification, ...]
    corrected: bool
    """Whether a store has the corrections."""
    already_counted: int
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"verified": [_judged(each) for each in self.verified],
                "corrected": self.corrected, "already_counted": self.already_counted}


def list_claims(store: str = "", *, application: str = "", node_class: str = "") -> Claims:
    """The claims of a store, or those that come with the package.

    >>> import wattline as wl
    >>> found = wl.list_claims(application="CG.A").to_pandas()
    >>> sorted(found["node_class"].unique().tolist())
    ['odroid-c1', 'odroid-c2', 'xeon']
    """
    return Claims(tuple(claim for claim in _book(store)
                        if application in ("", claim.application)
                        and node_class in ("", claim.node_class)))


def choose_claim(
    application: str, store: str = "", *, objective: str = "energy",
    free: Mapping[str, int] | None = None, nodes: int = 1, caution: float = 0.0,
) -> Claims:
    """Choose the class of node and the setting for an application; the first is the best.

    `objective` is energy, time, edp or edp:W; `free` says how many nodes of each class are, all
    otherwise; `caution` adds so many standard errors to what an uncertain claim promises.

    >>> import wattline as wl
    >>> wl.choose_claim("CG.A", objective="time").claims[0].node_class
    'xeon'
    """
    book = _book(store)
    goal = replace(Objective.parse(objective), caution=caution)
    there = dict(free or {}) or {claim.node_class: nodes for claim in book}
    found = book.choose(application, goal, there, nodes)
    if found is None:
        raise InputError(f"nothing is known to run '{application}' on {', '.join(there)}")
    return Claims(tuple(found.ranked))


def import_claims(source: str | Path, store: str, *, replace_verified: bool = False
                  ) -> ClaimsImported:
    """Put claims from a CSV file (or "npb", those of the package) into a store, all or none.

    Claims in the store that runs have verified stay, unless the file's rest on as many runs.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     found = wl.import_claims("npb", f"{folder}/claims.sqlite")
    >>> found.verified_kept
    0
    """
    book = npb_claims() if source == SHIPPED else read_claims(Path(source))
    remarks = () if source == SHIPPED else _unused(Path(source))
    with Store(store) as opened:
        table = ClaimTable(opened)
        verified = table.verified(book)
        kept = set() if replace_verified else verified
        taken = [claim for claim in book if claim.key not in kept]
        count = table.save(taken)
        if replace_verified:
            table.forget(verified)
    warn(remarks)
    return ClaimsImported(count, len({claim.application for claim in taken}), len(kept),
                          len(verified) - len(kept), remarks)


def verify_claims(source: str | Path, store: str = "") -> ClaimsVerified:
    """Compare claims with measured runs (CSV, same columns) and, in a store, correct them.

    A store counts each run once: by the column run_id, or by its figures where there is none.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "runs.csv"
    ...     rows = wl.list_claims(application="CG.A").to_pandas()
    ...     rows[["application", "node_class", "time_s", "energy_j"]].to_csv(file, index=False)
    ...     found = wl.verify_claims(file)
    >>> len(found.verified) == len(rows), found.corrected
    (True, False)
    """
    runs = read_runs(Path(source))
    remarks = _unused(Path(source))
    if store:
        refuse_missing(store)
        with Store(store) as opened:
            found: Iterable[ClaimVerification] = ClaimTable(opened).record(runs)
    else:
        found = npb_claims().record(runs)[1]
    verified = tuple(found)
    warn(remarks)
    return ClaimsVerified(verified, bool(store), len(runs) - len(verified), remarks)


@dataclass(frozen=True, eq=False, repr=False)
class ClaimsLearnt(Shown):
    """What claims learnt from ended jobs, and which jobs taught nothing.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> from wattline.physics.claims.learning import Ended
    >>> job = Ended("1", "lulesh", "xeon", nodes=2, time_s=60.0, energy_j=30e3, state="FAILED")
    >>> with TemporaryDirectory() as folder:
    ...     wl.learn_claims(f"sqlite:///{folder}/claims.db", ended=[job]).left_out
    {'state FAILED': 1}
    """

    verified: tuple[ClaimVerification, ...]
    already_counted: int
    left_out: dict[str, int]
    """By reason."""
    simulated: int
    """Jobs whose joules a simulation gave: they teach what the model says."""
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"learnt": [_judged(each) for each in self.verified],
                "already_counted": self.already_counted, "left_out": self.left_out,
                "simulated": self.simulated}


def learn_claims(
    store: str, *, ledger: str = "", ended: Iterable[Ended] | None = None,
    least_coverage: float = LEAST_COVERAGE, classes: Mapping[str, str] | None = None,
) -> ClaimsLearnt:
    """Correct the claims of a store by jobs that have ended: those of a ledger, or any others.

    Without `ledger` that of the same store is meant, its runs and what a site has measured; `ended`
    are jobs from elsewhere. Only completed jobs count, each once, however often they are read, and
    only those of whose time at least `least_coverage` has joules. The class of a measured job's
    nodes is that of its partition in `classes`, else the partition.

    >>> import tempfile
    >>> import wattline as wl
    >>> from wattline.physics.claims.learning import Ended
    >>> store = f"sqlite:///{tempfile.mkdtemp()}/claims.db"
    >>> job = Ended("4711", "lulesh", "xeon", nodes=2, time_s=60.0, energy_j=30e3,
    ...             state="COMPLETED")
    >>> [wl.learn_claims(store, ended=[job]).already_counted for _ in range(2)]
    [0, 1]
    """
    if not 0 <= least_coverage <= 1:
        raise InputError(f"--coverage: {least_coverage:g} is no share; right is 0 to 1")
    known = list(_ended(ledger or store, classes or {}) if ended is None else ended)
    runs, left_out = measured(known, least_coverage)
    simulated = sum(job.quality == "simulated" and job.state == COMPLETED for job in known)
    with Store(store) as opened:
        verified = tuple(ClaimTable(opened).record(runs))
    remarks = [f"{count:,} jobs were left out: {reason}" for reason, count in left_out.items()]
    if simulated:
        remarks.append(f"the joules of {simulated:,} jobs are those of a simulation: they teach "
                       "what its model says")
    warn(tuple(remarks))
    return ClaimsLearnt(verified, len(runs) - len(verified), left_out, simulated, tuple(remarks))


def _ended(source: str, classes: Mapping[str, str]) -> list[Ended]:
    """The jobs of a ledger, simulated and measured ones."""
    refuse_missing(source)
    with Store(source) as opened:
        found = [*ended_jobs(opened), *measured_jobs(opened, classes)]
        if not found:
            raise InputError(f"{shown_url(opened.url)} has no jobs in a ledger; enter runs with "
                             "`wattline account RUN --store`, measured jobs with "
                             "`wattline account import`")
    return found


def claim_row(claim: Claim) -> dict[str, Any]:
    """A claim as plain values."""
    return {
        "application": claim.application, "node_class": claim.node_class,
        "threads": claim.setting.threads, "cap_w": claim.setting.cap_w,
        "nodes": claim.setting.nodes, "gpu": claim.setting.gpu, "gpus": claim.setting.gpus,
        "gpu_cap_w": claim.setting.gpu_cap_w, "time_s": claim.time_s, "energy_j": claim.energy_j,
        "runs": claim.runs, "time_error": claim.time_error, "energy_error": claim.energy_error,
        "predictions": claim.predictions, "estimated": claim.estimated,
    }


def _book(store: str) -> ClaimBook:
    if not store:
        return npb_claims()
    refuse_missing(store)
    with Store(store) as opened:
        return ClaimTable(opened).load()


def _unused(source: Path) -> tuple[str, ...]:
    from wattline.physics.claims.files import unused_columns

    unused = unused_columns(source)
    return (f"nothing is read from column {', '.join(unused)}",) if unused else ()


def _judged(found: ClaimVerification) -> dict[str, Any]:
    return {
        "claimed": claim_row(found.claim) if found.claim else None,
        "measured_s": found.measured.time_s, "measured_j": found.measured.energy_j,
        "time_error": found.time_error, "energy_error": found.energy_error,
        "corrected": claim_row(found.corrected),
    }
