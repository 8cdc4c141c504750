"""A point of a sweep, and the name that its content has: equal contents are computed once."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wattline.model.errors import WattlineError
from wattline.model.fields import name_of
from wattline.model.reading import is_file
from wattline.model.sources import package_digest, plug_in_digest
from wattline.policies.declaration import AXES
from wattline.policies.registry import plug_ins
from wattline.scenario.caps import without_cap
from wattline.scenario.load import validate
from wattline.scenario.model import Scenario
from wattline.scenario.named_files import file_digest, file_of_code, files_behind, texts_in
from wattline.scenario.python_policy import code_of
from wattline.scenario.sweep import with_keeper, without_watched
from wattline.sweeps.space import Space

UNKNOWN = ""
"""The key of a point that rests on what we cannot see (code, a database): it is computed every
time."""
PACKAGE = "wattline itself"
"""How the sources of this package are called among what a result rests on."""


@dataclass(frozen=True)
class Point:
    """Where it lies, what is simulated there, and its key."""

    number: int
    setting: Mapping[str, Any]
    scenario: Scenario | None
    key: str
    error: str = ""
    """Why there is no scenario."""
    said: tuple[str, ...] = ()
    """What was chosen for it that nobody chose."""


class Looked:
    """What texts of scenarios name, looked up once: points of a sweep have most of them alike."""

    def __init__(self) -> None:
        self._behind: dict[str, dict[str, str]] = {}
        self._by_content: dict[str, str] = {}

    def behind(self, text: str) -> dict[str, str]:
        """The digests of the files that a text rests on, by their names."""
        if text not in self._behind:
            self._behind[text] = {str(file): file_digest(file) for file in files_behind(text)}
        return self._behind[text]

    def by_content(self, text: str) -> str:
        """The text with the digest of a file in the place of its name."""
        if text not in self._by_content:
            file = file_of_code(text) or (text if is_file(text) else "")
            self._by_content[text] = f"{file_digest(file)}{text[len(file):]}" if file else text
        return self._by_content[text]


def points_of(space: Space) -> Iterator[Point]:
    """All points in order; a setting that makes no scenario is a point with its error."""
    looked = Looked()
    for number, setting in enumerate(space.settings()):
        yield point_of(space, number, setting, looked)


def point_of(
    space: Space, number: int, setting: Mapping[str, Any], looked: Looked | None = None
) -> Point:
    """The point of a setting; `looked` is what was looked up for the points before it."""
    try:
        changes, dropped = _changes(space, setting)
        scenario = validate(space.fields(changes), space.name)
        scenario, said = with_keeper(scenario, setting)
        # Points that differ by what is left out are one simulation, and have one key.
        scenario, left_out = without_cap(scenario)
        return Point(number, setting, scenario, content_key(scenario, looked),
                     said=(*space.said, *dropped, *said, *left_out))
    except WattlineError as error:
        return Point(number, setting, None, UNKNOWN, str(error))


def _changes(space: Space, setting: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The setting, less a cap that the scenario watches where one is varied."""
    section = space.base.get("power")
    if not isinstance(section, Mapping) or "watch_cap" not in section:
        return dict(setting), ()  # to make a scenario for this takes as long as all the rest
    return without_watched(lambda changes: validate(space.fields(changes), space.name), setting,
                           setting)


def content_key(scenario: Scenario, looked: Looked | None = None) -> str:
    """A digest of all that decides about the result: fields, files, and the sources of this
    package and of plug-ins. Where files lie does not."""
    looked = looked or Looked()
    fields = _fields(scenario)
    rests_on = _rests_on(scenario, fields, looked)
    if not rests_on:
        return UNKNOWN
    contents = sorted((os.path.basename(name), digest) for name, digest in rests_on.items())
    text = json.dumps([_by_content(fields, looked), contents], sort_keys=True,
                      separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _by_content(value: Any, looked: Looked) -> Any:
    """The same fields, with the digests of files in the place of their names."""
    if isinstance(value, str):
        return looked.by_content(value)
    if isinstance(value, dict):
        return {name: _by_content(inner, looked) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_by_content(inner, looked) for inner in value]
    return value


def sources_of(scenario: Scenario) -> dict[str, str]:
    """What a result rests on beside the fields, by name with the digest of its content; nothing
    where some of it cannot be seen."""
    return _rests_on(scenario, _fields(scenario), Looked())


def _rests_on(scenario: Scenario, fields: Mapping[str, Any], looked: Looked) -> dict[str, str]:
    texts = set(texts_in(fields))
    # Of a database nobody knows whether it still says what it said.
    if any("://" in text for text in texts) or any(
            not file_of_code(place) for place in code_of(scenario.policy).values()):
        return {}
    chosen = {axis: name_of(getattr(scenario.policy, axis)) for axis in AXES}
    found = {PACKAGE: package_digest()} | {
        module: plug_in_digest(module) for module in plug_ins(chosen)}
    for name in sorted(texts):
        found |= looked.behind(name)
    return found if all(found.values()) else {}


def _fields(scenario: Scenario) -> dict[str, Any]:
    """All but the name, which decides about nothing."""
    return scenario.model_dump(mode="json", exclude_none=True, exclude={"name"})
