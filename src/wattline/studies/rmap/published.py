"""The figures of the overprovisioning document beside those that the study found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from wattline.physics.procurement import PurchaseTerms, compare
from wattline.physics.scaling import PUBLISHED as LINES
from wattline.studies.published import judge
from wattline.studies.rmap.oracle import SHOWN

Rows = Iterator[tuple[str, ...]]

_WHERE = {
    ("large", "traditional"): "5.6.2, figure 5.7", ("large", "naive"): "5.6.2, figure 5.7",
    ("small", "traditional"): "5.6.2, figure 5.8", ("random1", "traditional"): "5.6.2, figure 5.6",
    ("random1", "naive"): "5.6.2, figure 5.6",
}
_USERS_BELOW = {"naive": -0.447, "adaptive_0": 0.071, "adaptive_10": 0.105, "adaptive_20": 0.211}
"""Of table 5.4: by how much the mean turnaround is below that of the traditional policy."""
_USERS_BETTER = {"adaptive_0 against traditional": 17, "adaptive_10 against traditional": 18,
                 "adaptive_20 against traditional": 22, "adaptive_20 against adaptive_0": 13}
_POWER = {"jobs_without_wait_traditional": (14, "jobs that do not wait under traditional, of 30"),
          "jobs_better": (28, "jobs that gain by adaptive 0 %, of 30"),
          "jobs_twice_as_fast": (8, "jobs that take less than half as long, of 30"),
          "mean_gain_of_jobs": (0.13, "mean gain of a job's turnaround"),
          "power_of_jobs_above_traditional": (0.17, "power of a job above that of traditional")}
_SPEEDUPS = {"2500": 0.738, "3000": 0.556, "3500": 0.672, "4000": 0.509}
_CONFIGURATIONS = {
    ("BT-MZ", "best"): ("(30 x 14, 51 W)", 6.09),
    ("BT-MZ", "packed_max"): ("(16 x 16, 115 W)", 7.27),
    ("SPhot", "best"): ("(32 x 16, 51 W)", 39.81),
    ("SPhot", "packed_max"): ("(18 x 16, 115 W)", 49.52),
}
_SPEEDUPS_TO_BUY = {"SPhot": 0.98, "SP-MZ": 1.02, "BT-MZ": 0.83, "LU-MZ": 1.22}
_CLOSE = 0.03


def rows(results: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Section, what, published, ours, verdict and why, of what `wl.study("rmap")` returns.

    Parts of the study that were not run have no rows.
    """
    found = [*_procurement()]
    for part, make in (("bounds", _bounds), ("oracle", _oracle)):
        if part in results:
            found += make(results[part])
    found += [_comparison(one) for one in results["findings"]]
    for part, make in (("users", _users), ("power", _power)):
        if part in results:
            found += make(results[part])
    return found


def _procurement() -> Rows:
    for name, printed in _SPEEDUPS_TO_BUY.items():
        ours = compare(PurchaseTerms(7000.0, 380.0, 180.0, 1.7, 0.27), LINES[name]).s_ovp
        yield ("4.4, table 4.9", f"speedup of 30 older nodes over 18 new ones, {name}",
               f"{printed:.2f}", f"{ours:.2f}", "holds" if abs(ours - printed) < 0.011 else "fails",
               "the line through the times that the table prints")


def _bounds(part: Mapping[str, Any]) -> Rows:
    at = {(one["application"].split("_")[0].casefold(), one["bound_w"]): one
          for one in part["rows"]}
    for (name, kind), (label, time_s) in _CONFIGURATIONS.items():
        one = at.get((name.casefold(), 3500.0), {}).get(kind)
        if one is None:
            continue
        ours = f"({one['nodes']} x {one['cores']}, {one['cap_w']:g} W)"
        same = ours == label and abs(one["time_s"] / time_s - 1) < _CLOSE
        yield ("3.4, figure 3.5", f"{name} at 3500 W, {kind.replace('_', '-')}",
               f"{label} {time_s:.2f} s", f"{ours} {one['time_s']:.2f} s",
               "holds" if same else "fails", "medians of the runs")
    real = [one for one in part["rows"]
            if one["application"].split("_")[0].casefold() in ("bt-mz", "sphot")]
    for bound, printed in _SPEEDUPS.items():
        known = [one["speedup"] for one in real
                 if one["bound_w"] == float(bound) and one["speedup"] is not None]
        if known:
            yield ("3.4, figure 3.4", f"mean speedup of the best over packed-max at {bound} W",
                   f"{100 * printed:+.1f} %", f"{100 * sum(known) / len(known):+.1f} %",
                   "not reproduced", "published of four applications; the measurements of two of "
                   "them (SP-MZ and LU-MZ) are not public")


