"""Wattline plans, runs and accounts for an HPC cluster under a power limit.

    import wattline as wl

    run = wl.simulate("scenario.toml")
    wl.job_table(run).to_pandas()
    wl.metrics(run)["wait_s"]["mean"]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wattline.analysis.metrics import metrics
    from wattline.analysis.report import report
    from wattline.analysis.tables import event_table, job_table
    from wattline.policies.view import (
        Pause,
        PowerDown,
        PowerUp,
        SetLevel,
        SetSpeed,
        Start,
        View,
        WakeAt,
    )
    from wattline.scenario.api import simulate
    from wattline.traces import generate, read

__all__ = [
    "Pause",
    "PowerDown",
    "PowerUp",
    "SetLevel",
    "SetSpeed",
    "Start",
    "View",
    "WakeAt",
    "event_table",
    "generate",
    "job_table",
    "metrics",
    "read",
    "report",
    "simulate",
]

# Where each name lives: what it needs is imported when it is first used.
_PLACES = {
    **dict.fromkeys(
        ("Pause", "PowerDown", "PowerUp", "SetLevel", "SetSpeed", "Start", "View", "WakeAt"),
        "wattline.policies.view",
    ),
    "event_table": "wattline.analysis.tables",
    "generate": "wattline.traces",
    "job_table": "wattline.analysis.tables",
    "metrics": "wattline.analysis.metrics",
    "read": "wattline.traces",
    "report": "wattline.analysis.report",
    "simulate": "wattline.scenario.api",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("wattline")
    if name not in _PLACES:
        raise AttributeError(f"module 'wattline' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
