"""docs/scenario.md says what the scenario file can hold."""

from __future__ import annotations

import re
import tomllib
import typing
from pathlib import Path

from pydantic import BaseModel

from wattline.scenario.load import validate
from wattline.scenario.model import Scenario

PAGE = (Path(__file__).parents[2] / "docs" / "scenario.md").read_text(encoding="utf-8")


def fields(model: type[BaseModel], place: str = "") -> dict[str, object]:
    """Every field with its place in the file, sections and lists of sections included."""
    found: dict[str, object] = {}
    for name, field in model.model_fields.items():
        found[place + name] = field.get_default(call_default_factory=True)
        for inner in _sections(field.annotation):
            found |= fields(inner, f"{place}{name}.")
    return found


def _sections(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in typing.get_args(annotation) for model in _sections(part)]


def listed() -> set[str]:
    """Return what stands in backquotes in the first column of the page's tables."""
    cells = re.findall(r"^\| ([^|]*) \|", PAGE, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([\w.]+)`", cell)}


def test_every_field_is_documented_and_no_other() -> None:
    assert listed() == set(fields(Scenario))


def test_the_walk_reaches_sections_in_lists_and_unions() -> None:
    assert {"machine.classes.boot_s", "power.cap.watts", "reservations.nodes"} <= set(
        fields(Scenario)
    )


def test_defaults_are_the_real_ones() -> None:
    """Return those that the page gives as a plain number or a quoted word."""
    known = fields(Scenario)
    rows = re.findall(r"^\| `([\w.]+)` \| ([^|]*) \|", PAGE, re.MULTILINE)
    checked = 0
    for name, said in rows:
        word = re.fullmatch(r'`"(\w+)"`', said)
        number = re.fullmatch(r"([\d,.]+)(?: s| W)?", said)
        if word:
            assert known[name] == word[1], name
        elif number:
            assert known[name] == float(number[1].replace(",", "")), name
        checked += bool(word or number)
    assert checked > 15


def test_the_example_is_a_scenario() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    scenario = validate(tomllib.loads(example))
    assert scenario.power.cap == "60kW"
    assert scenario.machine.nodes == 256
