"""Which column of a table of measurements is what: by known names, or by a map."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.reading import MOST_TOML_BYTES, parse_toml, read_text
from wattline.model.units import FACTORS, unit_in_name
from wattline.physics.dimensions import CLASSIC, is_setting
from wattline.physics.power_scope import SCOPES

ColumnMap = str | Path | Mapping[str, str] | Iterable[str] | None
"""A TOML file with a table [columns], or pairs of a name and a column."""

# What a column may be called; the first name that the file has is used.
COLUMN_NAMES: Mapping[str, tuple[str, ...]] = {
    "application": ("application", "app", "table"),
    "nodes": ("nodes",),
    "cores": ("cores", "threads_per_node"),
    "cap_w": ("cap_w", "pkg_cap_w_per_socket", "pkg_cap"),
    "time_s": ("time_s", "exec_time"),
    "power_w": ("power_w", "pkg_dram_w_all_nodes", "tot_pkg"),
    "ranks": ("mpi_ranks_total",),
    "node_power_w": ("node_power_w", "pkg_dram_w_per_node"),
    "energy_j": ("energy_j",),
    "power_scope": ("power_scope",),
}
POWERS = ("power_w", "node_power_w", "energy_j")
"""Columns that may give power: that of the job, of one of its nodes, the energy of the run."""
_NOT_COMPARED = ("application", "ranks", "node_power_w", "energy_j", "power_scope")
_OF_DEVICES = frozenset((
    "pkg_dram_w_all_nodes", "pkg_dram_w_per_node", "tot_pkg", "pkg_w_per_node", "pkg0_w_all_nodes",
    "pkg1_w_all_nodes",
))
"""Columns whose names say that their watts are those of packages and memory."""
RANKS_ALONE = -1
"""In place of the column of cores, where a file has ranks of all nodes and no cores."""

OF_A_RUN = frozenset((
    "run", "run_id", "rep", "repeat", "repetition", "trial", "iteration", "seed", "host",
    "job_id", "jobid", "date", "timestamp", "start_time", "end_time",
    # What the published files measured beside the columns that are used, and the clock's state,
    # which follows from the cap: the highest one of a table is that of a clock that may rise.
    "pkg_w_per_node", "dram_w_per_node", "pkg0_w_all_nodes", "dram0_w_all_nodes",
    "pkg1_w_all_nodes", "dram1_w_all_nodes", "cpu_mhz", "turbo",
))
"""Columns that tell runs apart, or were observed in them; a map can name others so."""

_TARGET_UNITS = {"_w": ("power", "W"), "_s": ("time", "s"), "_j": ("energy", "J"),
                 "_ghz": ("frequency", "GHz"), "_mhz": ("frequency", "MHz")}


@dataclass(frozen=True)
class Scale:
    """Factor from a column's own unit to that of a target: times `by`, over `over`."""

    by: float = 1.0
    over: float = 1.0


@dataclass(frozen=True)
class Columns:
    """The places of what a file has."""

    at: Mapping[str, int]
    application: tuple[int, ...]
    """The columns whose cells, joined by a slash, name the application."""
    settings: tuple[str, ...]
    """Names of what is set beside the nodes, in the order in which tables have them."""
    rivals: tuple[tuple[int, int], ...]
    """Columns of numbers that the file has under two names."""
    power: str
    """The one of `POWERS` that is used; others that the file has are compared with it."""
    units: Mapping[str, Scale]
    """Of the columns whose unit was stated."""
    where: Mapping[int, str]
    """The cells that rows must have to be read."""
    of_runs: tuple[int, ...]
    """Columns that a map says to tell runs apart and no more."""
    power_scope: str
    """Of what the watts are, where a map or the name of their column says it for all rows."""

    def has(self, name: str) -> bool:
        return name in self.at


def map_entries(given: ColumnMap) -> list[tuple[str, str]]:
    """Every entry of a column map, a name and what stands for it; of a name twice the later holds.

    A map is a TOML file with a table [columns], or pairs like `gpu_cap_w=POWER_LIMIT`,
    `power_w=Power_kW:kW`, `input==large`.
    """
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [(str(name), str(column)) for name, column in given.items()]
    if isinstance(given, (str, Path)):
        given = [str(given)]
    found: list[tuple[str, str]] = []
    for text in (part for each in given for part in map_pairs(str(each))):
        name, equals, column = text.partition("=")
        if equals and name.strip() and column.strip().removeprefix("=").strip():
            found.append((name.strip(), column.strip()))
        elif equals:
            raise InputError(f"the map '{text}' must be NAME=COLUMN, like gpu_cap_w=POWER_LIMIT, "
                             "or COLUMN==VALUE, like input==large")
        else:
            found += _map_of_file(text).items()
    return found


