"""`wattline fit --suggest`: which configurations to measure next, or first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from wattline.cli.output import print_json, print_table
from wattline.model.errors import InputError
from wattline.model.units import counted, plain_number
from wattline.physics.dimensions import CLASSIC, kind_of, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wattline.model.signal import FloatArray
    from wattline.physics.configurations import ConfigurationTable

_MOST_LEVELS = 1000
Axes = dict[str, tuple[float, ...]]
"""What may be measured, by name; the rest is what the table has."""
_OPTIONS = {"nodes": "--nodes", "cores": "--cores", "cap_w": "--caps"}


def read_axes(
    nodes: str | None, cores: str | None, caps: str | None, others: tuple[str, ...]
) -> Axes:
    """The lists as the user wrote them; whole numbers of what is counted."""
    given: dict[str, str | None] = {"nodes": nodes, "cores": cores, "cap_w": caps}
    for text in others:
        name, equals, values = (part.strip() for part in text.partition("="))
        if not (name and equals and values):
            raise InputError(f"--at is '{text}'; write it like gpu_cap_w=200-700:100")
        if given.get(name):
            raise InputError(f"{name} is given twice, {given[name]} and {values}")
        given[name] = values
    found: Axes = {}
    for name, listed in given.items():
        if listed:
            option = _OPTIONS.get(name, f"--at {name}")
            found[name] = _levels(listed, option)
            if kind_of(name) == "count" and any(value != int(value) for value in found[name]):
                raise InputError(f"{option} must be whole numbers")
    return found


class _Candidates(NamedTuple):
    """Configurations that could be measured or have been, one row each."""

    names: tuple[str, ...]
    points: FloatArray
    measured: NDArray[Any]

    @property
    def left(self) -> int:
        return int((~self.measured).sum())


def print_suggestion(
    path: str | None, app: str | None, count: int, axes: Axes, sockets: int,
    columns: tuple[str, ...], as_json: bool,
) -> None:
    """Print the configurations whose measurement would teach most, the best first."""
    from wattline.physics.regression import suggest

    if count < 1:
        raise InputError(f"--suggest is {count}, must be at least 1")
    if path is None and app is not None:
        raise InputError("--app goes with a TABLE")
    if path is None and ("nodes" not in axes or len(axes) < 2 or (
            set(axes) & set(CLASSIC) and not set(CLASSIC) <= set(axes) and len(axes) == 2)):
        raise InputError("without a TABLE, --suggest needs --nodes, --cores and --caps, or --nodes "
                         "and other settings with --at")
    among = _candidates(axes, None if path is None else _known(path, app, columns))
    if not among.left:
        raise InputError("every combination of these nodes and settings is measured already; "
                         "widen the choice with --nodes, --cores, --caps or --at")
    if among.left < count:
        click.echo(f"wattline: --suggest is {count}, only "
                   f"{counted(among.left, 'configuration')} can still be measured", err=True)
    rows = suggest(among.points, count, measured=among.measured, names=among.names,
                   sockets=sockets)
    found: list[dict[str, Any]] = [
        {name: int(value) if kind_of(name) == "count" else float(value)
         for name, value in zip(among.names, row, strict=True)} for row in among.points[rows]
    ]
    done = int(among.measured.sum())
    if as_json:
        print_json({"suggested": found, "measured": done, "candidates": among.left})
        return
    print_table(["order", *(shown(name) for name in among.names)],
                [[i + 1, *one.values()] for i, one in enumerate(found)],
                title=f"Measure next ({done} of {len(among.points)} are known)")


def _known(path: str, app: str | None, columns: tuple[str, ...]) -> ConfigurationTable:
    from wattline.advice.fit import measured

    said, tables = measured(path, app, columns)
    if len(tables) > 1:
        raise InputError(f"{path} has several applications; choose one with --app: "
                         + ", ".join(sorted(tables)))
    for line in said:
        click.echo(f"wattline: {line}", err=True)
    return next(iter(tables.values()))


def _candidates(axes: Axes, known: ConfigurationTable | None) -> _Candidates:
    """All combinations, and what has been measured besides."""
    import numpy as np

    from wattline.physics.regression import Grid

    if known is None:
        grid = Grid(axes)
        points = grid.points()
        return _Candidates(grid.names, points, np.zeros(len(points), dtype=bool))
    of_table = Grid.of(known).levels
    strange = set(axes) - set(of_table)
    if strange:
        raise InputError(f"'{known.application}' has no setting {min(strange)}; it has "
                         f"{', '.join(of_table)}")
    grid = Grid({**of_table, **axes})
    points = grid.points()
    done = {tuple(row) for row in known.points().tolist()}
    offered = [tuple(row) for row in points.tolist()]
    extra = sorted(done.difference(offered))
    measured = np.array([row in done for row in offered] + [True] * len(extra))
    besides = np.array(extra).reshape(-1, points.shape[1])
    return _Candidates(grid.names, np.vstack([points, besides]), measured)


def _levels(text: str, option: str) -> tuple[float, ...]:
    """Numbers from `8,16,32` or `8-32:2`."""
    values: set[float] = set()
    try:
        for part in text.split(","):
            values.update(_span(part))
    except ValueError:
        raise InputError(f"{option} is '{text}'; write it like 8,16,32 or 8-32:2") from None
    if min(values) <= 0:
        raise InputError(f"{option} is '{text}', must be above 0")
    if len(values) > _MOST_LEVELS:
        raise InputError(f"{option} is '{text}', more than {_MOST_LEVELS:,} values")
    return tuple(sorted(values))


def _span(text: str) -> list[float]:
    """One number, or those from the first to the last in equal steps; ValueError otherwise."""
    span, colon, step = text.partition(":")
    low, dash, high = span.partition("-")
    if not dash:
        if colon or not math.isfinite(plain_number(low)):
            raise ValueError(text)
        return [plain_number(low)]
    first, last = plain_number(low), plain_number(high)
    width = plain_number(step) if colon else 1.0
    if not (all(map(math.isfinite, (first, last, width))) and first <= last and width > 0):
        raise ValueError(text)
    count = int(min((last - first) / width, _MOST_LEVELS) + 1e-9)
    return [first + i * width for i in range(count + 1)]
