"""A point of a sweep, and the name that its content has: equal contents are computed once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
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


def points_of(space: Space) -> Iterator[Point]:
    """All points in order; a setting that makes no scenario is a point with its error."""
    for number, setting in enumerate(space.settings()):
        yield point_of(space, number, setting)


def point_of(space: Space, number: int, setting: Mapping[str, Any]) -> Point:
    try:
        changes, dropped = _changes(space, setting)
        scenario = validate(space.fields(changes), space.name)
        scenario, said = with_keeper(scenario, setting)
        # Points that differ by what is left out are one simulation, and have one key.
        scenario, left_out = without_cap(scenario)
        return Point(number, setting, scenario, content_key(scenario),
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


def content_key(scenario: Scenario) -> str:
    """A digest of all that decides about the result: fields, files, and the sources of this
    package and of plug-ins. Where files lie does not."""
    rests_on = sources_of(scenario)
    if not rests_on:
        return UNKNOWN
    contents = sorted((Path(name).name, digest) for name, digest in rests_on.items())
    text = json.dumps([_by_content(_fields(scenario)), contents], sort_keys=True,
                      separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _by_content(value: Any) -> Any:
    """The same fields, with the digests of files in the place of their names."""
    if isinstance(value, Mapping):
        return {name: _by_content(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_by_content(inner) for inner in value]
    if not isinstance(value, str):
        return value
    file = file_of_code(value) or (value if is_file(value) else "")
    return f"{file_digest(file)}{value[len(file):]}" if file else value


def sources_of(scenario: Scenario) -> dict[str, str]:
    """What a result rests on beside the fields, by name with the digest of its content; nothing
    where some of it cannot be seen."""
    texts = set(texts_in(_fields(scenario)))
    # Of a database nobody knows whether it still says what it said.
    if any("://" in text for text in texts) or any(
            not file_of_code(place) for place in code_of(scenario.policy).values()):
        return {}
    chosen = {axis: name_of(getattr(scenario.policy, axis)) for axis in AXES}
    found = {PACKAGE: package_digest()} | {
        module: plug_in_digest(module) for module in plug_ins(chosen)}
    for name in sorted(texts):
        for file in files_behind(name):
            found[str(file)] = file_digest(file)
    return found if all(found.values()) else {}


def _fields(scenario: Scenario) -> dict[str, Any]:
    """All but the name, which decides about nothing."""
    return scenario.model_dump(mode="json", exclude_none=True, exclude={"name"})
