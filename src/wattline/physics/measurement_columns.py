"""Which column of a table of measurements is what: by known names, or by a map."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.reading import MOST_TOML_BYTES, parse_toml, read_text
from wattline.physics.dimensions import CLASSIC, is_setting

# What a column may be called; the first name that the file has is used.
COLUMN_NAMES: Mapping[str, tuple[str, ...]] = {
    "application": ("application", "app", "table"),
    "nodes": ("nodes",),
    "cores": ("cores", "threads_per_node"),
    "cap_w": ("cap_w", "pkg_cap_w_per_socket", "pkg_cap"),
    "time_s": ("time_s", "exec_time"),
    "power_w": ("power_w", "pkg_dram_w_all_nodes", "tot_pkg"),
    "ranks": ("mpi_ranks_total",),
    "node_power_w": ("pkg_dram_w_per_node",),
}
_NEEDED = ("nodes", "time_s", "power_w")
_NOT_SETTINGS = (*_NEEDED, "application", "ranks", "node_power_w")
RANKS_ALONE = -1
"""In place of the column of cores, where a file has ranks of all nodes and no cores."""


@dataclass(frozen=True)
class Columns:
    """The places of what a file has."""

    at: Mapping[str, int]
    settings: tuple[str, ...]
    """Names of what is set beside the nodes, in the order in which tables have them."""
    rivals: tuple[tuple[int, int], ...]
    """Columns of numbers that the file has under two names."""

    def has(self, name: str) -> bool:
        return name in self.at


def parse_map(given: str | Path | Mapping[str, str] | Iterable[str] | None) -> dict[str, str]:
    """A column map: which column is what. A TOML file with a table [columns], as for job logs, or
    pairs like `gpu_cap_w=POWER_LIMIT`; a name that is not known becomes a setting."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {str(name): str(column) for name, column in given.items()}
    if isinstance(given, (str, Path)):
        given = [str(given)]
    found: dict[str, str] = {}
    for text in (part for each in given for part in _pairs(str(each))):
        name, equals, column = str(text).partition("=")
        if equals and name.strip() and column.strip():
            found[name.strip()] = column.strip()
        elif equals:
            raise InputError(f"the map '{text}' must be NAME=COLUMN, like gpu_cap_w=POWER_LIMIT")
        else:
            found |= _map_of_file(text)
    return found


def _pairs(text: str) -> list[str]:
    """The pairs of one text, which may be several between commas; or the name of a file."""
    return re.split(r",(?=[^,=]+=)", text)  # a column's own name may have a comma


def _map_of_file(path: str) -> dict[str, str]:
    columns = parse_toml(read_text(path, MOST_TOML_BYTES), path).get("columns")
    if not isinstance(columns, dict) or not all(isinstance(one, str) for one in columns.values()):
        raise InputError(f"{path}: needs a table [columns] with the name of a column for each "
                         'quantity, like gpu_cap_w = "POWER_LIMIT"')
    return columns


def find_columns(path: Path, header: Sequence[str], mapped: Mapping[str, str]) -> Columns:
    """Where everything is; what is missing is refused with the names that would do."""
    for name, column in mapped.items():
        if column not in header:
            raise InputError(f"{path}: there is no column '{column}' for {name}; there are: "
                             f"{', '.join(header)}")
    found: dict[str, int] = {}
    for name, names in COLUMN_NAMES.items():
        for column in (mapped[name],) if name in mapped else names:
            if header.count(column) > 1:
                raise InputError(f"{path}: the column '{column}' appears {header.count(column)} "
                                 "times")
            if column in header and (name in mapped or column not in mapped.values()):
                found[name] = header.index(column)
                break
    if "cores" not in found and "ranks" in found:
        found["cores"] = RANKS_ALONE
    _refuse_missing(path, found)
    settings = [name for name in CLASSIC if name in found]
    taken = {header[at] for at in found.values() if at >= 0}
    for column in header:
        named = [name for name, mine in mapped.items()
                 if mine == column and name not in COLUMN_NAMES]
        named += [column] if not named and is_setting(column) and column not in taken else []
        for name in named:
            if name not in found:
                found[name] = header.index(column)
                settings.append(name)
    if not settings:
        raise InputError(f"{path}: the table has no setting beside the nodes, like cores, cap_w, "
                         f"gpus or gpu_cap_w; its columns are {', '.join(header)}. Name one with a "
                         "map, like tiles=TILES")
    return Columns(found, tuple(settings), _rivals(header, found, mapped))


def _refuse_missing(path: Path, found: Mapping[str, int]) -> None:
    missing = [name for name in _NEEDED if name not in found]
    if missing:
        wanted = "; ".join(f"{name} (or {', '.join(COLUMN_NAMES[name][1:])})"
                           if len(COLUMN_NAMES[name]) > 1 else name for name in missing)
        raise InputError(f"{path}: the table lacks the columns {wanted}; others are named with a "
                         "map, like time_s=RUNTIME")


def _rivals(
    header: Sequence[str], columns: Mapping[str, int], mapped: Mapping[str, str]
) -> tuple[tuple[int, int], ...]:
    return tuple(
        (columns[name], header.index(column)) for name, names in COLUMN_NAMES.items()
        if name in columns and name not in ("application", "ranks", "node_power_w", *mapped)
        for column in names if column in header and column not in mapped.values()
        and header.index(column) != columns[name] >= 0)


def known_names(columns: Columns, header: Sequence[str]) -> set[str]:
    """Names of columns whose meaning is known, used or not."""
    used = {header[at] for at in columns.at.values() if at >= 0}
    return used | {name for names in COLUMN_NAMES.values() for name in names}
