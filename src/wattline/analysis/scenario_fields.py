"""What a run's scenario says, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def fields(scenario: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Every field of a scenario with its place in the file, for the full list."""
    for key, value in scenario.items():
        if isinstance(value, Mapping):
            yield from fields(value, f"{path}{key}.")
        elif isinstance(value, (list, tuple)) and value and isinstance(value[0], Mapping):
            for number, item in enumerate(value):
                yield from fields(item, f"{path}{key}[{number}].")
        else:
            yield path + key, str(value)