def _oracle(part: Mapping[str, Any]) -> Rows:
    of = part["policies"]
    mean = sum(of[policy]["mean_error"] for policy in SHOWN) / 2
    by_trace = sorted(part["largest_by_trace"])
    median, kept = float(np.median(by_trace)), sum(each < 0.1 for each in by_trace)
    verdict = "holds" if kept == len(by_trace) else "holds on average"
    yield ("5.6.1, figure 5.6", "error of the turnaround from predicted tables, mean of "
           "traditional and adaptive", "4 %", f"{100 * mean:.1f} %",
           "holds" if mean < 0.045 else "fails", f"mean over {len(by_trace)} traces; there one")
    yield ("5.6.1, figure 5.6", "the largest of these errors at any bound, of one trace",
           "below 10 %", f"{100 * median:.1f} %", verdict if median < 0.1 else "fails",
           f"median of {len(by_trace)} traces, from {100 * by_trace[0]:.1f} to "
           f"{100 * by_trace[-1]:.0f} %; below 10 % in {kept}; there one trace")


def _users(part: Mapping[str, Any]) -> Rows:
    where = "5.6.3, table 5.4"
    for policy, printed in _USERS_BELOW.items():
        ours = part["below_traditional"][policy]
        yield (where, f"mean turnaround of {_words(policy)} below traditional, large trace at 44 %",
               f"{100 * printed:+.1f} %", _shown(ours, 100, " %"), *_judged(printed, ours))
    for pair, count in _USERS_BETTER.items():
        ours = part["users"][pair]["better"]
        yield ("5.6.3, figure 5.10", f"jobs of 30 that gain, {_pair(pair)}", str(count),
               _shown(ours), *_judged(count, ours))
    worse = part["users"]["adaptive_20 against adaptive_0"]["worse"]
    yield ("5.6.3, figure 5.10", "jobs of 30 that lose, adaptive 20 % against adaptive 0 %", "3",
           _shown(worse), *_judged(3, worse))


def _power(part: Mapping[str, Any]) -> Rows:
    for name, (printed, what) in _POWER.items():
        ours = part[name]
        share = isinstance(printed, float)
        yield ("5.6.4, figure 5.13", f"{what}, random trace 2 at 95 %",
               f"{100 * printed:+.0f} %" if share else str(printed),
               _shown(ours, 100, " %") if share else _shown(ours), *_judged(printed, ours))
    one, other = part["power_at_starts_traditional"], part["power_at_starts_adaptive_0"]
    more = other["mean"] > one["mean"]
    yield ("5.6.4, figure 5.12", "power in use when a job is started, adaptive 0 % against "
           "traditional", "more", f"{other['mean']:.0%} against {one['mean']:.0%} of the bound",
           "holds" if more else "fails", "" if more else "the reverse: smaller configurations "
           "finish the same work with less power")


def _judged(printed: float, ours: Mapping[str, Any]) -> tuple[str, str]:
    """A verdict of one printed trace beside a mean over many, and why."""
    mean, width = ours["mean"], ours["interval_95"]
    if width is None:
        return "not reproduced", "one seed says nothing"
    if (mean > 0) != (printed > 0) or abs(mean) <= width:
        return "fails", "no difference" if abs(mean) <= width else "the reverse"
    return judge(printed, mean), f"{mean / printed:.2g} times as much; published of one trace"


def _shown(ours: Mapping[str, Any], scale: float = 1.0, unit: str = "") -> str:
    width = "" if ours["interval_95"] is None else f" ± {scale * ours['interval_95']:.1f}"
    sign = "+" if unit else ""
    return f"{scale * ours['mean']:{sign}.1f}{width}{unit}"


def _comparison(one: Mapping[str, Any]) -> tuple[str, ...]:
    where = _WHERE.get((one["traces"][0], one["against"]), "5.6.2, figure 5.9")
    return (
        where,
        f"turnaround of {_words(one['policy'])} below that of {_words(one['against'])}, "
        f"{' and '.join(one['traces'])} traces",
        f"{100 * one['published']:+.1f} %",
        _shown({"mean": one["measured"], "interval_95": one["interval_95"]}, 100, " %"),
        one["verdict"], one["why"],
    )


def _pair(names: str) -> str:
    first, second = names.split(" against ")
    return f"{_words(first)} against {_words(second)}"


def _words(policy: str) -> str:
    name, _, threshold = policy.partition("_")
    return f"{name} {threshold} %" if threshold.isdigit() else policy.replace("_", " ")
