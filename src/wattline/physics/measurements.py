"""Reading tables of measured configurations: CSV, plain or compressed, one row per run.

Every mistake in a file is reported with its line and column; no cell is ever guessed.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.reading import read_unpacked, separator, with_point
from wattline.model.units import plain_number
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.dimensions import device_of, is_cap, kind_of
from wattline.physics.measurement_columns import (
    COLUMN_NAMES,
    POWERS,
    ColumnMap,
    Columns,
    find_columns,
    known_names,
    parse_map,
)
from wattline.physics.plausible import refuse_implausible
from wattline.physics.power_scope import SCOPES
from wattline.physics.repeated_runs import OtherSettings, spread_note

UNCAPPED = ("none", "no", "off", "inf", "max", "unlimited", "uncapped", "n/a", "na", "nan", "-")
"""What people write for the cap of a run that had none."""
AS_LISTED = "it is used as listed"
"""What is said to be done where the two powers of a table contradict each other."""
_DIFFERS = 0.1
"""A total that is further than this from node power times nodes is no rounding."""
_CONTRADICTED = {
    "power_w": "that of all nodes", "node_power_w": "that of a node times the nodes",
    "energy_j": "the energy over the time",
}


def read_measurements(
    path: str | Path, application: str = "", columns: ColumnMap = None
) -> dict[str, ConfigurationTable]:
    """The tables of a file, one for each application, repeated runs reduced to their medians.

    Runs far apart are said in the table's `note`, and so are columns that are not used; a file
    whose runs of one configuration differ in a column of unknown meaning is refused. A file without
    an application column is the table of `application`, or of the file's name.
    """
    path = Path(path)
    header, lines = _read_lines(path)
    places = find_columns(path, header, columns)
    others = OtherSettings(path, header, known_names(places, header), places)
    alone = application or path.name.split(".")[0]
    rows: dict[str, list[tuple[float, ...]]] = {}
    ratios: dict[str, list[dict[str, float]]] = {}
    of_ranks: set[str] = set()
    scopes: dict[str, str] = {}
    for number, cells in _chosen(path, header, places, lines):
        name, values = _row(path, number, header, places, cells, alone)
        for at, other in places.rivals:
            _check_equal(f"{path}, line {number}", header, cells, at, other)
        others.check(name, values[:-2], cells)
        scope = _scope(f"{path}, line {number}", places, cells)
        if scopes.setdefault(name, scope) != scope:
            raise InputError(f"{path}, line {number}: the watts of '{name}' are of "
                             f"'{scopes[name]}' in a row above and of '{scope}' here; a bound "
                             "needs those of one")
        rows.setdefault(name, []).append(values)
        ratios.setdefault(name, []).append(_ratios(places, cells, values))
        if _counts_ranks(places, cells):
            of_ranks.add(name)
    if not rows:
        raise InputError(f"{path}: the table has a header and no rows")
    tables = {}
    for name, runs in rows.items():
        nodes, *settings, time_s, power_w = zip(*runs, strict=True)
        table = ConfigurationTable.of(
            name, nodes, dict(zip(places.settings, settings, strict=True)), time_s, power_w,
            of_ranks=name in of_ranks, power_scope=scopes[name])
        refuse_implausible(str(path), table, places.power, header[places.at[places.power]],
                           frozenset(places.units),
                           alone=sum(name in places.at for name in POWERS) == 1)
        said = (*_power_notes(places.power, ratios[name]), spread_note(table), others.note())
        tables[name] = replace(table, note="; ".join(filter(None, said)))
    return tables


def _chosen(
    path: Path, header: Sequence[str], places: Columns, lines: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    """The rows that a map chooses, all if it chooses none."""
    seen: dict[int, set[str]] = {at: set() for at in places.where}
    empty = True
    for number, cells in lines:
        if len(cells) != len(header):
            raise InputError(f"{path}, line {number}: {len(cells)} cells, the header has "
                             f"{len(header)}")
        for at in places.where:
            seen[at].add(cells[at].strip())
        if all(_same(cells[at], wanted) for at, wanted in places.where.items()):
            empty = False
            yield number, cells
    if empty and any(seen.values()):
        chosen = " and ".join(f"{header[at]}={cell}" for at, cell in places.where.items())
        known = "; ".join(f"{header[at]} is one of {', '.join(sorted(cells)[:20])}"
                          for at, cells in seen.items())
        raise InputError(f"{path}: no row has {chosen}; {known}")


def _same(cell: str, wanted: str) -> bool:
    if cell.strip().casefold() == wanted.casefold():
        return True
    try:
        return plain_number(cell) == plain_number(wanted)
    except ValueError:
        return False


def column_names(path: str | Path) -> list[str]:
    """The columns of a file."""
    return _read_lines(Path(path))[0]


def _read_lines(path: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The header, and the rows that are not empty with their numbers."""
    text = read_text(path)
    if not text.strip():
        raise InputError(f"{path}: the file is empty")
    mark = separator(text.partition("\n")[0])
    reader = csv.reader(io.StringIO(text), delimiter=mark)
    header = [cell.strip() for cell in next(reader, [])]
    return header, ((reader.line_num, cells if mark == "," else [with_point(c) for c in cells])
                    for cells in reader if any(cell.strip() for cell in cells))


