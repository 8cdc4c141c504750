"""Figures in units that people read, one run beside another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median_low
from typing import Any, NamedTuple

from wattline.analysis.metrics import metrics
from wattline.analysis.other_caps import against_other_caps
from wattline.model.run import Run


class Scale(NamedTuple):
    """A unit for people: the value that it takes to be used, its size, and its sign."""

    least: float
    size: float
    sign: str


_HOUR_S, _DAY_S = 3600.0, 86400.0
TIME = (Scale(3 * _DAY_S, _DAY_S, "d"), Scale(2 * _HOUR_S, _HOUR_S, "h"),
         Scale(120.0, 60.0, "min"), Scale(0.0, 1.0, "s"))
ENERGY = (Scale(3.6e12, 3.6e12, "GWh"), Scale(3.6e9, 3.6e9, "MWh"), Scale(3.6e6, 3.6e6, "kWh"),
           Scale(0.0, 3600.0, "Wh"))
POWER = (Scale(1e6, 1e6, "MW"), Scale(1e3, 1e3, "kW"), Scale(0.0, 1.0, "W"))
_DELAY = tuple(
    Scale(energy.least * _HOUR_S, energy.size * _HOUR_S, energy.sign + "·h") for energy in ENERGY
)
_SHARE = (Scale(0.0, 0.01, "%"),)
PLAIN = (Scale(0.0, 1.0, ""),)


class Figure(NamedTuple):
    """One line of the summary: where it stands in the metrics and how people read it."""

    key: str
    label: str
    scales: Sequence[Scale]
    better: str = ""
    """Which way is better: `lower`, `higher`, or neither."""


FIGURES = (
    Figure("jobs.total", "Jobs in the log", PLAIN),
    Figure("jobs.not_run", "Jobs that never ran", PLAIN, "lower"),
    Figure("jobs.killed", "Jobs killed at their requested time", PLAIN, "lower"),
    Figure("wait_s.mean", "Mean wait", TIME, "lower"),
    Figure("wait_s.p50", "Median wait", TIME, "lower"),
    Figure("wait_s.p95", "95th percentile of wait", TIME, "lower"),
    Figure("wait_s.max", "Longest wait", TIME, "lower"),
    Figure("turnaround_s.mean", "Mean turnaround", TIME, "lower"),
    Figure("bounded_slowdown.mean", "Mean bounded slowdown", PLAIN, "lower"),
    Figure("bounded_slowdown.p95", "95th percentile of slowdown", PLAIN, "lower"),
    Figure("utilisation", "Utilisation", _SHARE, "higher"),
    Figure("makespan_s", "Makespan", TIME, "lower"),
    Figure("energy_j", "Energy", ENERGY, "lower"),
    Figure("edp_js", "Energy × makespan", _DELAY, "lower"),
    Figure("power_w.mean", "Mean power", POWER),
    Figure("power_w.peak", "Peak power", POWER, "lower"),
    Figure("time_above_cap_s", "Time above the cap", TIME, "lower"),
    Figure("energy_above_cap_j", "Energy above the cap", ENERGY, "lower"),
    Figure("fairness.jain", "Fairness between users (Jain)", PLAIN, "higher"),
)


@dataclass(frozen=True)
class ComparedFigure:
    """One figure of several runs: SI values, texts in one unit, ratios to the first run."""

    key: str
    label: str
    unit: str
    values: tuple[float, ...]
    texts: tuple[str, ...]
    ratios: tuple[float, ...]
    better: str


def compare_table(runs: Mapping[str, Run],
                  figures: Mapping[str, Mapping[str, Any]] | None = None) -> list[ComparedFigure]:
    """The summary figures of runs side by side; `figures` are their metrics where known.

    A run without a cap is measured against that of the run most like it (`other_caps`).
    """
    known = figures or {name: metrics(run) for name, run in runs.items()}
    measured = against_other_caps(runs, known).values()
    rows = [_row(figure, [lookup(found, figure.key) for found in measured]) for figure in FIGURES]
    if not _take_as_long(runs.values(), measured):
        rows = [replace(row, better="") if row.key == "utilisation" else row for row in rows]
    capped = any(run.cap_w is not None for run in runs.values())
    return [row for row in rows if _worth_showing(row, capped)]


def _take_as_long(runs: Iterable[Run], measured: Iterable[Mapping[str, Any]]) -> bool:
    """Whether jobs use nodes for equally long: a machine that is busier because its jobs are
    slower is not used better."""
    used_s = [lookup(found, "utilisation") * found["makespan_s"] * run.units
              for run, found in zip(runs, measured, strict=True)]
    return all(math.isclose(each, used_s[0], rel_tol=1e-6) for each in used_s)


def comparison(
    runs: Sequence[str], rows: Sequence[ComparedFigure]
) -> tuple[list[str], list[list[str]]]:
    """Headers and lines for print_table: value, then value and ratio for every further run."""
    headers = ["figure", "unit", runs[0]]
    for name in runs[1:]:
        headers += [name, "ratio"]
    lines = []
    for row in rows:
        line = [row.label, row.unit, row.texts[0]]
        for text, ratio in zip(row.texts[1:], row.ratios[1:], strict=True):
            line += [text, ratio_text(ratio)]
        lines.append(line)
    widths = [max(len(line[i]) for line in lines) for i in range(len(headers))]
    return headers, [
        [text if i < 2 else text.rjust(max(widths[i], len(headers[i])))
         for i, text in enumerate(line)] for line in lines
    ]


def lookup(figures: Mapping[str, Any], key: str) -> float:
    """A metric by its path, as in `wait_s.mean`; NaN where there is none."""
    found: Any = figures
    for part in key.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return float("nan") if found is None else float(found)


def summary_rows(figures: Mapping[str, Any], run: Run) -> list[tuple[str, str]]:
    """The metrics that people look at first, in words and units."""
    wait, slowdown = figures["wait_s"], figures["bounded_slowdown"]
    above = time_text(run.time_above_cap_s)
    name = "time above watched cap" if run.watched else "time above cap"
    killed = figures["jobs"]["killed"]
    return [
        *([("jobs killed at requested time", number_text(killed))] if killed else []),
        ("mean wait", time_text(wait["mean"])),
        ("wait, 95 % of jobs below", time_text(wait["p95"])),
        ("mean turnaround", time_text(figures["turnaround_s"]["mean"])),
        ("mean bounded slowdown", number_text(slowdown["mean"])),
        ("utilisation", _share_text(figures["utilisation"])),
        ("makespan", time_text(figures["makespan_s"])),
        ("energy", energy_text(figures["energy_j"])),
        ("mean power", power_text(figures["power_w"]["mean"])),
        ("peak power", power_text(figures["power_w"]["peak"])),
        *([(name, above)] if run.cap_w is not None else []),
    ]


def _share_text(share: float) -> str:
    return "-" if math.isnan(share) else f"{share:.1%}"  # NaN where nothing ran


def ratio_text(ratio: float) -> str:
    return f"{ratio:.3f}" if math.isfinite(ratio) else "-"


def scale_for(scales: Sequence[Scale], values: Sequence[float]) -> Scale:
    """The unit in which the typical one of these values reads best."""
    typical = _typical(values)
    return next(scale for scale in scales if typical >= scale.least)


def _typical(values: Sequence[float]) -> float:
    """The median of what is there: one value far beyond the others must not blur them, nor a 0."""
    found = sorted(abs(value) for value in values if value and math.isfinite(value))
    return median_low(found) if found else 0.0


def time_text(time_s: float) -> str:
    return _with_unit(time_s, TIME)


def energy_text(energy_j: float) -> str:
    return _with_unit(energy_j, ENERGY)


def power_text(power_w: float) -> str:
    return _with_unit(power_w, POWER)


def number_text(value: float) -> str:
    """Three or more digits that count, thousands apart, no exponent for what people meet."""
    if not math.isfinite(value):
        return "-"
    if value == int(value) and abs(value) < 1e12:
        return f"{int(value):,}"
    if abs(value) >= 1e12:
        return f"{value:.3e}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.1f}"


def _with_unit(value: float, scales: Sequence[Scale]) -> str:
    if not math.isfinite(value):
        return "-"
    scale = scale_for(scales, [value])
    return f"{number_text(value / scale.size)} {scale.sign}"


def _row(figure: Figure, values: Sequence[float]) -> ComparedFigure:
    scale = scale_for(figure.scales, values)
    return ComparedFigure(
        key=figure.key,
        label=figure.label,
        unit=scale.sign,
        values=tuple(values),
        texts=aligned([value / scale.size for value in values]),
        ratios=tuple(value / values[0] if values[0] else float("nan") for value in values),
        better=figure.better,
    )


def aligned(values: Sequence[float]) -> tuple[str, ...]:
    """Texts with equally many decimals, so that a row can be compared at a glance."""
    finite = [value for value in values if math.isfinite(value)]
    if all(value == int(value) for value in finite):
        return tuple(number_text(value) for value in values)
    typical = _typical(finite)
    decimals = 0 if typical >= 10_000 else 1 if typical >= 100 else 2 if typical >= 1 else 4
    return tuple(f"{value:,.{decimals}f}" if math.isfinite(value) else "-" for value in values)


def _worth_showing(row: ComparedFigure, capped: bool) -> bool:
    if row.key in ("jobs.not_run", "jobs.killed"):
        return any(row.values)
    if "above_cap" in row.key:
        return capped
    return any(math.isfinite(value) for value in row.values)
