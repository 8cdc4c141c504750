"""`wattline fit --suggest`: which configurations to measure next, or first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from wattline.cli.output import print_json, print_table
from wattline.model.errors import InputError
from wattline.model.units import counted, plain_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wattline.model.signal import FloatArray
    from wattline.physics.configurations import ConfigurationTable
    from wattline.physics.regression import Grid

_MOST_LEVELS = 1000


class Axes(NamedTuple):
    """What may be measured, as the user wrote it; None where the table says it."""

    nodes: str | None
    cores: str | None
    caps: str | None


class _Candidates(NamedTuple):
    """Configurations that could be measured or have been, one row each: nodes, cores, cap."""

    points: FloatArray
    measured: NDArray[Any]

    @property
    def left(self) -> int:
        return int((~self.measured).sum())


def print_suggestion(
    path: str | None, app: str | None, count: int, axes: Axes, sockets: int, as_json: bool
) -> None:
    """Print the configurations whose measurement would teach most, the best first."""
    from wattline.physics.regression import suggest

    if count < 1:
        raise InputError(f"--suggest is {count}, must be at least 1")
    if path is None and app is not None:
        raise InputError("--app goes with a TABLE")
    if path is None and not all(axes):
        raise InputError("without a TABLE, --suggest needs --nodes, --cores and --caps")
    among = _candidates(axes, None if path is None else _known(path, app))
    if not among.left:
        raise InputError("every combination of these nodes, cores and caps is measured already; "
                         "widen the choice with --nodes, --cores or --caps")
    if among.left < count:
        click.echo(f"wattline: --suggest is {count}, only "
                   f"{counted(among.left, 'configuration')} can still be measured", err=True)
    rows = suggest(among.points, count, measured=among.measured, sockets=sockets)
    found: list[dict[str, Any]] = [
        {"nodes": int(nodes), "cores": int(cores), "cap_w": float(cap_w)}
        for nodes, cores, cap_w in among.points[rows]
    ]
    done = int(among.measured.sum())
    if as_json:
        print_json({"suggested": found, "measured": done, "candidates": among.left})
        return
    print_table(["order", "nodes", "cores", "cap W"],
                [[i + 1, one["nodes"], one["cores"], one["cap_w"]] for i, one in enumerate(found)],
                title=f"Measure next ({done} of {len(among.points)} are known)")


def _known(path: str, app: str | None) -> ConfigurationTable:
    from wattline.advice.fit import measured

    said, tables = measured(path, app)
    if len(tables) > 1:
        raise InputError(f"{path} has several applications; choose one with --app: "
                         + ", ".join(sorted(tables)))
    for line in said:
        click.echo(f"wattline: {line}", err=True)
    return next(iter(tables.values()))


def _candidates(axes: Axes, known: ConfigurationTable | None) -> _Candidates:
    """All combinations, and what has been measured besides."""
    import numpy as np

    from wattline.physics.regression import Grid, points_of

    points = _grid(axes, None if known is None else Grid.of(known)).points()
    if known is None:
        return _Candidates(points, np.zeros(len(points), dtype=bool))
    done = {tuple(row) for row in points_of(known).tolist()}
    offered = [tuple(row) for row in points.tolist()]
    extra = sorted(done.difference(offered))
    measured = np.array([row in done for row in offered] + [True] * len(extra))
    return _Candidates(np.vstack([points, np.array(extra).reshape(-1, 3)]), measured)


def _grid(axes: Axes, known: Grid | None) -> Grid:
    from wattline.physics.regression import Grid

    levels = [
        _levels(text, option) if text else tuple(float(v) for v in getattr(known, name))
        for text, option, name in zip(
            axes, ("--nodes", "--cores", "--caps"), ("nodes", "cores", "cap_w"), strict=True)
    ]
    for option, values in (("--nodes", levels[0]), ("--cores", levels[1])):
        if any(value != int(value) for value in values):
            raise InputError(f"{option} must be whole numbers")
    return Grid(tuple(int(n) for n in levels[0]), tuple(int(c) for c in levels[1]), levels[2])


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