def unnamed_note(path: str | Path, application: str, columns: ColumnMap = None) -> str:
    """What is said where a file has no application column and its rows are taken as one."""
    header = column_names(path)
    if "application" in parse_map(columns) or any(
            name in header for name in COLUMN_NAMES["application"]):
        return ""
    return f"{path} has no column 'application': its rows are taken as '{application}'"


def find_application(
    tables: Mapping[str, ConfigurationTable], wanted: str
) -> tuple[ConfigurationTable, str]:
    """The table of an application, and a remark where the name was not taken literally.

    Case does not matter, and a name may be cut at an underscore: `BT-MZ` finds
    `bt-mz_8-32nodes_5caps`. Where that fits several tables, the one with most configurations is
    taken and the remark names the others.
    """
    if wanted in tables:
        return tables[wanted], ""
    key = wanted.strip().casefold()
    near = [name for name in tables
            if name.casefold() == key or name.casefold().startswith(key + "_")]
    if not key or not near:
        known = ", ".join(sorted(tables))
        raise InputError(f"there is no application '{wanted}'; known are: {known}")
    near.sort(key=lambda name: (-len(tables[name]), name))
    remark = ""
    if near[0].casefold() != key:
        remark = (f"'{wanted}' stands for '{near[0]}' "
                  f"({len(tables[near[0]])} configurations)")
        if len(near) > 1:
            remark += f"; also there: {', '.join(near[1:])}"
    return tables[near[0]], remark


def read_text(path: Path) -> str:
    """The text of a file, unpacked if it is compressed."""
    try:
        return read_unpacked(path)[0].decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(
            f"{path} is not a text table; give a CSV file, plain or as .gz, .bz2 or .xz"
        ) from None


def _check_equal(where: str, header: Sequence[str], cells: list[str], at: int, other: int) -> None:
    try:
        same = not cells[other].strip() or float(cells[other]) == float(cells[at])
    except ValueError:
        same = False
    if not same:
        raise InputError(f"{where}: {header[at]} is {cells[at].strip()} and {header[other]} is "
                         f"{cells[other].strip()}; they mean the same, so leave one out")


def _row(
    path: Path, line: int, header: Sequence[str], columns: Columns, cells: list[str], alone: str
) -> tuple[str, tuple[float, ...]]:
    """The application of a row, and its nodes, settings, time and power."""
    where = f"{path}, line {line}"
    for at in columns.application:
        if not cells[at].strip():
            raise InputError(f"{where}: the cell '{header[at]}' is empty")
    name = "/".join(cells[at].strip() for at in columns.application) or alone
    values = [_number(where, header, columns.at["nodes"], cells, whole=True)]
    for setting in columns.settings:
        values.append(
            _cores(where, header, columns, cells, values[0]) if setting == "cores" else
            _setting(where, header, columns, cells, setting))
    time_s = _scaled(columns, "time_s", _number(where, header, columns.at["time_s"], cells))
    measured = _number(where, header, columns.at[columns.power], cells)
    return name, (*values, time_s, _power_w(columns, columns.power, measured, values[0], time_s))


def _scaled(columns: Columns, name: str, value: float) -> float:
    """The figure of a cell in the unit of what it is."""
    scale = columns.units.get(name)
    return value if scale is None else value * scale.by / scale.over


