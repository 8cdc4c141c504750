"""What the generators share: random streams, requests as users write them, the finished trace."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError
from wattline.model.jobs import JobTable
from wattline.model.signal import FloatArray
from wattline.traces.trace import CleaningReport, Trace

COMPLETED = 1
LOADS = (1e-6, 1e6)
"""Offered loads that can be asked for; a full machine has 1."""
CLOSE_LOAD = 0.1
"""Part of the load that was asked for by which a log may miss it without a word."""
DAY_S = 86400.0

POPULAR_S = 60.0 * np.array(
    [5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 360, 480, 600, 720, 960, 1080, 1440, 2160,
     2880, 4320, 7200, 10080]
)
"""The round values that users ask for."""


def in_range(what: str, value: Any, low: float, high: float) -> None:
    """Refuse what is no number between these ends; NaN is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise InputError(f"{what} is {value!r}, must be a number from {low:g} to {high:g}")


def whole(what: str, value: Any, low: int, high: int | None = None) -> None:
    """Refuse what is no whole number between these ends."""
    fits = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not fits or value < low or (high is not None and value > high):
        ends = f"at least {low}" if high is None else f"from {low} to {high:,}"
        raise InputError(f"{what} is {value!r}, must be a whole number, {ends}")


def streams(seed: int, count: int) -> list[np.random.Generator]:
    """Independent streams, so that more draws of one quantity do not change another."""
    return [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(count)]


def popular_request(run_s: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Requests of which jobs use a uniform fraction, rounded up to a value that users like."""
    wanted = run_s / np.maximum(rng.random(run_s.size), 0.01)
    wanted = np.minimum(wanted, np.maximum(run_s, POPULAR_S[-1]))
    index = np.searchsorted(POPULAR_S, wanted)
    round_s: FloatArray = POPULAR_S[np.minimum(index, POPULAR_S.size - 1)]
    return np.where(index < POPULAR_S.size, round_s, np.ceil(wanted / 3600.0) * 3600.0)


def gamma_cdf(x: float, shape: float, scale: float) -> float:
    """Distribution function of the gamma distribution, by its power series."""
    z = x / scale
    if z <= 0:
        return 0.0
    term = total = 1.0 / shape
    n = shape
    while term > total * 1e-17:
        n += 1.0
        term *= z / n
        total += term
    return total * math.exp(-z + shape * math.log(z) - math.lgamma(shape))


def finish(
    source: str,
    *,
    nodes: int,
    header: Mapping[str, str],
    names: Mapping[str, tuple[str, ...]] | None = None,
    logged: Mapping[str, FloatArray] | None = None,
    asked_load: float | None = None,
    **columns: npt.ArrayLike,
) -> Trace:
    """Sort by submission and number the jobs; say where a load that was asked for is missed."""
    order = np.argsort(np.asarray(columns["submit_s"]), kind="stable")
    ordered = {name: np.asarray(values)[order] for name, values in columns.items()}
    ordered.setdefault("status", np.full(order.size, COMPLETED))
    table = JobTable.build(names=names, **ordered)
    full = {"Version": "2.2", "MaxJobs": str(len(table)), "MaxNodes": str(nodes),
            "MaxProcs": str(nodes), **header}
    further = {name: values[order] for name, values in (logged or {}).items()}
    return Trace(table, full, CleaningReport(read=len(table), kept=len(table)), source, further,
                 () if asked_load is None else _missed(table, nodes, asked_load))


def _missed(table: JobTable, nodes: int, asked: float) -> tuple[str, ...]:
    """What is said of a load that was asked for and not reached."""
    span_s = float(table.submit_s[-1] - table.submit_s[0])
    if span_s == 0:
        return (f"a load of {asked:g} was asked for; the log has none, since all its jobs are "
                "submitted in one second",)
    reached = float(np.sum(table.procs * table.run_s)) / (nodes * span_s)
    if abs(reached / asked - 1.0) <= CLOSE_LOAD:
        return ()
    return (f"a load of {asked:g} was asked for, and the log has {reached:.3g}: jobs are drawn "
            "one by one and submitted at whole seconds, so that few of them, or many within a "
            "second, miss it",)
