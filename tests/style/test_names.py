"""One name, one thing: what people import from `wattline`, and the words that everybody meets."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import wattline as wl

CLASS = re.compile(r"^class (\w+)", re.MULTILINE)
SOURCE = Path(__file__).parents[2] / "src" / "wattline"
ROOM_OF_OBJECTS = SOURCE / "scenario" / "objects.py"
"""Policies and machines as people write them; the kernels' own have the same names on purpose."""

ONE_OF_EACH = ("View", "Setting", "Outcome", "Row", "Workload", "Plan", "Tracking",
               "Part", "Settings", "Choice", "Asked")


@cache
def classes() -> Counter[str]:
    """Count how often each class of the package is defined, policies as objects apart."""
    return Counter(name for path in SOURCE.rglob("*.py") if path != ROOM_OF_OBJECTS
                   for name in CLASS.findall(path.read_text(encoding="utf-8")))


def test_a_class_that_is_exported_shares_its_name_with_no_other() -> None:
    objects = set(CLASS.findall(ROOM_OF_OBJECTS.read_text(encoding="utf-8")))
    found = classes()
    assert {name for name in {*wl.__all__} - objects if found[name] > 1} == set()


def test_words_that_are_met_everywhere_mean_one_thing_each() -> None:
    found = classes()
    assert {name: found[name] for name in ONE_OF_EACH} == dict.fromkeys(ONE_OF_EACH, 1)


def test_the_slack_of_caps_has_one_definition() -> None:
    """Whoever compares a power with a cap takes that of the model."""
    own = re.compile(r"(?:cap|limit)\w*(?:\(\w+\))? \* \(1(?:\.0)? [+-] 1e-\d+\)|^CAP_SLACK = ",
                     re.MULTILINE)
    assert [path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")
            if own.search(path.read_text(encoding="utf-8"))] == ["model/cap_slack.py"]
