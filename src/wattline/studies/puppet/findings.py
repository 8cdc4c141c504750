"""What the published study found, each claim held against our figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from wattline.studies.puppet.figures import CAPS, IDLES, DayCurve
from wattline.studies.puppet.reasons import REASONS
from wattline.studies.puppet.runs import ORDERS, CappedCase, Ratio

Ratios = Mapping[CappedCase, Ratio]

MODERATE = (0.8, 0.7, 0.6)
SLACK = 1e-9
"""For comparisons that would be equal but for rounding."""


@dataclass(frozen=True)
class Finding:
    """A claim and whether our figures bear it out."""

    id: str
    claim: str
    holds: bool
    figures: dict[str, object]

    @property
    def reason(self) -> str:
        """Why it may fail on this log; empty where it holds."""
        return "" if self.holds else REASONS[self.id]


def findings(ratios: Ratios, curve: DayCurve, parts: int) -> list[Finding]:
    """Every claim of the published study that these simulations can answer."""
    busy = busy_parts(ratios, parts)
    checks: tuple[Callable[[Ratios, tuple[int, ...], int], Finding], ...] = (
        _wait_beats_block, _dvfs_trade, _cubic_hurts_least, _tight_cap_edp, _allocation_trade,
        _wfp_robust, _idle_and_load, _busier_suffers_more, _tighter_more_use, _beta_and_edp,
        _allocation_worse_when_tight, _idle_and_order,
    )
    found = [check(ratios, busy, parts) for check in checks]
    found.insert(7, _under_the_cap(ratios, curve))
    return found


def busy_parts(ratios: Ratios, parts: int) -> tuple[int, ...]:
    """The half of the parts with the higher utilisation without a cap."""
    use = [ratios[CappedCase(part, "fcfs", "dvfs")].baseline.utilisation for part in range(parts)]
    return tuple(sorted(np.argsort(use)[parts // 2 :].tolist()))


def _each(ratios: Ratios, parts: Iterable[int], method: str, **change: float) -> list[Ratio]:
    return [ratios[CappedCase(part, order, method, **change)] for order in ORDERS for part in parts]


def _wait_beats_block(ratios: Ratios, busy: tuple[int, ...], parts: int) -> Finding:
    pairs = [(ratios[CappedCase(p, o, "wait")], ratios[CappedCase(p, o, "block")])
             for o in ORDERS for p in range(parts)]
    better = {
        "utilisation": sum(w.utilisation >= b.utilisation - SLACK for w, b in pairs),
        "wait": sum(w.wait <= b.wait + SLACK for w, b in pairs),
        "edp": sum(w.edp <= b.edp + SLACK for w, b in pairs),
    }
    worst = max(w.edp / b.edp - 1 for w, b in pairs)
    return Finding(
        "wait-never-worse-than-block",
        "WAIT is never worse than BLOCK in utilisation, waiting and EDP",
        all(count == len(pairs) for count in better.values()),
        {"cases": len(pairs), "not_worse": better, "largest_edp_excess_of_wait": worst,
         "mean_wait_min": {"wait": _mean(w.figures.wait_s / 60 for w, _ in pairs),
                           "block": _mean(b.figures.wait_s / 60 for _, b in pairs)}},
    )


def _dvfs_trade(ratios: Ratios, busy: tuple[int, ...], parts: int) -> Finding:
    found = {cap: _each(ratios, range(parts), "dvfs", cap=cap) for cap in MODERATE}
    every = [ratio for row in found.values() for ratio in row]
    return Finding(
        "dvfs-trades-waiting-for-edp",
        "At moderate caps (80 to 60 %) DVFS raises utilisation and waiting and lowers EDP",
        all(r.utilisation >= 1 - SLACK and r.wait >= 1 - SLACK and r.edp <= 1 + SLACK
            for r in every),
        {f"{cap:.0%}": _means(row) for cap, row in found.items()},
    )


def _cubic_hurts_least(ratios: Ratios, busy: tuple[int, ...], parts: int) -> Finding:
    rows = {alpha: _each(ratios, range(parts), "dvfs", alpha=alpha) for alpha in (1.0, 2.0, 3.0)}
    waits = {alpha: [r.wait for r in row] for alpha, row in rows.items()}
    least = [w3 <= min(w1, w2) + SLACK for w1, w2, w3 in zip(*waits.values(), strict=True)]
    return Finding(
        "cubic-alpha-hurts-least",
        "Where power falls with the cube of frequency (alpha 3), waiting grows least",
        all(least),
        {"cases": len(least), "least_with_alpha_3": sum(least),
         **{f"alpha {alpha:g}": _means(row) for alpha, row in rows.items()}},
    )


def _tight_cap_edp(ratios: Ratios, busy: tuple[int, ...], parts: int) -> Finding:
    quiet = [part for part in range(parts) if part not in busy]
    high = [r.edp for r in _each(ratios, busy, "dvfs", cap=0.4)]
    low = [r.edp for r in _each(ratios, quiet, "dvfs", cap=0.4)]
    return Finding(
        "tight-cap-worsens-edp-under-load",
        "DVFS under a tight cap (40 %) can make EDP worse, above all under high load",
        max(high) > 1 and _mean(high) > _mean(low),
        {"edp_busy": high, "edp_quiet": low},
    )


def _allocation_trade(ratios: Ratios, busy: tuple[int, ...], parts: int) -> Finding:
    rows = {method: _each(ratios, range(parts), method) for method in ("block", "wait")}
    every = [ratio for row in rows.values() for ratio in row]
    return Finding(
        "allocation-lowers-use-raises-edp",
        "Power-aware allocation lowers utilisation and raises EDP",
        all(r.utilisation <= 1 + SLACK and r.edp >= 1 - SLACK for r in every),
        {"cases": len(every), "lower_use_and_higher_edp": sum(
            r.utilisation <= 1 + SLACK and r.edp >= 1 - SLACK for r in every),
         **{method: _means(row) for method, row in rows.items()}},
    )


def _wfp_robust(ratios: Ratios, busy: tuple[int, ...], parts: int) -> Finding:
    growth: dict[str, dict[str, float]] = {}
    for method in ("dvfs", "block", "wait"):
        growth[method] = {
            order: _mean(ratios[CappedCase(part, order, method)].wait for part in range(parts))
            for order in ORDERS}
    minutes = {
        method: {order: _mean(_added_min(ratios[CappedCase(part, order, method)])
                              for part in range(parts)) for order in ORDERS}
        for method in growth}
    return Finding(
        "wfp-waiting-grows-less",
        "Waiting grows less under WFP than under FCFS",
        all(pair["wfp"] < pair["fcfs"] for pair in growth.values()),
        {"mean_wait_ratio": growth, "mean_added_wait_min": minutes},
    )


def _idle_and_load(ratios: Ratios, busy: tuple[int, ...], parts: int) -> Finding:
    spans = {part: _mean(_idle_span(ratios, part, order) for order in ORDERS)
             for part in range(parts)}
    high = _mean(spans[part] for part in busy)
    low = _mean(span for part, span in spans.items() if part not in busy)
    return Finding(
        "idle-power-matters-more-when-busy",
        "Idle power (0 to 50 % of full) changes the EDP of allocation more at high utilisation",
        high > low,
        {"edp_span_busy": high, "edp_span_quiet": low},
    )


def _under_the_cap(ratios: Ratios, curve: DayCurve) -> Finding:
    capped = [r.figures for r in ratios.values() if r.case.method != "none"]
    above_s = sum(f.above_cap_s for f in capped)
    nearest = max(f.peak_w / f.cap_w for f in capped)
    curves = [peak for method, peak in curve.peak_w.items() if method != "none"]
    return Finding(
        "always-under-the-cap",
        "Every method stays under the cap at every instant",
        above_s == 0 and nearest <= 1 + SLACK and max(curves) <= curve.cap_w * (1 + SLACK),
        {"runs": len(capped), "seconds_above_cap": above_s, "highest_power_over_cap": nearest},
    )


def _busier_suffers_more(ratios: Ratios, busy: tuple[int, ...], parts: int) -> Finding:
    quiet = [part for part in range(parts) if part not in busy]
    added = {
        method: {name: _mean(map(_added_min, _each(ratios, group, method)))
                 for name, group in (("busy", busy), ("quiet", quiet))}
        for method in ("dvfs", "block", "wait")}
    return Finding(
        "busy-months-suffer-more",
        "Every method costs more waiting in the months of high utilisation",
        all(pair["busy"] > pair["quiet"] for pair in added.values()),
        {"added_wait_min": added},
    )


def _tighter_more_use(ratios: Ratios, busy: tuple[int, ...], parts: int) -> Finding:
    use = {cap: [r.utilisation for r in _each(ratios, range(parts), "dvfs", cap=cap)]
           for cap in CAPS}
    means = {f"{cap:.0%}": _mean(values) for cap, values in use.items()}
    series = list(means.values())
    return Finding(
        "dvfs-tighter-cap-more-utilisation",
        "With DVFS, utilisation rises as the cap gets tighter (80 to 40 %)",
        all(a <= b + SLACK for a, b in pairwise(series)),
        {"mean_utilisation_ratio": means},
    )


def _beta_and_edp(ratios: Ratios, busy: tuple[int, ...], parts: int) -> Finding:
    edp = {beta: _mean(r.edp for r in _each(ratios, range(parts), "dvfs", beta=beta))
           for beta in (0.5, 1.0, 1.5, 2.0)}
    return Finding(
        "higher-beta-does-not-raise-edp",
        "With DVFS, a higher beta (time more sensitive to frequency) does not raise EDP",
        all(edp[beta] <= edp[0.5] + SLACK for beta in edp),
        {"mean_edp_ratio": {f"beta {beta:g}": value for beta, value in edp.items()}},
    )


def _allocation_worse_when_tight(ratios: Ratios, busy: tuple[int, ...], parts: int) -> Finding:
    tight = {method: _means(_each(ratios, range(parts), method, cap=0.4))
             for method in ("dvfs", "wait")}
    return Finding(
        "tight-cap-hits-allocation-harder",
        "A tight cap (40 %) costs more with allocation than with DVFS",
        all(tight["wait"][name] > tight["dvfs"][name] for name in ("edp", "wait")),
        {"40%": tight},
    )


def _idle_and_order(ratios: Ratios, busy: tuple[int, ...], parts: int) -> Finding:
    spans = {order: _mean(_idle_span(ratios, part, order) for part in range(parts))
             for order in ORDERS}
    return Finding(
        "idle-power-matters-more-under-wfp",
        "Idle power changes the EDP of allocation more under WFP than under FCFS",
        spans["wfp"] > spans["fcfs"],
        {"edp_span": spans},
    )


def _idle_span(ratios: Ratios, part: int, order: str) -> float:
    edp = [ratios[CappedCase(part, order, "wait", idle=idle)].edp for idle in IDLES]
    return max(edp) - min(edp)


def _added_min(ratio: Ratio) -> float:
    return (ratio.figures.wait_s - ratio.baseline.wait_s) / 60.0


def _means(row: Iterable[Ratio]) -> dict[str, float]:
    rows = list(row)
    return {"utilisation": _mean(r.utilisation for r in rows), "wait": _mean(r.wait for r in rows),
            "edp": _mean(r.edp for r in rows)}


def _mean(values: Iterable[float]) -> float:
    return float(np.mean([float(value) for value in values]))