def parse_map(given: ColumnMap) -> dict[str, str]:
    """Return the column of each name; a name that is not known becomes a setting."""
    return {name: column for name, column in map_entries(given) if not column.startswith("=")}


def parse_where(given: ColumnMap) -> dict[str, str]:
    """The cells of columns that rows must have to be read: `input==large`."""
    return {name: column[1:].strip() for name, column in map_entries(given)
            if column.startswith("=")}


def map_pairs(text: str) -> list[str]:
    """The pairs of one text, which may be several between commas; or the name of a file."""
    return re.split(r",(?=[^,=]+=)", text)  # a column's own name may have a comma


def _map_of_file(path: str) -> dict[str, str]:
    columns = parse_toml(read_text(path, MOST_TOML_BYTES), path).get("columns")
    if not isinstance(columns, dict) or not all(isinstance(one, str) for one in columns.values()):
        raise InputError(f"{path}: needs a table [columns] with the name of a column for each "
                         'quantity, like gpu_cap_w = "POWER_LIMIT"')
    return columns


def find_columns(path: Path, header: Sequence[str], given: ColumnMap) -> Columns:
    """Where everything is; what is missing is refused with the names that would do."""
    mapped, units = _mapped(path, header, parse_map(given))
    scope = mapped.pop("power_scope") if mapped.get("power_scope") in SCOPES else ""
    found: dict[str, int] = {}
    for name, names in COLUMN_NAMES.items():
        if name == "application":
            continue
        for column in (mapped[name],) if name in mapped else names:
            _refuse_twice(path, header, column)
            if column in header and (name in mapped or column not in mapped.values()):
                found[name] = header.index(column)
                break
    if "cores" not in found and "ranks" in found:
        found["cores"] = RANKS_ALONE
    power = _power_of(found, mapped)
    _refuse_missing(path, found)
    application = _application(path, header, mapped)
    settings = [name for name in CLASSIC if name in found]
    taken = {header[at] for at in (*found.values(), *application) if at >= 0}
    for column in header:
        named = [name for name, mine in mapped.items() if mine == column
                 and name not in COLUMN_NAMES and name not in OF_A_RUN]
        named += [column] if not named and is_setting(column) and column not in taken else []
        for name in named:
            if name not in found:
                found[name] = header.index(column)
                settings.append(name)
    if not settings:
        raise InputError(f"{path}: the table has no setting beside the nodes, like cores, cap_w, "
                         f"gpus or gpu_cap_w; its columns are {', '.join(header)}. Name one with a "
                         "map, like tiles=TILES")
    return Columns(
        found, application, tuple(settings), _rivals(header, found, mapped), power, units,
        {_place(path, header, column, "the choice"): cell
         for column, cell in parse_where(given).items()},
        tuple(header.index(column) for name, column in mapped.items() if name in OF_A_RUN),
        scope or ("devices" if header[found[power]] in _OF_DEVICES else ""))


def _mapped(
    path: Path, header: Sequence[str], mapped: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, Scale]]:
    """The columns of a map without their units, and the units that it states."""
    columns: dict[str, str] = {}
    units: dict[str, Scale] = {}
    for name, text in mapped.items():
        column, colon, unit = text.rpartition(":")
        if text in header or not colon:
            column, unit = text, ""
        if name == "application" and column not in header:
            columns[name] = column  # may be several, see `_application`
            continue
        if name == "power_scope" and column in SCOPES and column not in header:
            columns[name] = column  # said once, for all rows
            continue
        _place(path, header, column, name)
        columns[name] = column
        if unit:
            units[name] = _scale(path, name, column, unit)
        else:
            _ask_unit(path, name, column)
    return columns, units


