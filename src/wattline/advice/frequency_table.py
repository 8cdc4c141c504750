"""Measured runs at several frequencies, as accounting prints them: CSV, one line per run."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from wattline.advice.job_options import JobOption, Known
from wattline.advice.job_sources import same_name
from wattline.model.errors import InputError
from wattline.model.reading import read_unpacked
from wattline.model.units import plain_number
from wattline.physics.core_power import POSSIBLE_GHZ
from wattline.physics.measurement_columns import COLUMN_NAMES
from wattline.physics.measurements import unnamed_note

FREQUENCIES = {"frequency_ghz": 1.0, "frequency_mhz": 1e-3, "frequency_khz": 1e-6,
               "frequency_hz": 1e-9}
"""Columns that a frequency may stand in, with what makes GHz of them."""
SAME_WITHIN = 0.02
"""Watts and joules of a line may differ by so much: people round them."""
_TEXTS = ("node_class", "threads")
_NUMBERS = {"nodes": 1.0, "cap_w": math.inf}

_READ = {*COLUMN_NAMES["application"], *FREQUENCIES, *_TEXTS, *_NUMBERS, "cores", "time_s",
         "energy_j", "power_w"}

Row = Mapping[str, str]


def has_frequencies(path: str | Path) -> bool:
    """Whether a table has a column of frequencies."""
    return any(name in FREQUENCIES for name in next(csv.reader(_lines(path)), []))


def from_frequencies(path: str | Path, wanted: str, nodes: int | None) -> Known:
    """The options of an application; repeated runs are reduced to their medians."""
    runs: dict[tuple[str, int, str, float, float], list[tuple[float, float]]] = {}
    rows = csv.DictReader(_lines(path))
    for number, row in enumerate(rows, 2):
        own = _application(row)
        if own and same_name([own], wanted) is None:
            continue
        try:
            setting, figures = _run(row)
        except ValueError as error:
            raise InputError(f"{path}: line {number}: {error}") from None
        if nodes in (None, setting[1]):
            runs.setdefault(setting, []).append(figures)
    return Known(tuple(_option(setting, np.array(each), str(path))
                       for setting, each in runs.items()),
                 tuple(_notes(path, rows.fieldnames or (), wanted)) if runs else ())


def applications_in(path: str | Path) -> list[str]:
    """The applications that a table of frequencies names."""
    return list(dict.fromkeys(filter(None, map(_application, csv.DictReader(_lines(path))))))


def _application(row: Row) -> str:
    return next((row[name].strip() for name in COLUMN_NAMES["application"] if row.get(name)), "")


def _notes(path: str | Path, columns: Sequence[str], wanted: str) -> Iterator[str]:
    """What was not told apart, and what was not read."""
    unnamed = unnamed_note(path, wanted)
    if unnamed:
        yield unnamed
    unread = [name for name in columns if name not in _READ]
    if unread:
        yield f"{path}: not read: {', '.join(unread)}"


def _lines(path: str | Path) -> list[str]:
    content, _ = read_unpacked(Path(path))
    lines = content.decode("utf-8-sig", "replace").splitlines()
    header, *rest = [line for line in lines if line.strip() and not line.startswith("#")] or [""]
    return [",".join(name.strip() for name in header.split(",")), *rest]


def _run(row: Row) -> tuple[tuple[str, int, str, float, float], tuple[float, float]]:
    """The setting of a run, and its time and energy."""
    name = next((name for name in FREQUENCIES if name in row), "")
    ghz = _ghz(_positive(row, name), name)
    time_s = _positive(row, "time_s")
    energy_j = _energy_j(row, time_s)
    texts = {key: (row.get(key) or "").strip() for key in _TEXTS}
    threads = texts["threads"] or (row.get("cores") or "").strip()
    numbers = {key: _positive(row, key) if (row.get(key) or "").strip() else default
               for key, default in _NUMBERS.items()}
    if numbers["nodes"] != int(numbers["nodes"]):
        raise ValueError(f"nodes is {numbers['nodes']:g}, expected a whole number")
    return ((texts["node_class"], int(numbers["nodes"]), threads, numbers["cap_w"], ghz),
            (time_s, energy_j))


def _ghz(value: float, column: str) -> float:
    found = value * FREQUENCIES[column]
    if POSSIBLE_GHZ[0] <= found <= POSSIBLE_GHZ[1]:
        return found
    meant = next((name for name, factor in FREQUENCIES.items()
                  if POSSIBLE_GHZ[0] <= value * factor <= POSSIBLE_GHZ[1]), "")
    raise ValueError(f"{column} is {value:g}: no processor runs at {found:g} GHz"
                     + (f"; call the column {meant}" if meant else ""))


def _energy_j(row: Row, time_s: float) -> float:
    """Joules, or watts for the time; where both are told they agree."""
    told = [name for name in ("energy_j", "power_w") if (row.get(name) or "").strip()]
    if not told:
        raise ValueError("it has neither energy_j nor power_w")
    found = {name: _positive(row, name) for name in told}
    energy_j = found.get("energy_j", found.get("power_w", 0.0) * time_s)
    power_w = found.get("power_w", energy_j / time_s)
    if abs(energy_j / time_s - power_w) > SAME_WITHIN * power_w:
        raise ValueError(f"{energy_j:g} J in {time_s:g} s are {energy_j / time_s:g} W, and power_w "
                         f"says {power_w:g}; correct one, or leave it out")
    return energy_j


def _positive(row: Row, name: str) -> float:
    text = (row.get(name) or "").strip()
    try:
        value = plain_number(text)
    except ValueError:
        raise ValueError(f"{name} is '{text}', expected a number") from None
    if not 0 < value < math.inf:
        raise ValueError(f"{name} is {text}, must be above 0 and finite")
    return value


def _option(
    setting: tuple[str, int, str, float, float], runs: np.ndarray, source: str
) -> JobOption:
    node_class, nodes, threads, cap_w, ghz = setting
    time_s, energy_j = np.median(runs, axis=0).tolist()
    # One run alone shows no spread.
    spread = (runs.std(axis=0, ddof=1) / runs.mean(axis=0)).tolist() if len(runs) > 1 else (
        math.nan, math.nan)
    return JobOption(time_s, energy_j, "measured", source, node_class, nodes, threads, cap_w, ghz,
                     spread[0], spread[1], len(runs))
