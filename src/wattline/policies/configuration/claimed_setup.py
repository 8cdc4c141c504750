"""From books of claims to the options of each job."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from wattline.model.errors import InputError
from wattline.model.fields import FileName, Number, Said, Seconds
from wattline.model.jobs import JobTable
from wattline.model.machine import Machine
from wattline.model.signal import FloatArray
from wattline.model.states import STATES
from wattline.physics.claims import Claim, ClaimBook, Objective, npb_claims, read_claims
from wattline.physics.claims.latency import with_cap_latency
from wattline.physics.claims.logged import AS_CLAIMED, AS_LOGGED, ENDS_AS_LOGGED, as_it_ran
from wattline.policies.declaration import Declaration, Parameters
from wattline.policies.memory import Find
from wattline.policies.setting import Outside, Setting

if TYPE_CHECKING:
    from wattline.policies.configuration.claimed import Claimed, ClaimsMemory

SHIPPED = "npb"
CLASS_FIRST, CLASS_LAST = "class_first", "class_last"
"""Figures of a job that may have some classes of node only; without them it may have any."""
MOST_TO_COME = 64
"""Nodes of a job that may come to a live machine: each size has its own options."""


class ClaimsParameters(Parameters):
    claims: Annotated[FileName, Said("words", [SHIPPED])] = SHIPPED
    store: Annotated[FileName, Said("forms", "a file or a database's URL")] | None = None
    objective: Annotated[str, Said("forms", "energy, time, edp or edp:WEIGHT")] = "energy"
    caution: Number = Field(0.0, ge=0, le=1e6)
    patience: Number = Field(0.0, ge=0, le=1e6)
    cap_latency_s: Seconds = Field(0.0, ge=0)
    logged_on: str = ""
    """The class of node that jobs ran on whose partition or queue names none; empty: the first
    class of the machine of which something is claimed."""


@dataclass(frozen=True, eq=False)
class Options:
    """What is claimed of each option, and what is true of it."""

    memory: ClaimsMemory
    true_s: FloatArray
    true_w: FloatArray
    said: Mapping[str, tuple[int, ...]]
    """Rows of jobs by what is to be said of their time and watts."""


Pair = tuple[Claim, Claim]
"""A claim, and what is true of the same class and setting."""


@dataclass(frozen=True)
class Span:
    """The options of one application and size: rows from `first` on, class after class."""

    first: int
    kinds: tuple[int, ...]
    best_first: tuple[Claim, ...]
    """True figures of these options, the best by its claim first."""

    def within(self, low: float, high: float) -> tuple[int, int]:
        """First row of these classes, and how many rows; of all where no class is said."""
        if math.isnan(low) or math.isnan(high):
            return self.first, len(self.kinds)
        there = [at for at, kind in enumerate(self.kinds) if low <= kind <= high]
        return self.first + (there[0] if there else 0), len(there)


NO_OPTIONS = Span(0, (), ())
UNKNOWN = "nothing is claimed of its application on so many nodes: it runs as if there were no " \
    "claims, as logged, on nodes of any class"
ON_FIRST = "the log does not say on which class it ran: taken to be {name} (logged_on names " \
    "another)"


def options_of(
    book: ClaimBook, truth: ClaimBook, machine: Machine, applications: Sequence[str],
    nodes: Sequence[int], *, capped: bool = True, to_come: Iterable[tuple[str, int]] = (),
) -> Options:
    """Options of jobs: what `book` claims, and what is true in `truth`, of each as claimed."""
    made = ClaimedTable(book, truth, machine, Objective().among(book), capped=capped,
                        keys=dict.fromkeys((*zip(applications, nodes, strict=True), *to_come)))
    own = [made.spans[key] for key in zip(applications, nodes, strict=True)]
    missing = [key for key, span in made.spans.items() if not span.kinds]
    if missing:
        raise InputError(f"nothing is known to run '{missing[0][0]}' on {missing[0][1]} nodes of "
                         + ", ".join(made.classes))
    last = len(made.classes) - 1
    memory = made.memory({}, {
        "first": [span.first for span in own], "count": [len(span.kinds) for span in own],
        "least_kind": [0] * len(own), "most_kind": [last] * len(own),
        "time_factor": [1.0] * len(own), "watts_factor": [1.0] * len(own)})
    return Options(memory, *made.true, {})


class ClaimedTable:
    """Options by application and size: jobs of one share theirs, so that one run teaches the next.
    """

    def __init__(self, book: ClaimBook, truth: ClaimBook, machine: Machine, objective: Objective,
                 keys: Iterable[tuple[str, int]], *, capped: bool = True) -> None:
        self.classes = [group.node_class.name for group in machine.groups]
        self.cores = {group.node_class.name: group.node_class.cores for group in machine.groups}
        there = {group.node_class.name: group.count for group in machine.groups}
        self.spans: dict[tuple[str, int], Span] = {}
        self.rows: list[tuple[Any, ...]] = []
        true: list[tuple[float, float]] = []
        for application, count in keys:
            # A class with too few nodes is no option, or a job could wait for it for ever.
            large = [name for name in self.classes if there[name] >= count]
            found = known_options(book, truth, application, large, count)
            if not capped:
                found = [pair for pair in found if not pair[0].setting.capped]
            self.spans[application, count] = Span(
                len(self.rows), tuple(self.classes.index(claim.node_class) for claim, _ in found),
                tuple(real for _, real in sorted(
                    found, key=lambda pair: objective.score(pair[0]))))
            for claim, real in found:
                self.rows.append(_row(claim, count, self.classes.index(claim.node_class),
                                      *objective.errors(claim)))
                true.append((real.time_s, real.power_w))
        self.true = np.array([s for s, _ in true]), np.array([w for _, w in true])

    def memory(self, find: Mapping[str, Find], columns: Mapping[str, Any]) -> ClaimsMemory:
        from wattline.policies.configuration.claimed import OPTION, ClaimsMemory

        options = np.array(self.rows, dtype=OPTION).view(np.recarray)
        return ClaimsMemory(find, options=options, **{
            name: np.array(values, dtype=dtype) for (name, dtype), values in (
                (item, columns[item[0]]) for item in ClaimsMemory.PER_JOB.items())})


def _row(
    claim: Claim, count: int, kind: int, error_s: float, error_j: float
) -> tuple[Any, ...]:
    outer, inner = _threads(claim.setting.threads)
    return (kind, count, claim.time_s, claim.energy_j, float(claim.runs), error_s, error_j,
            float(claim.predictions), float(kind), outer, inner,
            claim.setting.cap_w, claim.setting.gpus, claim.setting.gpu_cap_w)


@dataclass(frozen=True)
class Logged:
    """Facts of a log on jobs beside claims, by the rule of `wattline.physics.claims.logged`."""

    table: ClaimedTable
    cores: int
    """Processors of the log that make a node."""
    on: str = ""
    """The class of jobs whose partition or queue names none."""

    def column(self, name: str, jobs: JobTable, logged: Mapping[str, Any]) -> list[Any]:
        """A column of the memory of claims, for these jobs."""
        return self.columns(jobs, logged)[0][name]

    def columns(
        self, jobs: JobTable, logged: Mapping[str, Any]
    ) -> tuple[dict[str, list[Any]], dict[str, list[int]]]:
        """All of them, and what is said."""
        from wattline.policies.configuration.claimed import ClaimsMemory

        ends = [np.asarray(logged.get(figure, np.full(len(jobs), np.nan)), dtype=np.float64)
                for figure in (CLASS_FIRST, CLASS_LAST)]
        found: dict[str, list[Any]] = {name: [] for name in ClaimsMemory.PER_JOB}
        said: dict[str, list[int]] = {}
        last = len(self.table.classes) - 1
        for row, (low, high) in enumerate(zip(*ends, strict=True)):
            nodes = -(-int(jobs.procs[row]) // self.cores)
            name = jobs.name_of("application", int(jobs.application[row]))
            span = self.table.spans.get((name, nodes), NO_OPTIONS)
            first, count = span.within(low, high)
            base, words = self._base(jobs, row, span)
            if not count:
                base, words = None, [UNKNOWN]
            for each in words:
                said.setdefault(each, []).append(row)
            found["first"].append(first)
            found["count"].append(count)
            found["least_kind"].append(0 if math.isnan(low) else int(low))
            found["most_kind"].append(last if math.isnan(high) else int(high))
            measured = base is not None and math.isfinite(jobs.power_w[row])
            found["watts_factor"].append(
                float(jobs.power_w[row]) / base.power_w if measured and base is not None else 1.0)
            found["time_factor"].append(
                float(jobs.run_s[row]) / base.time_s if base is not None else
                1.0 if AS_CLAIMED in words else math.nan)
        return found, said

    def _base(self, jobs: JobTable, row: int, span: Span) -> tuple[Claim | None, list[str]]:
        """Return the true figures of a job as it ran by the log, and what is to be said of it."""
        known = {claim.node_class for claim in span.best_first if not claim.setting.capped}
        own, words = self._own_class(jobs, row), []
        if not own:
            own = self.on or next((name for name in self.table.classes if name in known), "")
            words = [ON_FIRST.format(name=own)] if own in known else []
        base = as_it_ran(span.best_first, own, ("", str(self.table.cores.get(own, 0))))
        if base is not None:
            return base, [AS_LOGGED, *words]
        return None, [ENDS_AS_LOGGED if _ends_early(jobs, row) else AS_CLAIMED]

    def _own_class(self, jobs: JobTable, row: int) -> str:
        """The class that the partition or the queue of a job names."""
        for column in ("partition", "queue"):
            name = jobs.name_of(column, int(getattr(jobs, column)[row]))
            if name in self.table.classes:
                return name
        return ""


def _ends_early(jobs: JobTable, row: int) -> bool:
    """Say whether it ended by its log for another reason than that its work was done."""
    failed = STATES.get(int(jobs.status[row]), "COMPLETED") != "COMPLETED"
    return failed or bool(jobs.run_s[row] >= jobs.requested_s[row])


def _threads(text: str) -> tuple[int, int]:
    """Outer and inner threads; 0 where nothing is set."""
    parts = [int(part) for part in text.split("x")] if text else [0]
    return parts[0], math.prod(parts[1:]) if len(parts) > 1 else 0


def known_options(
    book: ClaimBook, truth: ClaimBook, application: str, classes: Sequence[str], nodes: int
) -> list[tuple[Claim, Claim]]:
    """What is claimed, each with what is true of the same class and setting."""
    real = {(c.node_class, c.setting): c for c in truth.candidates(application, classes, nodes,
                                                                   unknown=False)}
    claimed = {(c.node_class, c.setting): c for c in book.candidates(application, classes, nodes)}
    return [(claimed[place], real[place]) for place in real if place in claimed]


def claimed(setting: Setting, given: ClaimsParameters) -> Claimed:
    """How claims choose: made once, for the configuration and for the placement with it."""
    if setting.made.claims is None:
        setting.made.claims = _read(setting, given)
    return setting.made.claims[0]


def _read(setting: Setting, given: ClaimsParameters) -> tuple[Claimed, Options]:
    """On the class that a job ran on its log is true, elsewhere the ratio of the claims, but for
    caps that take effect late. So runs correct no claims, and jobs keep the time they asked for.

    Of jobs that are yet to come to a live machine nothing is logged: claims say when they end, and
    are corrected.
    """
    from wattline.policies.configuration.claimed import Claimed

    jobs, live = setting.jobs, not len(setting.jobs)
    book = book_of(setting.outside, given)
    objective = replace(Objective.parse(given.objective), caution=given.caution).among(book)
    truth = with_cap_latency(book, given.cap_latency_s)
    cores = 1 if live or setting.granularity == "core" else max(
        group.node_class.cores for group in setting.machine.groups)
    keys = _to_come(book, setting.machine) if live else [
        (jobs.name_of("application", int(code)), -(-int(procs) // cores))
        for code, procs in zip(jobs.application, jobs.procs, strict=True)]
    table = ClaimedTable(book, truth, setting.machine, objective, dict.fromkeys(keys))
    if given.logged_on and given.logged_on not in table.classes:
        raise InputError(f"policy.configure.logged_on: the machine has no class "
                         f"'{given.logged_on}'; it has {', '.join(table.classes)}")
    logged = Logged(table, cores, given.logged_on)
    columns, said = logged.columns(jobs, setting.logged)
    memory = table.memory({name: partial(logged.column, name) for name in columns}, columns)
    options = Options(memory, *table.true, {what: tuple(rows) for what, rows in said.items()})
    claims = Claimed(memory, objective.time_weight, objective.energy_weight, 0.0, given.caution,
                     patience=given.patience)
    return (claims if live else claims._replace(limit=0.0, learn=0)), options


def _to_come(book: ClaimBook, machine: Machine) -> list[tuple[str, int]]:
    """What may be submitted to a machine without jobs: all that is claimed, of sizes to an end."""
    most = min(max(group.count for group in machine.groups), MOST_TO_COME)
    return [(application, count) for application in book.applications
            for count in range(1, most + 1)]


def book_of(outside: Outside, given: ClaimsParameters) -> ClaimBook:
    """The claims of a file, of a store, or the shipped ones."""
    if given.store is None:
        return npb_claims() if given.claims == SHIPPED else read_claims(Path(given.claims))
    if given.claims != SHIPPED:
        raise InputError("policy.configure: claims and store are both given; take one of them")
    return outside.claims(given.store)


CLAIMS = Declaration(
    "configure", "claims", "Class of node and setting by what the application is known to need.",
    claimed, ClaimsParameters,
    needs="policy.placement = 'claims' and jobs that name their application")
