"""A sweep as a file says it: a scenario, axes over its fields, and how they are combined."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError
from wattline.model.reading import MOST_TOML_BYTES, is_file, parse_toml, read_text
from wattline.scenario.load import beside, changed, fields_of, validate
from wattline.scenario.sweep import same_jobs
from wattline.sweeps.axes import SEED, Axis, Interval, bundled, combined, read_axis

MOST_POINTS = 1_000_000
_SECTIONS = ("scenario", "axes", "zip", "seeds", "name")


@dataclass(frozen=True)
class Space:
    """A scenario's fields, and the axes along which some of them change."""

    name: str
    base: Mapping[str, Any]
    axes: tuple[Axis, ...]
    intervals: tuple[Interval, ...] = ()
    together: tuple[tuple[str, ...], ...] = ()
    seeds: tuple[int, ...] = ()
    """The workload is drawn anew from each of these, the same ones at every other setting, so
    that differences between settings are not differences between draws."""
    folder: Path = field(default_factory=Path.cwd, compare=False)
    """Names of files along the axes are relative to it. It is absolute, and with it all names of
    files at the points: workers may stand in another folder."""
    said: tuple[str, ...] = ()
    """What differs between points that nobody would expect."""

    def settings(self) -> Iterator[dict[str, Any]]:
        """The values at every point, by field."""
        if self.intervals:
            raise InputError(f"axes: {self.intervals[0].field} is a range without a step; give "
                             "step or count, or search it with --optimise")
        return combined((*self.axes, *self._seed_axis()), self.together)

    def _seed_axis(self) -> tuple[Axis, ...]:
        return (Axis(SEED, self.seeds),) if self.seeds else ()

    @property
    def fields_varied(self) -> tuple[str, ...]:
        """The fields that change, the seed among them."""
        axes = [each.field for each in (*self.axes, *self._seed_axis())]
        return (*axes, *(each.field for each in self.intervals))

    @property
    def size(self) -> int:
        """How many points there are, were each range without a step one value."""
        return math.prod(len(bundle) for bundle in self._bundles())

    def _bundles(self) -> list[list[dict[str, Any]]]:
        return bundled([*self.axes, *self._seed_axis()], list(self.together))

    def choices(self) -> list[list[dict[str, Any]]]:
        """What a search chooses from: of each single axis, and of each group of axes that go
        together, one."""
        return [bundle for bundle in self._bundles() if set(bundle[0]) != {SEED}]

    def draws(self) -> list[dict[str, Any]]:
        """The seeds of every setting; one that goes together with an axis belongs to that."""
        alone = [bundle for bundle in self._bundles() if set(bundle[0]) == {SEED}]
        return alone[0] if alone else [{}]

    def fields(self, setting: Mapping[str, Any]) -> dict[str, Any]:
        """The scenario's fields at a point."""
        # File names along an axis are relative to the sweep's file, not to the scenario's.
        return changed(self.base, {name: _beside(name, value, self.folder)
                                   for name, value in setting.items()})


def read_space(given: str | Path | Mapping[str, Any]) -> Space:
    """A sweep from its file, or from a mapping of the same form."""
    if isinstance(given, Mapping):
        return space_of(given, "sweep", Path.cwd())
    path = Path(given)
    if str(given).startswith("bundled:"):
        raise InputError(f"{given} is a scenario; a sweep is a file with [axes] beside one")
    return space_of(parse_toml(read_text(path, MOST_TOML_BYTES), str(path)), str(path),
                    path.parent.absolute())


