"""Reading tables of measured configurations: CSV, plain or compressed, one row per run.

Every mistake in a file is reported with its line and column; no cell is ever guessed.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.reading import read_unpacked
from wattline.model.units import plain_number
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.repeated_runs import OtherSettings, spread_note

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
_OPTIONAL = ("application", "ranks", "node_power_w")
_DIFFERS = 0.1
"""A total that is further than this from node power times nodes is no rounding."""


def read_measurements(path: str | Path, application: str = "") -> dict[str, ConfigurationTable]:
    """The tables of a file, one for each application, repeated runs reduced to their medians.

    Runs far apart are said in the table's `note`; a file whose runs of one configuration differ in
    a setting that is not known here is refused. A file without an application column is the table
    of `application`, or of the file's name.
    """
    path = Path(path)
    reader = csv.reader(io.StringIO(read_text(path)))
    header = [cell.strip() for cell in next(reader, [])]
    columns = _columns(path, header)
    rivals = _rivals(header, columns)
    others = OtherSettings(path, header, (n for names in COLUMN_NAMES.values() for n in names))
    alone = application or path.name.split(".")[0]
    rows: dict[str, list[tuple[float, ...]]] = {}
    ratios: dict[str, list[float]] = {}
    of_ranks: set[str] = set()
    for cells in reader:
        if not any(cell.strip() for cell in cells):
            continue
        name, values = _row(path, reader.line_num, header, columns, cells, alone)
        for at, other in rivals:
            _check_equal(f"{path}, line {reader.line_num}", header, cells, at, other)
        others.check(name, (values[0], values[1], values[2]), cells)
        rows.setdefault(name, []).append(values)
        ratios.setdefault(name, []).append(_ratio(columns, cells, values))
        if _counts_ranks(columns, cells):
            of_ranks.add(name)
    if not rows:
        raise InputError(f"{path}: the table has a header and no rows")
    tables = {}
    for name, runs in rows.items():
        nodes, cores, cap_w, time_s, power_w = zip(*runs, strict=True)
        said = (_power_note(ratios[name]), spread_note(runs))
        tables[name] = ConfigurationTable.build(name, nodes, cores, cap_w, time_s, power_w,
                                                note="; ".join(filter(None, said)),
                                                of_ranks=name in of_ranks)
    return tables


def unnamed_note(path: str | Path, application: str) -> str:
    """What is said where a file has no application column and its rows are taken as one."""
    header = [cell.strip() for cell in next(csv.reader(io.StringIO(read_text(Path(path)))), [])]
    if any(name in header for name in COLUMN_NAMES["application"]):
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


def _columns(path: Path, header: list[str]) -> dict[str, int]:
    found = {}
    for column, names in COLUMN_NAMES.items():
        for name in names:
            if header.count(name) > 1:
                raise InputError(f"{path}: the column '{name}' appears {header.count(name)} times")
            if name in header:
                found[column] = header.index(name)
                break
    if "cores" not in found and "ranks" in found:
        found["cores"] = -1
    missing = [column for column in COLUMN_NAMES if column not in found
               and column not in _OPTIONAL]
    if missing:
        wanted = "; ".join(f"{column} (or {', '.join(COLUMN_NAMES[column][1:])})"
                           if len(COLUMN_NAMES[column]) > 1 else column for column in missing)
        raise InputError(f"{path}: the table lacks the columns {wanted}")
    return found


def _rivals(header: list[str], columns: Mapping[str, int]) -> list[tuple[int, int]]:
    """Columns of numbers that a file has under two names."""
    return [(columns[column], header.index(name)) for column, names in COLUMN_NAMES.items()
            if column in columns and column not in _OPTIONAL for name in names
            if name in header and header.index(name) != columns[column] >= 0]


def _check_equal(where: str, header: list[str], cells: list[str], at: int, other: int) -> None:
    try:
        same = not cells[other].strip() or float(cells[other]) == float(cells[at])
    except ValueError:
        same = False
    if not same:
        raise InputError(f"{where}: {header[at]} is {cells[at].strip()} and {header[other]} is "
                         f"{cells[other].strip()}; they mean the same, so leave one out")


def _row(
    path: Path, line: int, header: list[str], columns: Mapping[str, int], cells: list[str],
    alone: str,
) -> tuple[str, tuple[float, ...]]:
    where = f"{path}, line {line}"
    if len(cells) != len(header):
        raise InputError(f"{where}: {len(cells)} cells, the header has {len(header)}")
    name = cells[columns["application"]].strip() if "application" in columns else alone
    if not name:
        raise InputError(f"{where}: the cell '{header[columns['application']]}' is empty")
    values = [_number(where, header, columns["nodes"], cells, whole=True)]
    values.append(_cores(where, header, columns, cells, values[0]))
    for column in ("cap_w", "time_s", "power_w"):
        values.append(_number(where, header, columns[column], cells))
    return name, tuple(values)


def _ratio(columns: Mapping[str, int], cells: list[str], values: tuple[float, ...]) -> float:
    """The power of all nodes over that of a node times the nodes; 1 where a file has one alone."""
    try:
        node_w = float(cells[columns["node_power_w"]]) if "node_power_w" in columns else math.nan
    except ValueError:
        return 1.0  # a column that nothing is computed from
    return values[4] / (values[0] * node_w) if node_w > 0 else 1.0


def _power_note(ratios: list[float]) -> str:
    """What is said of a table whose two columns of power contradict each other."""
    off = [ratio for ratio in ratios if abs(ratio - 1.0) > _DIFFERS]
    if not off:
        return ""
    return (f"in {len(off)} of {len(ratios)} measured runs the power of all nodes is not that of "
            f"a node times the nodes ({min(off):.2g} to {max(off):.2g} times); it is used as "
            "listed, so a bound in watts may not hold")


def _counts_ranks(columns: Mapping[str, int], cells: list[str]) -> bool:
    """Whether a row gives the ranks of all nodes and not the cores of one."""
    at, ranks = columns["cores"], columns.get("ranks")
    return ranks is not None and (at < 0 or not cells[at].strip()) and bool(cells[ranks].strip())


def _cores(
    where: str, header: list[str], columns: Mapping[str, int], cells: list[str], nodes: float
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


def _number(
    where: str, header: list[str], at: int, cells: list[str], whole: bool = False
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
