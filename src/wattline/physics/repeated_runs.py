"""Whether rows that would be reduced to one median are runs of one configuration at all.

A table may have a setting that this package does not know by its name. Its rows would look like
repeated runs, and their median would be the figure of a configuration that nobody ran.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.dimensions import label

Configured = tuple[float, ...]
"""Nodes and settings: what makes runs runs of one configuration."""

_OF_A_RUN = frozenset((
    "run", "run_id", "rep", "repeat", "repetition", "trial", "iteration", "seed", "host",
    "job_id", "jobid", "date", "timestamp", "start_time", "end_time",
    # What the published files measured beside the columns that are used, and the clock's state,
    # which follows from the cap: the highest one of a table is that of a clock that may rise.
    "pkg_w_per_node", "dram_w_per_node", "pkg0_w_all_nodes", "dram0_w_all_nodes",
    "pkg1_w_all_nodes", "dram1_w_all_nodes", "energy_j", "cpu_mhz", "turbo",
))
_DIFFERS = 0.2
"""Runs of one configuration further apart than this are no noise of a measurement."""


def other_columns(header: Sequence[str], known: Iterable[str]) -> list[int]:
    """The columns that may be a setting: those that nothing is known of."""
    passed = _OF_A_RUN.union(known)
    return [at for at, name in enumerate(header) if name and name not in passed]


class OtherSettings:
    """Refuses a file in which a column of unknown meaning differs between runs of a row."""

    def __init__(
        self, path: Path, header: Sequence[str], known: Iterable[str], settings: Sequence[str]
    ) -> None:
        self._path = path
        self._settings = settings
        self._names = {at: header[at] for at in other_columns(header, known)}
        self._first: dict[tuple[str, Configured, int], float] = {}
        self._values: dict[int, set[float]] = {at: set() for at in self._names}

    def check(self, application: str, run: Configured, cells: Sequence[str]) -> None:
        for at, name in self._names.items():
            value = _number(cells[at])
            if value is None:
                continue
            if len(self._values[at]) < 2:
                self._values[at].add(value)
            first = self._first.setdefault((application, run, at), value)
            if value != first:
                raise InputError(
                    f"{self._path}: runs of '{application}' as {_shown(run, self._settings)} "
                    f"differ in the column '{name}' ({first:g} and {value:g}); if it is a "
                    f"setting, name it with a map ({name}={name}); if not, drop the column")


    def note(self) -> str:
        """What is said of columns that vary and are not used."""
        varied = [name for at, name in self._names.items() if len(self._values[at]) > 1]
        if not varied:
            return ""
        return (f"{'the column' if len(varied) == 1 else 'the columns'} {', '.join(varied)} "
                f"{'is' if len(varied) == 1 else 'are'} not used; a setting of another name is "
                f"named with a map, like {varied[0]}={varied[0]}")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


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
