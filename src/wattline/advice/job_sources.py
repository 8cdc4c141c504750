"""What is known of an application: from claims, tables of configurations, and models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wattline.advice.job_options import JobOption, Known
from wattline.physics.claims import ClaimBook
from wattline.physics.configurations import MEASURED, PREDICTED, ConfigurationTable
from wattline.physics.core_power import GHZ, SANDY_BRIDGE, CorePower
from wattline.physics.dimensions import said
from wattline.physics.regression import Model

BETA = 0.5
"""Run time ~ frequency^-beta, where nobody knows better; the same as in scenarios."""
FARTHEST = 16
"""Estimates go up to so many times the nodes that were measured: four doublings, 30 % off."""


def same_name(names: Iterable[str], wanted: str) -> str | None:
    """The name that is meant; case does not matter."""
    key = wanted.strip().casefold()
    return next((name for name in names if name.casefold() == key), None)


def from_claims(book: ClaimBook, wanted: str, nodes: int | None, source: str) -> Known:
    """The claims of an application, and estimates for the classes of node that it never ran on."""
    name = same_name(book.applications, wanted)
    if name is None:
        return Known(())
    if nodes is not None and nodes > FARTHEST * max(c.setting.nodes for c in book.of(name)):
        return Known(())
    claims = book.of(name) if nodes is None else book.candidates(
        name, dict.fromkeys(claim.node_class for claim in book), nodes)
    if nodes is None:
        here = {claim.node_class for claim in claims}
        others = dict.fromkeys(c.node_class for c in book if c.node_class not in here)
        claims = [*claims, *book.candidates(name, others)]
    return Known(tuple(
        JobOption(
            claim.time_s, claim.energy_j, "predicted" if claim.estimated else "claimed",
            f"{source}, estimated" if claim.estimated else source, claim.node_class,
            claim.setting.nodes, claim.setting.threads, claim.setting.cap_w,
            time_error=claim.time_error, energy_error=claim.energy_error, runs=claim.runs,
        ) for claim in claims))


def from_table(
    tables: Mapping[str, ConfigurationTable], wanted: str, nodes: int | None, source: str
) -> Known:
    """The configurations of a table; the highest cap of it stands for none."""
    from wattline.model.errors import InputError
    from wattline.physics.measurements import find_application

    try:
        table, remark = find_application(tables, wanted)
    except InputError:
        return Known(())
    top_w = float(table.cap_w.max()) if "cap_w" in table.settings else math.inf
    rows = [table.row(at) for at in range(len(table))]
    options = tuple(
        JobOption(
            row.time_s, row.time_s * row.power_w, row.basis, source, nodes=row.nodes,
            **_settings(row.settings, top_w), runs=row.runs,
        ) for row in rows if nodes in (None, row.nodes))
    notes = (remark, table.note, _of_top(top_w, source))
    return Known(options, tuple(filter(None, notes)) if options else ())


def from_model(models: Mapping[str, Model], wanted: str, nodes: int | None, source: str) -> Known:
    """Return what a model says of all that it was trained on, with its own uncertainty."""
    name = same_name(models, wanted)
    if name is None:
        return Known(())
    model = models[name]
    points = model.grid.points()
    if nodes is not None:
        points = points[points[:, 0] == nodes]
    if not len(points):
        return Known((), (f"{source} knows {name} on {_listed(model.grid.nodes)} nodes",))
    found = model.answer(points)
    measured = np.zeros(len(points), dtype=bool) if found.measured is None else found.measured
    top_w = model.grid.cap_w[-1] if "cap_w" in model.grid.names else math.inf
    names = model.grid.names[1:]
    energy_j = found.time_s * found.power_w
    energy_sd = np.hypot(found.time_sd, found.power_sd)
    return Known(tuple(
        JobOption(
            float(found.time_s[at]), float(energy_j[at]), MEASURED if measured[at] else PREDICTED,
            source, nodes=int(row[0]), **_settings(dict(zip(names, row[1:], strict=True)), top_w),
            time_error=float(found.time_sd[at]), energy_error=float(energy_sd[at]),
        ) for at, row in enumerate(points)),
        tuple(filter(None, (model.note, _of_top(top_w, source)))))


def _of_top(top_w: float, source: str) -> str:
    """A table without a run that was not capped has none to tell the highest cap from none."""
    return "" if math.isinf(top_w) else (
        f"{source}: {top_w:g} W, its highest cap, is taken for none")


def _settings(settings: Mapping[str, float], top_w: float) -> dict[str, Any]:
    """How a configuration is set, in the fields of an option; the highest cap stands for none."""
    cap_w = float(settings.get("cap_w", math.inf))
    others = [said(name, float(value)) for name, value in settings.items()
              if name not in ("cores", "cap_w", "frequency_ghz")]
    return {"threads": f"{settings['cores']:g}" if "cores" in settings else "",
            "cap_w": math.inf if cap_w >= top_w else cap_w,
            "frequency_ghz": float(settings.get("frequency_ghz", math.nan)),
            "others": ", ".join(others)}


def at_frequencies(
    options: Sequence[JobOption], beta: float = BETA, core: CorePower = SANDY_BRIDGE
) -> Known:
    """Every uncapped option at every frequency of a table of cores.

    Watts follow the table. How time follows frequency is the application's own matter: `beta` is
    assumed, and the stated error is what it would be for work that does not mind (0) or minds
    nothing else (1).
    """
    free = [option for option in options
            if math.isinf(option.cap_w) and math.isnan(option.frequency_ghz)]
    found = [slower for option in free for slower in _slower(option, beta, core)]
    if not found:
        return Known(())
    return Known(tuple(found), (
        f"options with a frequency are predicted from the uncapped ones, with the watts of "
        f"a Sandy Bridge core and run time ~ frequency^-{beta:g} (--beta); measure some and give "
        "them with --table",))


def _slower(base: JobOption, beta: float, core: CorePower) -> list[JobOption]:
    full_hz, full_w = core.frequency_hz[-1], core.power_w[-1]
    found = []
    for hz, watts in zip(core.frequency_hz[:-1], core.power_w[:-1], strict=True):
        ratio = full_hz / hz
        time_s = base.time_s * ratio**beta
        off = max(ratio ** (1.0 - beta), ratio**beta) - 1.0
        found.append(replace(
            base, time_s=time_s, energy_j=base.power_w * watts / full_w * time_s,
            frequency_ghz=hz / GHZ, basis="predicted", source=f"{base.source}, table of cores",
            runs=0, time_error=_with(base.time_error, off), energy_error=_with(base.energy_error,
                                                                               off)))
    return found


def _with(known: float, more: float) -> float:
    return more if math.isnan(known) else math.hypot(known, more)


def _listed(values: Sequence[int]) -> str:
    return ", ".join(str(value) for value in values)