def space_of(table: Mapping[str, Any], source: str, folder: Path) -> Space:
    unknown = sorted(set(table) - set(_SECTIONS))
    if unknown:
        raise InputError(f"{source}: there is no '{unknown[0]}' in a sweep; it has "
                         f"{', '.join(_SECTIONS)}")
    if not isinstance(table.get("axes"), Mapping) or not table["axes"]:
        raise InputError(f"{source}: it has no [axes]; write a field and its values, like "
                         '"power.cap" = ["90%", "80%"]')
    misplaced = [name for name in ("zip", "seeds") if name in table["axes"]]
    if misplaced:
        raise InputError(f"{source}: {misplaced[0]} is no axis; write it above [axes]")
    base = _base(table.get("scenario"), source, folder)
    axes = [read_axis(_field(name), values) for name, values in _flat(table["axes"])]
    _check_once([axis.field for axis in axes], source)
    seeds = _seeds(table.get("seeds"), [axis.field for axis in axes], source)
    fields = {axis.field for axis in axes}
    draws = bool(seeds) or SEED in fields
    if (draws and isinstance(base.get("trace"), Mapping) and "file" in base["trace"]
            and "trace.generate" not in fields):
        raise InputError(f"{source}: seeds draw a generated workload; a log is what it is")
    if any(isinstance(axis, Interval) and axis.field == SEED for axis in axes):
        raise InputError(f"{source}: {SEED} is a range without a step, and luck is nothing to "
                         "search for; write seeds = 5, and each setting counts by its mean")
    base, fitted = _with_same_jobs(base, fields, source)
    name = str(table.get("name") or base.get("name") or Path(source).stem)
    found = Space(
        name=name[:200], base={**base, "name": name[:200]},
        axes=tuple(axis for axis in axes if isinstance(axis, Axis)),
        intervals=tuple(axis for axis in axes if isinstance(axis, Interval)),
        together=_groups(table.get("zip"), [axis.field for axis in axes], source),
        seeds=seeds, folder=folder, said=fitted)
    if found.size > MOST_POINTS:
        raise InputError(f"{source}: that is {found.size:,} points; at most {MOST_POINTS:,}")
    return found


def _with_same_jobs(
    base: Mapping[str, Any], fields: set[str], source: str
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The base with jobs that do not change with the machines along the axes."""
    changes, said = same_jobs(lambda given: validate(changed(base, given), source), {}, fields)
    return changed(base, changes), said


def _check_once(fields: list[str], source: str) -> None:
    twice = sorted(name for name in set(fields) if fields.count(name) > 1)
    if twice:
        raise InputError(f"{source}: {twice[0]} is an axis twice; write all of its values once")


def _flat(axes: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Fields with their values; `[axes.power] cap = [...]` is the same as `"power.cap"`."""
    for name, value in axes.items():
        if isinstance(value, Mapping) and "from" not in value:
            yield from _flat(value, f"{path}{name}.")
        else:
            yield path + name, value


def _field(name: str) -> str:
    return name.replace("__", ".")


def _base(given: Any, source: str, folder: Path) -> dict[str, Any]:
    if given is None:
        raise InputError(f'{source}: it has no scenario; give scenario = "file.toml", or a table '
                         "[scenario] with its sections")
    if isinstance(given, str):
        place = given if given.startswith("bundled:") else str(folder / given)
        if not place.startswith("bundled:") and not is_file(place):
            raise InputError(f"{source}: there is no scenario {given}")
        return fields_of(place)
    if not isinstance(given, Mapping):
        raise InputError(f"{source}: scenario is the name of a file, or a table")
    return beside(given, folder)


def _seeds(given: Any, fields: list[str], source: str) -> tuple[int, ...]:
    if given is None:
        return ()
    if SEED in fields:
        raise InputError(f"{source}: seeds are given twice: as seeds, and along {SEED}")
    if isinstance(given, int) and not isinstance(given, bool) and given >= 1:
        return tuple(range(1, given + 1))
    if (isinstance(given, list) and given
            and all(type(seed) is int and seed >= 0 for seed in given)
            and len(set(given)) == len(given)):
        return tuple(given)
    raise InputError(f"{source}: seeds are a number of them, like 10, or a list of different ones")


def _groups(given: Any, fields: list[str], source: str) -> tuple[tuple[str, ...], ...]:
    if given is None or given is False:
        return ()
    if given is True:
        return (tuple(fields),)
    if isinstance(given, list) and all(
            isinstance(group, list) and len(group) > 1 for group in given):
        return tuple(tuple(_field(str(name)) for name in group) for group in given)
    raise InputError(f"{source}: zip is true (all axes go together), or a list of groups like "
                     '[["power.cap", "policy.power"]]')


def _beside(name: str, value: Any, folder: Path) -> Any:
    section = beside(changed({}, {name: value}), folder)
    for part in name.split("."):
        section = section[part]
    return section
