"""A point of a sweep, and the name that its content has: equal contents are computed once."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from wattline.model.errors import WattlineError
from wattline.model.fields import name_of
from wattline.model.reading import is_file
from wattline.model.sources import imported_files, package_digest, plug_in_digest
from wattline.policies.declaration import AXES
from wattline.policies.registry import plug_ins
from wattline.scenario.bundled_logs import file_named
from wattline.scenario.load import validate
from wattline.scenario.model import Scenario
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
        return Point(number, setting, scenario, content_key(scenario),
                     said=(*space.said, *dropped, *said))
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
    package and of plug-ins."""
    rests_on = sources_of(scenario)
    if not rests_on:
        return UNKNOWN
    text = json.dumps([_fields(scenario), rests_on], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def sources_of(scenario: Scenario) -> dict[str, str]:
    """What a result rests on beside the fields, by name with the digest of its content; nothing
    where some of it cannot be seen."""
    texts = set(_texts(_fields(scenario)))
    # Of a database nobody knows whether it still says what it said.
    if any("://" in text for text in texts) or any(
            not _file_of_code(place) for place in code_of(scenario.policy).values()):
        return {}
    chosen = {axis: name_of(getattr(scenario.policy, axis)) for axis in AXES}
    found = {PACKAGE: package_digest()} | {
        module: plug_in_digest(module) for module in plug_ins(chosen)}
    for name in sorted(texts):
        code = _file_of_code(name)
        own = None if code else file_named(name)
        for file in imported_files(code) if code else [own] if own else []:
            found[str(file)] = file_digest(file)
    return found if all(found.values()) else {}


def _fields(scenario: Scenario) -> dict[str, Any]:
    """All but the name, which decides about nothing."""
    return scenario.model_dump(mode="json", exclude_none=True, exclude={"name"})


def file_digest(path: str | Path) -> str:
    """The digest of a file's content, read again where its time or size has changed."""
    status = os.stat(path)
    return _file_digest(str(path), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=1024)
def _file_digest(path: str, changed_ns: int, size: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _file_of_code(place: str) -> str:
    """The file of `file.py:Class`; nothing for a module that Python finds by itself."""
    file, colon, _ = place.rpartition(":")
    return file if colon and file.endswith(".py") and is_file(file) else ""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _texts(inner)