def _power_w(columns: Columns, name: str, value: float, nodes: float, time_s: float) -> float:
    """The power of all nodes, from what was measured of it."""
    value = _scaled(columns, name, value)
    if name == "node_power_w":
        return value * nodes
    return value / time_s if name == "energy_j" else value


def _scope(where: str, columns: Columns, cells: list[str]) -> str:
    """Of what the watts of a row are, as its own cell or all of the table says."""
    at = columns.at.get("power_scope")
    said = "" if at is None else cells[at].strip().casefold()
    if said not in ("", *SCOPES):
        raise InputError(f"{where}: power_scope is '{said}', must be one of {', '.join(SCOPES)}")
    if said and columns.power_scope not in ("", said):
        raise InputError(f"{where}: power_scope is '{said}', and the map or the name of the column "
                         f"of power says '{columns.power_scope}'")
    return said or columns.power_scope


def _ratios(columns: Columns, cells: list[str], values: tuple[float, ...]) -> dict[str, float]:
    """The power that is used over what the other columns of power and energy make of it."""
    found = {}
    for name in POWERS:
        if name == columns.power or name not in columns.at:
            continue
        try:
            measured = float(cells[columns.at[name]])
        except ValueError:
            continue  # a column that nothing is computed from
        other_w = _power_w(columns, name, measured, values[0], values[-2])
        found[name] = values[-1] / other_w if other_w > 0 else 1.0
    return found


def _power_notes(used: str, ratios: list[dict[str, float]]) -> list[str]:
    """Remark on a table whose columns of power and energy contradict each other."""
    said = []
    for name in POWERS:
        off = [each[name] for each in ratios if abs(each.get(name, 1.0) - 1.0) > _DIFFERS]
        if off:
            what = ("the power of all nodes" if used == "power_w" else
                    f"the power ({_CONTRADICTED[used]})")
            said.append(
                f"in {len(off)} of {len(ratios)} measured runs {what} is not "
                f"{_CONTRADICTED[name]} ({min(off):.2g} to {max(off):.2g} times); {AS_LISTED}, so "
                "a bound in watts may not hold")
    return said


def _counts_ranks(columns: Columns, cells: list[str]) -> bool:
    """Whether a row gives the ranks of all nodes and not the cores of one."""
    at, ranks = columns.at.get("cores"), columns.at.get("ranks")
    if ranks is None or at is None or not cells[ranks].strip():
        return False
    return at < 0 or not cells[at].strip()


def _cores(
    where: str, header: Sequence[str], columns: Columns, cells: list[str], nodes: float
) -> float:
    """Cores on a node, or what the ranks of all nodes make on each of them."""
    at = columns.at["cores"]
    if _counts_ranks(columns, cells):
        ranks = columns.at["ranks"]
        total = _number(where, header, ranks, cells, whole=True)
        if total % nodes:
            raise InputError(f"{where}: {header[ranks]} is {total:g}, "
                             f"not a multiple of {nodes:g} nodes")
        return total / nodes
    return _number(where, header, at if at >= 0 else columns.at["ranks"], cells, whole=True)


def _setting(
    where: str, header: Sequence[str], columns: Columns, cells: list[str], name: str
) -> float:
    """A setting of a run. Models need a number of a run without a cap too, and nothing knows it."""
    at = columns.at[name]
    if is_cap(name) and cells[at].strip().casefold() in UNCAPPED:
        raise InputError(f"{where}: {header[at]} is '{cells[at].strip()}', must be a number above "
                         f"0; for a run without a cap write the most that a {device_of(name)} may "
                         "draw, which no run exceeds")
    value = _number(where, header, at, cells, whole=kind_of(name) == "count")
    return _scaled(columns, name, value)


def _number(
    where: str, header: Sequence[str], at: int, cells: list[str], whole: bool = False
) -> float:
    text = cells[at].strip()
    if not text:
        raise InputError(f"{where}: the cell '{header[at]}' is empty; it must be a number above 0")
    try:
        value = plain_number(text)
    except ValueError:
        raise InputError(f"{where}: {header[at]} is '{text}', must be a number above 0") from None
    if not math.isfinite(value):
        raise InputError(f"{where}: {header[at]} is {text}, must be a finite number")
    if value <= 0:
        raise InputError(f"{where}: {header[at]} is {text}, must be greater than 0")
    if whole and value != int(value):
        raise InputError(f"{where}: {header[at]} is {text}, must be a whole number")
    return value
