"""From books of claims to the options of each job."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from wattline.model.errors import InputError
from wattline.model.fields import FileName, Number, Said, Seconds
from wattline.model.jobs import IntArray, JobTable
from wattline.model.machine import Machine
from wattline.model.signal import FloatArray
from wattline.physics.claims import Claim, ClaimBook, Objective, npb_claims, read_claims
from wattline.physics.claims.latency import with_cap_latency
from wattline.policies.declaration import Declaration, Parameters
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


@dataclass(frozen=True, eq=False)
class Options:
    """What is claimed of each option, and what is true of it."""

    memory: ClaimsMemory
    true_s: FloatArray
    true_w: FloatArray


@dataclass(frozen=True)
class Span:
    """The options of one application and size: rows from `first` on, class after class."""

    first: int
    kinds: tuple[int, ...]

    def within(self, low: float, high: float) -> tuple[int, int]:
        """First row of these classes, and how many rows; of all where no class is said."""
        if math.isnan(low) or math.isnan(high):
            return self.first, len(self.kinds)
        there = [at for at, kind in enumerate(self.kinds) if low <= kind <= high]
        return self.first + (there[0] if there else 0), len(there)


def options_of(
    book: ClaimBook, truth: ClaimBook, machine: Machine, applications: Sequence[str],
    nodes: Sequence[int], *, capped: bool = True, to_come: Iterable[tuple[str, int]] = (),
) -> Options:
    """Options of jobs: what `book` claims, and what is true in `truth`.

    Jobs of one application and size share their options, so that one run teaches the next.
    `to_come` are applications and sizes of jobs that nobody has seen yet.
    """
    from wattline.policies.configuration.claimed import OPTION, ClaimsMemory

    classes = [group.node_class.name for group in machine.groups]
    there = {group.node_class.name: group.count for group in machine.groups}
    rows: list[tuple[Any, ...]] = []
    true: list[tuple[float, float]] = []
    spans: dict[tuple[str, int], Span] = {}
    own_sizes = zip(applications, nodes, strict=True)
    for application, count in dict.fromkeys((*own_sizes, *to_come)):
        # A class with too few nodes is no option, or a job could wait for it for ever.
        large = [name for name in classes if there[name] >= count]
        found = known_options(book, truth, application, large, count)
        if not capped:
            found = [pair for pair in found if not pair[0].setting.capped]
        if not found:
            raise InputError(f"nothing is known to run '{application}' on {count} nodes of "
                             + ", ".join(classes))
        spans[application, count] = Span(
            len(rows), tuple(classes.index(claim.node_class) for claim, _ in found))
        for claim, real in found:
            outer, inner = _threads(claim.setting.threads)
            rows.append((
                classes.index(claim.node_class), count, claim.time_s, claim.energy_j,
                float(claim.runs), _zero(claim.time_error), _zero(claim.energy_error), 0.0,
                float(classes.index(claim.node_class)), outer, inner, claim.setting.cap_w,
                claim.setting.gpus, claim.setting.gpu_cap_w,
            ))
            true.append((real.time_s, real.power_w))
    options = np.array(rows, dtype=OPTION).view(np.recarray)
    own = [spans[key] for key in zip(applications, nodes, strict=True)]
    memory = ClaimsMemory(
        {"first": partial(_spans, spans, classes, 0), "count": partial(_spans, spans, classes, 1)},
        options=options,
        first=np.array([span.first for span in own], dtype=np.int64),
        count=np.array([len(span.kinds) for span in own], dtype=np.int64),
    )
    return Options(memory, np.array([a for a, _ in true]), np.array([w for _, w in true]))


def _spans(
    spans: Mapping[tuple[str, int], Span], classes: Sequence[str], part: int, jobs: JobTable,
    logged: Any,
) -> IntArray:
    """First option of each job, or how many it has."""
    ends = [np.asarray(logged.get(figure, np.full(len(jobs), np.nan)), dtype=np.float64)
            for figure in (CLASS_FIRST, CLASS_LAST)]
    found = []
    for code, nodes, low, high in zip(jobs.application, jobs.procs, *ends, strict=True):
        name = jobs.name_of("application", int(code))
        if (name, int(nodes)) not in spans:
            raise InputError(f"nothing is known to run '{name}' on {nodes} nodes")
        first, count = spans[name, int(nodes)].within(low, high)
        if not count:
            raise InputError(f"nothing is known to run '{name}' on {nodes} nodes of "
                             + ", ".join(classes[int(low):int(high) + 1]))
        found.append((first, count)[part])
    return np.array(found, dtype=np.int64)


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


def _zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def claimed(setting: Setting, given: ClaimsParameters) -> Claimed:
    """How claims choose: made once, for the configuration and for the placement with it."""
    if setting.made.claims is None:
        setting.made.claims = _read(setting, given)
    return setting.made.claims[0]


def _read(setting: Setting, given: ClaimsParameters) -> tuple[Claimed, Options]:
    """What is true of claims is what is claimed, but for caps that take effect late."""
    from wattline.policies.configuration.claimed import Claimed

    objective = Objective.parse(given.objective)
    jobs = setting.jobs
    book = book_of(setting.outside, given)
    names = [jobs.name_of("application", int(code)) for code in jobs.application]
    truth = with_cap_latency(book, given.cap_latency_s)
    options = options_of(book, truth, setting.machine, names, jobs.procs.tolist(),
                         to_come=() if len(jobs) else _to_come(book, setting.machine))
    claims = Claimed(options.memory, objective.time_weight, objective.energy_weight, 0.0,
                     given.caution, patience=given.patience)
    return claims, options


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
