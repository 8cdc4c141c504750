"""The values of an axis as a sweep file writes them: a list, or a range."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.scenario.whole_fields import is_whole

MOST_VALUES = 100_000
SEED = "trace.seed"
CAPS = ("power.cap", "power.watch_cap")
_RANGE = {"from", "to", "step", "count"}


@dataclass(frozen=True)
class Axis:
    """A field of the scenario and the values that it takes."""

    field: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Interval:
    """All numbers from one to another, for a search; a sweep needs a step or a count."""

    field: str
    low: float
    high: float
    whole: bool
    unit: str = ""
    """`%`, or `%peak` of a cap, where the numbers are per cent."""

    def value(self, number: float) -> Any:
        """One of the numbers as the field takes it."""
        return f"{number_text(number)}{self.unit}" if self.unit else number


def read_axis(field: str, given: Any) -> Axis | Interval:
    """A list of values, or `{from = 0.5, to = 1.0, step = 0.1}`, or the same with `count`."""
    if isinstance(given, Mapping) and "from" in given:
        return _range(field, given)
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise InputError(f"axes: {field} needs a list of values, like [0.6, 0.7], or a range like "
                         "{from = 0.6, to = 0.9, step = 0.1}")
    return Axis(field, tuple(_as_taken(field, value) for value in given))


def _as_taken(field: str, value: Any) -> Any:
    """32.0 of a field of whole numbers is 32: they are one setting."""
    whole = isinstance(value, float) and value.is_integer() and is_whole(field)
    return int(value) if whole else value


def _range(field: str, given: Mapping[str, Any]) -> Axis | Interval:
    unknown = sorted(set(given) - _RANGE)
    if unknown:
        raise InputError(f"axes: {field} has '{unknown[0]}'; a range has from, to, and step or "
                         "count")
    if isinstance(given["from"], str):
        return _per_cent(field, given)
    if "to" not in given:
        raise InputError(f"axes: {field} is a range that begins at {given['from']} and has no end; "
                         "add to, and step or count")
    numbers = {name: value for name, value in given.items()
               if isinstance(value, (int, float)) and not isinstance(value, bool)
               and np.isfinite(value)}
    if len(numbers) < len(given):
        raise InputError(f"axes: {field} is a range; from, to, step and count are numbers")
    low, high = numbers["from"], numbers["to"]
    if high < low:
        raise InputError(f"axes: {field} goes from {low:g} to {high:g}; write the smaller first")
    whole = all(isinstance(value, int) for name, value in numbers.items() if name != "count")
    if "count" in numbers and "step" in numbers:
        raise InputError(f"axes: {field} has a step and a count; one follows from the other")
    takes_whole = is_whole(field)
    if "count" in numbers:
        values = np.linspace(low, high, _count(field, numbers["count"]))
        return Axis(field, _rounded(field, values) if takes_whole else tuple(values.tolist()))
    if "step" not in numbers:
        return _interval(field, low, high, whole if takes_whole is None else takes_whole)
    step = numbers["step"]
    if not step > 0:
        raise InputError(f"axes: the step of {field} is {step:g}, must be above 0")
    count = _count(field, int((high - low) / step * (1 + 1e-12) + 1e-9) + 1)
    # Counted, not added up: 0.1 ten times is not 1. Rounded as a person would write it.
    steps = [low + step * number for number in range(count)]
    return Axis(field, tuple(steps if whole else [float(f"{value:.12g}") for value in steps]))


def _interval(field: str, low: float, high: float, whole: bool) -> Interval:
    if whole and np.ceil(low) > np.floor(high):
        raise InputError(f"axes: {field} takes whole numbers, and there is none from {low:g} to "
                         f"{high:g}")
    return Interval(field, float(low), float(high), whole)


def _rounded(field: str, values: FloatArray) -> tuple[int, ...]:
    """The nearest whole numbers, as many different ones as were asked for."""
    found = tuple(dict.fromkeys(int(value) for value in np.floor(values + 0.5)))
    if len(found) < len(values):
        raise InputError(f"axes: {field} takes whole numbers, and there are no {len(values):,} of "
                         f"them from {values[0]:g} to {values[-1]:g}")
    return found


def _per_cent(field: str, given: Mapping[str, Any]) -> Axis | Interval:
    """`{from = "70%", to = "90%", step = "5%"}`, of a cap also `"70%peak"`."""
    texts = {name: value for name, value in given.items() if name != "count"}
    try:
        numbers = {name: float(value.partition("%")[0]) for name, value in texts.items()}
        units = {"".join(value.partition("%")[1:]) for value in texts.values()}
    except (AttributeError, ValueError):
        numbers, units = {}, set()
    unit = next(iter(units), "")
    if len(units) != 1 or not unit or (unit != "%" and field not in CAPS):
        raise InputError(f"axes: {field} is a range; from, to and step are all numbers, or all per "
                         'cent like "70%"')
    found = _range(field, {**given, **numbers})
    if isinstance(found, Interval):
        return Interval(field, found.low, found.high, whole=False, unit=unit)
    return Axis(field, tuple(f"{number_text(value)}{unit}" for value in found.values))


def number_text(value: float) -> str:
    """A number in few digits where they say all of it, else in as many as it has: two values of an
    axis must not look like one."""
    short = f"{value:.6g}"
    return short if float(short) == value or math.isnan(value) else repr(float(value))


def _count(field: str, count: float) -> int:
    if not 1 <= count <= MOST_VALUES or count != int(count):
        raise InputError(f"axes: {field} would have {count:g} values, must be 1 to {MOST_VALUES:,}")
    return int(count)


def combined(axes: Iterable[Axis], together: Iterable[Sequence[str]]) -> Iterator[dict[str, Any]]:
    """Every combination of the values, the last axis changing first; those of a group that goes
    together take their first values together, then their second, and so on."""
    bundles = bundled(list(axes), [tuple(group) for group in together])
    for chosen in product(*bundles):
        yield {field: value for part in chosen for field, value in part.items()}


def bundled(axes: list[Axis], together: list[tuple[str, ...]]) -> list[list[dict[str, Any]]]:
    """What is crossed: single axes, and groups of axes that go together."""
    by_field = {axis.field: axis for axis in axes}
    group_of: dict[str, tuple[str, ...]] = {}
    for group in together:
        for field in group:
            if field not in by_field:
                raise InputError(f"zip: '{field}' is no axis with a list of values (a range needs "
                                 f"a step or a count); there are: {', '.join(by_field)}")
            if field in group_of:
                raise InputError(f"zip: '{field}' stands in two groups")
            group_of[field] = group
        sizes = {field: len(by_field[field].values) for field in group}
        if len(set(sizes.values())) > 1:
            said = ", ".join(f"{field} has {size}" for field, size in sizes.items())
            raise InputError(f"zip: axes that go together need as many values each; {said}")
    found: list[list[dict[str, Any]]] = []
    seen: set[str] = set()
    for axis in axes:
        if axis.field in seen:
            continue
        group = group_of.get(axis.field, (axis.field,))
        seen.update(group)
        columns = [by_field[field].values for field in group]
        found.append([dict(zip(group, row, strict=True)) for row in zip(*columns, strict=True)])
    return found
