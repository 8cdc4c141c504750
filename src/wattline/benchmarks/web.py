"""Load of the dashboard: 200 viewers at 1 Hz, first paint, a what-if from click to curve, size."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

VIEWERS, SECONDS = 200, 30.0
NODES = 5000
"""Of the machine whose first page is painted."""
LIMITS = {"missed_beats": 0, "refused_answers": 0, "first_paint_s": 1.0, "click_to_curve_s": 1.0,
          "javascript_gzip_bytes": 150_000}
"""What the dashboard must keep."""


def measure(progress: Callable[[float], None]) -> dict[str, Any]:
    """All of it in one go, each against its limit; the load of the machine stands beside it."""
    from wattline.benchmarks._web_browser import click_to_curve, first_paint
    from wattline.benchmarks._web_load import first_answers, javascript, viewers, whatif
    from wattline.benchmarks._web_server import large_machine, server

    found: dict[str, Any] = {"load_at_start": os.getloadavg()[0]}
    _compile()  # a request may not take as long as that can
    progress(0.2)
    with server() as served:
        found["viewers"] = viewers(*served, VIEWERS, SECONDS)
        progress(0.5)
        found["whatif"] = whatif(*served)
        progress(0.6)
        found["click_to_curve"] = click_to_curve(*served, found["whatif"].pop("share"))
    progress(0.8)
    with large_machine(NODES) as served:
        found["first_answers_5000_nodes"] = first_answers(served[0], NODES)
        found["first_paint_5000_nodes"] = first_paint(*served)
    found["javascript"] = javascript()
    return found | {"load_at_end": os.getloadavg()[0], "limits": judged(found)}


def judged(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Each limit, what was measured, and whether it is kept; null where nothing was measured."""
    measured = {
        "missed_beats": found["viewers"]["missed"],
        "refused_answers": found["viewers"]["refused"],
        "first_paint_s": found["first_paint_5000_nodes"].get("first_paint_s"),
        "click_to_curve_s": found["click_to_curve"].get("median_s"),
        "javascript_gzip_bytes": found["javascript"]["gzip_bytes"]}
    return {name: {"limit": limit, "measured": measured[name],
                   "kept": None if measured[name] is None else measured[name] <= limit}
            for name, limit in LIMITS.items()}


def _compile() -> None:
    from wattline.scenario.api import simulate

    for name in ("main-capped", "main-uncapped"):
        simulate(f"bundled:{name}")
