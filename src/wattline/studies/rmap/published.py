"""The figures of the overprovisioning document beside those that the study found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WHERE = {
    ("large", "traditional"): "5.6.2, figure 5.7", ("large", "naive"): "5.6.2, figure 5.7",
    ("small", "traditional"): "5.6.2, figure 5.8", ("random1", "traditional"): "5.6.2, figure 5.6",
    ("random1", "naive"): "5.6.2, figure 5.6",
}


def rows(results: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Section, what, published, ours, verdict and why, of what `wl.study("rmap")` returns."""
    return [_comparison(one) for one in results["findings"]]


def _comparison(one: Mapping[str, Any]) -> tuple[str, ...]:
    where = _WHERE.get((one["traces"][0], one["against"]), "5.6.2, figure 5.9")
    spread = "" if one["interval_95"] is None else f" ± {100 * one['interval_95']:.1f}"
    return (
        where,
        f"turnaround of {_words(one['policy'])} below that of {_words(one['against'])}, "
        f"{' and '.join(one['traces'])} traces",
        f"{100 * one['published']:+.1f} %",
        f"{100 * one['measured']:+.1f}{spread} %",
        one["verdict"], one["why"],
    )


def _words(policy: str) -> str:
    name, _, threshold = policy.partition("_")
    return f"{name} {threshold} %" if threshold.isdigit() else policy.replace("_", " ")
