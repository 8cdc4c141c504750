"""Whether rows that would be reduced to one median are runs of one configuration at all.

A table may have a setting that this package does not know, like a cap of the GPUs. Its rows would
look like repeated runs, and their median would be the figure of a configuration that nobody ran.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from wattline.model.errors import InputError

Configured = tuple[float, float, float]
"""Nodes, cores and cap: what makes runs runs of one configuration."""

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

    def __init__(self, path: Path, header: Sequence[str], known: Iterable[str]) -> None:
        self._path = path
        self._names = {at: header[at] for at in other_columns(header, known)}
        self._first: dict[tuple[str, Configured, int], float] = {}

    def check(self, application: str, run: Configured, cells: Sequence[str]) -> None:
        for at, name in self._names.items():
            value = _number(cells[at])
            if value is None:
                continue
            first = self._first.setdefault((application, run, at), value)
            if value != first:
                nodes, cores, cap_w = run
                raise InputError(
                    f"{self._path}: runs of '{application}' as ({nodes:g} x {cores:g}, {cap_w:g} "
                    f"W) differ in the column '{name}' ({first:g} and {value:g}); if it is a "
                    "setting, split the table by it, one value in each; if not, drop the column")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def spread_note(runs: Iterable[Sequence[float]]) -> str:
    """What is said of runs of one configuration (rows of 3 settings, time, power) far apart."""
    together: dict[Configured, list[Sequence[float]]] = {}
    for row in runs:
        together.setdefault((row[0], row[1], row[2]), []).append(row)
    repeated = {key: rows for key, rows in together.items() if len(rows) > 1}
    parts = [_spread(name, at, repeated) for name, at in (("time", 3), ("power", 4))]
    said = " and ".join(part for part in parts if part)
    if not said:
        return ""
    return (f"runs of one configuration differ by more than {_DIFFERS:.0%}: of {len(repeated)} "
            f"repeated configurations {said}; their medians are used")


def _spread(name: str, at: int, repeated: Mapping[Configured, list[Sequence[float]]]) -> str:
    ratios = {key: max(row[at] for row in rows) / min(row[at] for row in rows)
              for key, rows in repeated.items()}
    off = sum(ratio > 1.0 + _DIFFERS for ratio in ratios.values())
    if not off:
        return ""
    nodes, cores, cap_w = worst = max(ratios, key=lambda key: ratios[key])
    return (f"{off} in {name} (largest {ratios[worst]:.2f} times, at {nodes:g} x {cores:g}, "
            f"{cap_w:g} W)")