def _scale(path: Path, name: str, column: str, unit: str) -> Scale:
    kind, own = _target(name)
    if not kind:
        raise InputError(f"{path}: {name} has no unit, so {name}={column}:{unit} says nothing; "
                         "names that end in _w, _s, _j, _ghz or _mhz have one")
    if unit not in FACTORS[kind]:
        raise InputError(f"{path}: {name}={column}:{unit}: '{unit}' is no unit of {kind}; known "
                         f"are {', '.join(FACTORS[kind])}")
    return Scale(FACTORS[kind][unit], FACTORS[kind][own])


def _ask_unit(path: Path, name: str, column: str) -> None:
    """Refuse a column whose own name speaks against what it is mapped to."""
    kind, own = _target(name)
    unit, of = unit_in_name(column)
    if not kind or (of and of != kind and name not in COLUMN_NAMES):
        return
    if of and of != kind:
        raise InputError(f"{path}: the column '{column}' seems to be {_article(of)} {of} in "
                         f"{unit}, and {name} is {_article(kind)} {kind}; if it is in {own}, say "
                         f"{name}={column}:{own}")
    if of and unit != own:
        known = unit if unit in FACTORS[kind] else "UNIT"
        raise InputError(f"{path}: the column '{column}' seems to be in {unit}, and {name} is in "
                         f"{own}; say which it is, {name}={column}:{known} or "
                         f"{name}={column}:{own}")
    if name == "power_w" and re.search(r"node(?!s)", column.casefold()):
        raise InputError(f"{path}: the column '{column}' seems to be of one node, and power_w is "
                         f"of all nodes of a job; say node_power_w={column}, or power_w={column}:W "
                         "if it is of all")


def _article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" else "a"


def _target(name: str) -> tuple[str, str]:
    """The quantity and the unit that the name of a target ends in."""
    return next((found for ending, found in _TARGET_UNITS.items() if name.endswith(ending)),
                ("", ""))


def _place(path: Path, header: Sequence[str], column: str, name: str) -> int:
    if column not in header:
        raise InputError(f"{path}: there is no column '{column}' for {name}; there are: "
                         f"{', '.join(header)}")
    _refuse_twice(path, header, column)
    return header.index(column)


def _refuse_twice(path: Path, header: Sequence[str], column: str) -> None:
    if header.count(column) > 1:
        raise InputError(f"{path}: the column '{column}' appears {header.count(column)} times")


def _application(path: Path, header: Sequence[str], mapped: Mapping[str, str]) -> tuple[int, ...]:
    """The columns of the application's name: one, or several with a plus between them."""
    if "application" in mapped:
        column = mapped["application"]
        parts = [column] if column in header else column.split("+")
        return tuple(_place(path, header, part.strip(), "application") for part in parts)
    found = [name for name in COLUMN_NAMES["application"]
             if name in header and name not in mapped.values()]
    return (_place(path, header, found[0], "application"),) if found else ()


def _power_of(found: Mapping[str, int], mapped: Mapping[str, str]) -> str:
    """The column that power is taken from: one that the map names before one that is there."""
    there = [name for name in POWERS if name in found]
    return next((name for name in there if name in mapped), there[0] if there else "")


def _refuse_missing(path: Path, found: Mapping[str, int]) -> None:
    missing = [name for name in ("nodes", "time_s") if name not in found]
    if not any(name in found for name in POWERS):
        missing.append("power_w")
    if missing:
        wanted = "; ".join(
            f"{name} (or {', '.join((*COLUMN_NAMES[name][1:], *POWERS[1:] * (name == 'power_w')))})"
            if len(COLUMN_NAMES[name]) > 1 else name for name in missing)
        raise InputError(f"{path}: the table lacks the columns {wanted}; others are named with a "
                         "map, like time_s=RUNTIME or power_w=Power_kW:kW")


def _rivals(
    header: Sequence[str], columns: Mapping[str, int], mapped: Mapping[str, str]
) -> tuple[tuple[int, int], ...]:
    return tuple(
        (columns[name], header.index(column)) for name, names in COLUMN_NAMES.items()
        if name in columns and name not in (*_NOT_COMPARED, *mapped)
        for column in names if column in header and column not in mapped.values()
        and header.index(column) != columns[name] >= 0)


def known_names(columns: Columns, header: Sequence[str]) -> set[str]:
    """Names of columns whose meaning is known, used or not."""
    used = {header[at] for at in (*columns.at.values(), *columns.application, *columns.of_runs)
            if at >= 0}
    return used | {name for names in COLUMN_NAMES.values() for name in names}
