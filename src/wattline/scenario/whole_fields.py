"""Which fields of a scenario hold whole numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from wattline.scenario.model import Scenario


def is_whole(field: str) -> bool | None:
    """Whether a field like `machine.nodes` takes whole numbers alone; None where the scenario does
    not say what it takes, as of a policy's parameters."""
    kind: Any = Scenario
    for part in field.split("."):
        sections = [each for each in _kinds(kind) if part in getattr(each, "model_fields", {})]
        if not sections:
            return None
        kind = sections[0].model_fields[part].annotation
    kinds = list(_kinds(kind))
    return int in kinds and float not in kinds


def _kinds(kind: Any) -> Iterator[Any]:
    """A type, or those that it is made of where it may be one of several."""
    inner = get_args(kind)
    if not inner or getattr(kind, "__origin__", None) in (tuple, list, dict):
        yield kind
    elif hasattr(kind, "__metadata__"):  # the rest of an annotated one says how it is checked
        yield from _kinds(inner[0])
    else:
        for each in inner:
            yield from _kinds(each)
