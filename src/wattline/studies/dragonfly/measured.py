"""Figures of whole runs, which take hours, as they were measured: `measured.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any


def figures() -> dict[str, Any]:
    """What was found, in the form of `figures.summary`; every part by a command of its own."""
    found: dict[str, Any] = {}
    for run in _runs():
        _merge(found, run["found"])
    return found


def commands() -> tuple[str, ...]:
    """The commands that made the figures, in their order."""
    return tuple(run["command"] for run in _runs())


def _runs() -> list[dict[str, Any]]:
    text = resources.files(__package__).joinpath("measured.toml").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = tomllib.loads(text)["run"]
    return found


def _merge(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    for name, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(name), dict):
            _merge(into[name], value)
        else:
            into[name] = value
