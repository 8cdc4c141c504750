"""One name, one thing: what people import from `wattline`, and the words that everybody meets."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import wattline as wl

SOURCE = Path(__file__).parents[2] / "src" / "wattline"
ROOM_OF_OBJECTS = SOURCE / "scenario" / "objects.py"
"""Policies and machines as people write them; the kernels' own have the same names on purpose."""


def classes() -> Counter[str]:
    """How often each class of the package is defined, policies as objects apart."""
    return Counter(
        node.name for path in SOURCE.rglob("*.py") if path != ROOM_OF_OBJECTS
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef))


def test_a_class_that_is_exported_shares_its_name_with_no_other() -> None:
    objects = {node.name for node in ast.parse(ROOM_OF_OBJECTS.read_text(encoding="utf-8")).body
               if isinstance(node, ast.ClassDef)}
    twice = {name for name in {*wl.__all__} - objects if classes()[name] > 1}
    assert twice == set()


def test_view_setting_and_outcome_mean_one_thing_each() -> None:
    found = classes()
    assert {name: found[name] for name in ("View", "Setting", "Outcome")} == {
        "View": 1, "Setting": 1, "Outcome": 1}
