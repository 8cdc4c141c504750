"""Column maps: which column of a table is what, in which unit; written in TOML."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from wattline.model.errors import InputError
from wattline.model.nearest import did_you_mean
from wattline.model.reading import MOST_TOML_BYTES, is_file, parse_toml, read_text
from wattline.model.units import FACTORS

TARGETS: dict[str, str] = {
    # field: what kind of quantity it is
    "job_id": "id",
    "submit_s": "instant",
    "start_s": "instant",
    "end_s": "instant",
    "run_s": "time",
    "requested_s": "time",
    "wait_s": "time",
    "think_s": "time",
    "requested_procs": "count",
    "allocated_procs": "count",
    "power_w": "power",
    "energy_j": "energy",
    "user": "code",
    "group": "code",
    "queue": "code",
    "partition": "code",
    "application": "code",
    "status": "code",
    "after_job": "id",
    "restart": "count",
    "cpu_freq": "text",
    "frequency_hz_min": "frequency",
    "frequency_hz_max": "frequency",
    "nodes_min": "count",
    "nodes_max": "count",
}
"""What a map can fill."""

FORMATS = ("number", "clock", "hh:mm", "timestamp")
REDUCTIONS = ("mean", "max", "sum")
_UNITS = {"instant": "time", "time": "time", "power": "power", "energy": "energy",
          "frequency": "frequency"}


@dataclass(frozen=True)
class ColumnEntry:
    """How one field is filled."""

    column: str | None = None
    constant: float | str | None = None
    format: str = "number"
    factor: float = 1.0
    per_node: bool = False
    """A power or energy of one node, to be multiplied by the size of the job."""
    reduce: str | None = None
    """For cells that are lists (a power profile): which figure of the list counts."""
    codes: dict[str, int] = field(default_factory=dict)
    """For status: the code of each text; empty means the names of Slurm's states."""
    name_column: str | None = None


@dataclass(frozen=True)
class ColumnMap:
    """A whole map."""

    name: str
    entries: dict[str, ColumnEntry]
    description: str = ""
    delimiter: str = ","
    columns: tuple[str, ...] = ()
    """Column names of a text table that has no header line."""
    timezone: str = ""
    """Of times that name none; empty where the map does not say it."""
    header: dict[str, str] = field(default_factory=dict)
    """What is known of the machine, such as MaxNodes."""


def built_in() -> list[str]:
    """Names of the maps that come with the package."""
    folder = resources.files("wattline.traces.maps")
    names = (file.name for file in folder.iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def load_map(name: str | Path) -> ColumnMap:
    """A map that comes with the package, by its name, or one from a TOML file."""
    if str(name) in built_in():
        text = resources.files("wattline.traces.maps").joinpath(f"{name}.toml").read_text(
            encoding="utf-8")
        return parse_map(text, str(name))
    path = Path(name)
    if not is_file(path):
        raise InputError(f"there is no column map '{name}': neither a file nor one of "
                         f"{', '.join(built_in())}")
    return parse_map(read_text(path, MOST_TOML_BYTES), str(path))


def parse_map(text: str, name: str) -> ColumnMap:
    """Check a map's text and take it in."""
    content = parse_toml(text, name)
    known = {"description", "delimiter", "column_names", "timezone", "header", "columns"}
    _only(content, known, name)
    columns = content.get("columns")
    if not isinstance(columns, dict) or not columns:
        raise InputError(f"{name}: needs a table [columns] that says which column is what")
    _only(columns, set(TARGETS), f"{name}: [columns]")
    entries = {target: _entry(target, value, name) for target, value in columns.items()}
    _complete(entries, name)
    header = content.get("header", {})
    if not isinstance(header, dict):
        raise InputError(f"{name}: header must be a table")
    return ColumnMap(
        name=name,
        entries=entries,
        description=_text(content, "description", "", name),
        delimiter=_delimiter(content, name),
        columns=tuple(str(column) for column in content.get("column_names", ())),
        timezone=_zone(_text(content, "timezone", "", name), name),
        header={str(key): str(value) for key, value in header.items()},
    )


def _entry(target: str, value: Any, name: str) -> ColumnEntry:
    where = f"{name}: columns.{target}"
    if isinstance(value, str):
        value = {"column": value}
    if not isinstance(value, dict):
        raise InputError(f"{where}: must be the name of a column, or a table")
    _only(value, {"column", "constant", "format", "unit", "per", "reduce", "codes",
                  "name_column"}, where)
    if ("column" in value) == ("constant" in value):
        raise InputError(f"{where}: needs either 'column' or 'constant'")
    kind = TARGETS[target]
    default = "timestamp" if kind == "instant" else "number"
    return ColumnEntry(
        column=_text(value, "column", None, where),
        constant=value.get("constant"),
        format=_choice(value, "format", FORMATS, default, where),
        factor=_factor(kind, value.get("unit"), where),
        per_node=_choice(value, "per", ("job", "node"), "job", where) == "node",
        reduce=_choice(value, "reduce", REDUCTIONS, None, where),
        codes=_codes(value.get("codes", {}), where),
        name_column=_text(value, "name_column", None, where),
    )


def _complete(entries: dict[str, ColumnEntry], name: str) -> None:
    if "submit_s" not in entries:
        raise InputError(f"{name}: columns.submit_s is missing: when was a job submitted?")
    if not {"requested_procs", "allocated_procs"} & set(entries):
        raise InputError(f"{name}: columns.requested_procs or allocated_procs is missing: how "
                         "large was a job?")
    if "run_s" not in entries and not {"start_s", "end_s"} <= set(entries):
        raise InputError(f"{name}: columns.run_s, or both start_s and end_s, is missing: how long "
                         "did a job run?")


def _factor(kind: str, unit: Any, where: str) -> float:
    if unit is None:
        return 1.0
    units = FACTORS[_UNITS.get(kind, "count")]
    if unit not in units:
        raise InputError(f"{where}: unit '{unit}' is not one of {', '.join(units) or 'none'}")
    return units[unit]


def _codes(value: Any, where: str) -> dict[str, int]:
    if not isinstance(value, dict) or not all(type(code) is int for code in value.values()):
        raise InputError(f"{where}: codes must be a table of whole numbers")
    return {str(text): int(code) for text, code in value.items()}


def _delimiter(content: dict[str, Any], name: str) -> str:
    delimiter = _text(content, "delimiter", ",", name)
    if len(delimiter.encode()) != 1 or delimiter in '\n\r"':
        raise InputError(f"{name}: delimiter must be one character, not a quote or a line end")
    return str(delimiter)


def _zone(zone: str, name: str) -> str:
    if zone:
        try:
            ZoneInfo(zone)
        except (KeyError, ValueError, OSError):
            raise InputError(f"{name}: there is no time zone '{zone}'") from None
    return zone


def _text(table: dict[str, Any], key: str, default: Any, where: str) -> Any:
    value = table.get(key, default)
    if value is not default and not isinstance(value, str):
        raise InputError(f"{where}: {key} must be text")
    return value


def _choice(
    table: dict[str, Any], key: str, choices: tuple[str, ...], default: Any, where: str
) -> Any:
    value = table.get(key, default)
    if value is not default and value not in choices:
        raise InputError(f"{where}: {key} is '{value}', must be one of {', '.join(choices)}")
    return value


def _only(table: dict[str, Any], known: set[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise InputError(f"{where}: unknown key '{key}'" + did_you_mean(key, known))
