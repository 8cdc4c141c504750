"""The rows of a sweep as columns that any reader of Parquet takes, whatever an axis holds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wattline.sweeps.axes import number_text

if TYPE_CHECKING:
    import pyarrow as pa

SIGNED, UNSIGNED = range(-2**63, 2**63), range(2**64)


def table_of(fields: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """A row per point: the axes, the figures, and the error.

    Only the types of the axes follow from what there is: tables of several sweeps go together.
    """
    import pyarrow as pa

    return pa.table(dict(_columns(fields, rows)))


def _columns(
    fields: Iterable[str], rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, pa.Array]]:
    import pyarrow as pa

    yield "point", pa.array(range(len(rows)), pa.int64())
    for name in fields:
        yield name, _axis([row["setting"].get(name) for row in rows])
    figures = dict.fromkeys(name for row in rows for name in row.get("figures", ()))
    for name in figures:
        yield name, pa.array([_number(row.get("figures", {}).get(name)) for row in rows],
                             pa.float64())
    for name in ("engine_s", "seconds"):
        yield name, pa.array([row.get(name) for row in rows], pa.float64())
    errors = [row.get("error") for row in rows]
    yield "error", pa.array([each if each is None else _text(each) for each in errors],
                            pa.string())


def _axis(values: Sequence[Any]) -> pa.Array:
    """One type per column: numbers where all are and it has room for them, else what a person
    would write."""
    import pyarrow as pa

    if all(isinstance(value, bool) for value in values):
        return pa.array(values, pa.bool_())
    if all(_is_whole(value, SIGNED) for value in values):
        return pa.array(values, pa.int64())
    if all(_is_whole(value, UNSIGNED) for value in values):
        return pa.array(values, pa.uint64())
    if all(isinstance(value, float) or _is_whole(value, SIGNED) for value in values):
        return pa.array([float(value) for value in values], pa.float64())
    return pa.array([_text(shown(value)) for value in values], pa.string())


def _is_whole(value: Any, numbers: range) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value in numbers


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _text(text: str) -> str:
    """Half a letter, of a name of a file that is no text, cannot be written down as it is."""
    return text.encode(errors="backslashreplace").decode()


def shown(value: Any) -> str:
    """A value of an axis in words."""
    if isinstance(value, Mapping):
        name, rest = value.get("name"), {key: each for key, each in value.items() if key != "name"}
        inner = ", ".join(f"{key} {shown(each)}" for key, each in rest.items())
        return f"{name} ({inner})" if name and inner else str(name or inner)
    if isinstance(value, float):
        return number_text(value)
    return "none" if value is None else str(value)


def told(value: Any) -> Any:
    """A value of an axis for JSON: what that has no form for (a date, NaN) in words."""
    if isinstance(value, Mapping):
        return {str(name): told(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [told(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return shown(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else shown(value)
