"""The four job traces of the RMAP study: large jobs, small jobs, and two mixed ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.dimensions import kind_of


class TraceKind(NamedTuple):
    """Which node counts users ask for, as parts of the machine, and how arrivals are spread."""

    low: float
    high: float
    early: float
    """Part of the jobs that arrive at four times the rate; 0 for an even stream."""


KINDS: Mapping[str, TraceKind] = {
    "large": TraceKind(0.62, 1.0, 0.0),
    "small": TraceKind(0.0, 0.375, 0.0),
    "random1": TraceKind(0.0, 1.0, 0.5),
    "random2": TraceKind(0.0, 1.0, 0.0),
}

OVERESTIMATE = 0.20
"""Users ask for up to this much more time than their job takes."""


def make_trace(
    kind: str,
    tables: Sequence[ConfigurationTable],
    nodes: int,
    seed: int,
    *,
    jobs: int = 30,
    load: float = 0.7,
    request: str = "packed",
) -> JobTable:
    """Jobs of applications drawn at random, asking for a measured node count, arriving by Poisson.

    With `packed`, a job asks for the time that it takes on the nodes it asks for with all cores and
    no cap, and up to a fifth more; with `recorded`, for that of a row of its table drawn at random
    among those that use at least half of what a node has. The mean gap between arrivals is such
    that those requests would keep the part `load` of the nodes busy.
    """
    if kind not in KINDS:
        raise InputError(f"there is no trace '{kind}'; known are: {', '.join(KINDS)}")
    if not load > 0:
        raise InputError(f"the load is {load:g}, must be above 0")
    shape = KINDS[kind]
    generator = np.random.default_rng([seed, list(KINDS).index(kind)])
    application = generator.integers(0, len(tables), jobs)
    asked = np.empty(jobs, dtype=np.int64)
    run_s = np.empty(jobs)
    power_w = np.empty(jobs)
    for job in range(jobs):
        row = _request(tables[application[job]], shape, nodes, generator, request)
        table = tables[application[job]]
        asked[job], run_s[job], power_w[job] = table.nodes[row], table.time_s[row], table.power_w[
            row]
    gap_s = float(np.mean(run_s * asked)) / (nodes * load)
    gaps = generator.exponential(gap_s, jobs)
    gaps[: round(shape.early * jobs)] /= 4.0
    over = OVERESTIMATE * generator.random(jobs)
    requested_s = run_s * (1.0 + over) if request == "packed" else run_s
    return JobTable.build(
        submit_s=np.cumsum(gaps), run_s=run_s, requested_s=requested_s, procs=asked,
        power_w=power_w, application=application,
        names={"application": tuple(table.application for table in tables)},
    )


def _request(
    table: ConfigurationTable, shape: TraceKind, nodes: int, generator: np.random.Generator,
    request: str,
) -> int:
    """A row whose node count is of the kind's size: with all cores and uncapped, or any."""
    asked = table.set_like(table.extreme(packed=True, fast=True))
    if request == "recorded":
        asked = np.ones(len(table), dtype=bool)
        for name, values in table.settings.items():
            if kind_of(name) == "count":  # the data of section 5.4 begins at half of the cores
                asked &= values >= 0.5 * values.max()
    fits = np.flatnonzero(
        asked & (table.nodes >= shape.low * nodes) & (table.nodes <= shape.high * nodes)
    )
    if not fits.size:
        raise InputError(
            f"'{table.application}' has no uncapped configuration with all cores from "
            f"{shape.low:.0%} to {shape.high:.0%} of {nodes} nodes"
        )
    return int(generator.choice(fits))
