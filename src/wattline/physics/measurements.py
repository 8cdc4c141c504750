"""Reading tables of measured configurations: CSV, plain or compressed, one row per run.

Every mistake in a file is reported with its line and column; no cell is ever guessed.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.reading import read_unpacked, separator, with_point
from wattline.model.units import plain_number
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.dimensions import device_of, is_cap, kind_of
from wattline.physics.measurement_columns import (
    COLUMN_NAMES,
    Columns,
    find_columns,
    known_names,
    parse_map,
)
from wattline.physics.repeated_runs import OtherSettings, spread_note

ColumnMap = str | Path | Mapping[str, str] | Iterable[str] | None
"""A TOML file with a table [columns], or pairs of a name and a column."""

UNCAPPED = ("none", "no", "off", "inf", "max", "unlimited", "uncapped", "n/a", "na", "nan", "-")
"""What people write for the cap of a run that had none."""
AS_LISTED = "it is used as listed"
"""What is said to be done where the two powers of a table contradict each other."""
_DIFFERS = 0.1
"""A total that is further than this from node power times nodes is no rounding."""


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
    mapped = parse_map(columns)
    places = find_columns(path, header, mapped)
    others = OtherSettings(path, header, known_names(places, header), places.settings)
    alone = application or path.name.split(".")[0]
    rows: dict[str, list[tuple[float, ...]]] = {}
    ratios: dict[str, list[float]] = {}
    of_ranks: set[str] = set()
    for number, cells in lines:
        name, values = _row(path, number, header, places, cells, alone)
        for at, other in places.rivals:
            _check_equal(f"{path}, line {number}", header, cells, at, other)
        others.check(name, values[:-2], cells)
        rows.setdefault(name, []).append(values)
        ratios.setdefault(name, []).append(_ratio(places.at, cells, values))
        if _counts_ranks(places.at, cells):
            of_ranks.add(name)
    if not rows:
        raise InputError(f"{path}: the table has a header and no rows")
    tables = {}
    for name, runs in rows.items():
        nodes, *settings, time_s, power_w = zip(*runs, strict=True)
        table = ConfigurationTable.of(
            name, nodes, dict(zip(places.settings, settings, strict=True)), time_s, power_w,
            of_ranks=name in of_ranks)
        said = (_power_note(ratios[name]), spread_note(table), others.note())
        tables[name] = replace(table, note="; ".join(filter(None, said)))
    return tables


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
    if len(cells) != len(header):
        raise InputError(f"{where}: {len(cells)} cells, the header has {len(header)}")
    at = columns.at
    name = cells[at["application"]].strip() if columns.has("application") else alone
    if not name:
        raise InputError(f"{where}: the cell '{header[at['application']]}' is empty")
    values = [_number(where, header, at["nodes"], cells, whole=True)]
    for setting in columns.settings:
        values.append(
            _cores(where, header, at, cells, values[0]) if setting == "cores" else
            _setting(where, header, at[setting], cells, setting))
    for column in ("time_s", "power_w"):
        values.append(_number(where, header, at[column], cells))
    return name, tuple(values)


def _ratio(columns: Mapping[str, int], cells: list[str], values: tuple[float, ...]) -> float:
    """The power of all nodes over that of a node times the nodes; 1 where a file has one alone."""
    try:
        node_w = float(cells[columns["node_power_w"]]) if "node_power_w" in columns else math.nan
    except ValueError:
        return 1.0  # a column that nothing is computed from
    return values[-1] / (values[0] * node_w) if node_w > 0 else 1.0


def _power_note(ratios: list[float]) -> str:
    """What is said of a table whose two columns of power contradict each other."""
    off = [ratio for ratio in ratios if abs(ratio - 1.0) > _DIFFERS]
    if not off:
        return ""
    return (f"in {len(off)} of {len(ratios)} measured runs the power of all nodes is not that of "
            f"a node times the nodes ({min(off):.2g} to {max(off):.2g} times); {AS_LISTED}, so a "
            "bound in watts may not hold")


def _counts_ranks(columns: Mapping[str, int], cells: list[str]) -> bool:
    """Whether a row gives the ranks of all nodes and not the cores of one."""
    at, ranks = columns.get("cores"), columns.get("ranks")
    if ranks is None or at is None or not cells[ranks].strip():
        return False
    return at < 0 or not cells[at].strip()


def _cores(
    where: str, header: Sequence[str], columns: Mapping[str, int], cells: list[str], nodes: float
) -> float:
    """Cores on a node, or what the ranks of all nodes make on each of them."""
    at = columns["cores"]
    if _counts_ranks(columns, cells):
        ranks = columns["ranks"]
        total = _number(where, header, ranks, cells, whole=True)
        if total % nodes:
            raise InputError(f"{where}: {header[ranks]} is {total:g}, "
                             f"not a multiple of {nodes:g} nodes")
        return total / nodes
    return _number(where, header, at if at >= 0 else columns["ranks"], cells, whole=True)


def _setting(where: str, header: Sequence[str], at: int, cells: list[str], name: str) -> float:
    """A setting of a run. Models need a number of a run without a cap too, and nothing knows it."""
    if is_cap(name) and cells[at].strip().casefold() in UNCAPPED:
        raise InputError(f"{where}: {header[at]} is '{cells[at].strip()}', must be a number above "
                         f"0; for a run without a cap write the most that a {device_of(name)} may "
                         "draw, which no run exceeds")
    return _number(where, header, at, cells, whole=kind_of(name) == "count")


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
