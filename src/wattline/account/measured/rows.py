"""Lives and steps as rows of their tables, and back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from wattline.account.measured.records import Life, LifeKey, StepSeen

_LIFE_TEXTS = ("user", "account", "partition", "application", "node_class", "state", "node_list",
               "alloc_tres", "asked_frequency")
_LIFE_NUMBERS = ("submit_s", "end_s", "limit_s", "cpu_s", "suspended_s", "frequency_hz", "seen_s")
_STEP_NUMBERS = ("end_s", "energy_j", "frequency_hz", "cpu_s")


def life_row(life: Life) -> dict[str, Any]:
    """What a row says of a life."""
    return {
        "cluster": life.key.cluster, "label": life.key.label, "start_s": life.key.start_s,
        "job_id": life.job_id, "nodes": life.nodes, "cores": life.cores,
        "told_j": _known(life.energy_j),
        **{name: getattr(life, name) for name in _LIFE_TEXTS},
        **{name: _known(getattr(life, name)) for name in _LIFE_NUMBERS},
    }


def life_of(row: Mapping[Any, Any]) -> Life:
    """The life that a row tells of."""
    return Life(
        LifeKey(str(row["cluster"]), str(row["label"]), int(row["start_s"])),
        job_id=None if row["job_id"] is None else int(row["job_id"]),
        nodes=int(row["nodes"]), cores=int(row["cores"]), energy_j=_number(row["told_j"]),
        **_fields(row, _LIFE_TEXTS, _LIFE_NUMBERS),
    )


def step_row(step: StepSeen) -> dict[str, Any]:
    """What a row says of a step."""
    return {
        "cluster": step.cluster, "label": step.label, "step": step.step, "start_s": step.start_s,
        "node_list": step.node_list, "state": step.state,
        **{name: _known(getattr(step, name)) for name in _STEP_NUMBERS},
    }


def step_of(row: Mapping[Any, Any]) -> StepSeen:
    """The step that a row tells of."""
    return StepSeen(
        str(row["cluster"]), str(row["label"]), str(row["step"]), int(row["start_s"]),
        **_fields(row, ("node_list", "state"), _STEP_NUMBERS),
    )


def _fields(row: Mapping[Any, Any], texts: Iterable[str], numbers: Iterable[str]) -> dict[str, Any]:
    return {**{name: str(row[name]) for name in texts},
            **{name: _number(row[name]) for name in numbers}}


def _known(value: float) -> float | None:
    """Databases have no NaN."""
    return None if math.isnan(value) else float(value)


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
