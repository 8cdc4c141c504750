"""Whether rows that would be reduced to one median are runs of one configuration at all.

A table may have a setting that this package does not know by its name. Its rows would look like
repeated runs, and their median would be the figure of a configuration that nobody ran.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.dimensions import label
from wattline.physics.measurement_columns import OF_A_RUN, Columns

Configured = tuple[float, ...]
"""Nodes and settings: what makes runs runs of one configuration."""

_DIFFERS = 0.2
"""Runs of one configuration further apart than this are no noise of a measurement."""


def other_columns(header: Sequence[str], known: Iterable[str]) -> list[int]:
    """The columns that may be a setting: those that nothing is known of."""
    passed = OF_A_RUN.union(known)
    return [at for at, name in enumerate(header) if name and name not in passed]


class OtherSettings:
    """Refuses a file in which a column of unknown meaning differs between runs of a row."""

    def __init__(
        self, path: Path, header: Sequence[str], known: Iterable[str], columns: Columns
    ) -> None:
        self._path = path
        self._settings = columns.settings
        self._application = [header[at] for at in columns.application]
        self._names = {at: header[at] for at in other_columns(header, known)}
        self._first: dict[tuple[str, Configured, int], float | str] = {}
        self._values: dict[int, set[float | str]] = {at: set() for at in self._names}

    def check(self, application: str, run: Configured, cells: Sequence[str]) -> None:
        for at, name in self._names.items():
            value = _value(cells[at])
            if value is None:
                continue
            if len(self._values[at]) < 2:
                self._values[at].add(value)
            first = self._first.setdefault((application, run, at), value)
            if value != first:
                raise InputError(
                    f"{self._path}: runs of '{application}' as {_shown(run, self._settings)} "
                    f"differ in the column '{name}' ({_plain(first)} and {_plain(value)}); "
                    + self._ways(name, first, value))

    def _ways(self, name: str, first: float | str, other: float | str) -> str:
        """Say what can be done where runs of one configuration differ."""
        choose = f"choose one (--where {name}={_plain(first)})"
        if isinstance(first, str) or isinstance(other, str):
            named = "+".join((*self._application, name))
            return (f"{choose}, or name each apart (--map application={named}); if it only tells "
                    f"runs apart, say so (--map run={name})")
        return (f"if it is a setting, name it with a map ({name}={name}), or {choose}; if not, "
                f"drop the column, or say that it tells runs apart (--map run={name})")

    def note(self) -> str:
        """What is said of columns that vary and are not used."""
        varied = {at: name for at, name in self._names.items() if len(self._values[at]) > 1}
        if not varied:
            return ""
        name, values = next((name, self._values[at]) for at, name in varied.items())
        how = (f"rows are chosen with --where {name}={sorted(values, key=str)[0]}"
               if any(isinstance(one, str) for one in values)
               else f"a setting of another name is named with a map, like {name}={name}")
        return (f"{'the column' if len(varied) == 1 else 'the columns'} "
                f"{', '.join(varied.values())} {'is' if len(varied) == 1 else 'are'} not used; "
                + how)


def _plain(value: float | str) -> str:
    return f"'{value}'" if isinstance(value, str) else f"{value:g}"


def _value(text: str) -> float | str | None:
    """A cell as a number, or else as its text; a blank one says nothing."""
    text = text.strip()
    try:
        value = float(text)
    except ValueError:
        return text or None
    return value if math.isfinite(value) else text


def _shown(run: Configured, settings: Sequence[str]) -> str:
    return label(int(run[0]), dict(zip(settings, run[1:], strict=True)))


def spread_note(table: ConfigurationTable) -> str:
    """What is said of runs of one configuration that are far apart."""
    runs = table.runs
    if runs is None:
        return ""
    parts = [_spread(table, name, ratios) for name, ratios in (
        ("time", runs.time_spread), ("power", runs.power_spread))]
    said = " and ".join(part for part in parts if part)
    if not said:
        return ""
    return (f"runs of one configuration differ by more than {_DIFFERS:.0%}: of "
            f"{int((runs.count > 1).sum())} repeated configurations {said}; their medians are used")


def _spread(table: ConfigurationTable, name: str, ratios: FloatArray) -> str:
    off = int((ratios > 1.0 + _DIFFERS).sum())
    if not off:
        return ""
    worst = int(ratios.argmax())
    at = table.row(worst).label.strip("()")
    return f"{off} in {name} (largest {ratios[worst]:.2f} times, at {at})"
