"""Meters of a ledger by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wattline.model.errors import InputError


def chosen_meters(names: str, seen: Mapping[str, Any]) -> list[str]:
    """The meters that were asked for (`feed:A,feed:B`), each once; all have been seen."""
    found = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    for name in found:
        if name not in seen:
            raise InputError(f"--meter: no joules of a meter '{name}' lie in this period; leave "
                             "it out, or import its series")
    return found
