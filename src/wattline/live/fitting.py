"""A server's power fitted from a table of its parts, and kept in a file that a sensor reads."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.shown import Shown
from wattline.model.signal import FloatArray
from wattline.physics.metering.parts import ServerModel, ServerPart, fit_server

TIME = "time_s"


@dataclass(frozen=True, repr=False)
class FittedServer(Shown):
    """What `fit_server_power` found.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     rows = "".join(f"{t},{50 + t % 7},{100 + 2 * (t % 7)}\\n" for t in range(60))
    ...     _ = Path(folder, "seen.csv").write_text("time_s,rapl,ipmi\\n" + rows)
    ...     wl.fit_server_power(f"{folder}/seen.csv", server="ipmi").server
    'ipmi'
    """

    server: str
    model: ServerModel
    remarks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"server": self.server, **asdict(self.model), "remarks": list(self.remarks)}

    def save(self, path: str | Path) -> Path:
        """Keep it where `--kind model --place FILE` finds it."""
        file = Path(path)
        try:
            file.write_text(json.dumps(self.to_dict(), indent=1), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{file} cannot be written: {error.strerror}") from None
        return file


def fit_server_power(
    table: str | Path, *, server: str, parts: Sequence[str] = (), out: str | Path | None = None
) -> FittedServer:
    """Fit the power of a server to that of its parts, from a table of watts at common times.

    `wattline sensors compare --csv FILE` writes such a table. Without `parts`, all other columns
    are taken. It is refused where the data cannot tell what a part weighs.

    >>> import wattline as wl
    >>> wl.fit_server_power("nowhere.csv", server="ipmi power")
    Traceback (most recent call last):
        ...
    wattline.model.errors.InputError: nowhere.csv cannot be read: No such file or directory
    """
    columns = _read(Path(table))
    wanted = list(parts) or [name for name in columns if name not in (server, TIME)]
    for name in (server, *wanted):
        if name not in columns:
            raise InputError(f"{table} has no column '{name}'; it has: {', '.join(columns)}")
    if server in wanted:
        raise InputError(f"'{server}' cannot be the server and a part of it")
    model = fit_server({name: columns[name] for name in wanted}, columns[server])
    lost = len(columns[server]) - model.rows
    remarks = (f"{lost} rows were left out: a value is missing there",) if lost else ()
    found = FittedServer(server, model, remarks)
    if out is not None:
        found.save(out)
    return found


def read_model(path: Path) -> ServerModel:
    """A model that was saved."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        parts = {name: ServerPart(**part) for name, part in said["parts"].items()}
        return ServerModel(said["base_w"], parts, said["r2"], said["error_w"], said["worst_w"],
                           said["rows"])
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path} holds no fitted server; "
                         "`wattline sensors fit` writes one") from None


def _read(path: Path) -> dict[str, FloatArray]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} is no table: {error}") from None
    if len(rows) < 2 or len(set(rows[0])) != len(rows[0]):
        raise InputError(f"{path} needs a first line of different names, and rows below it")
    values = np.full((len(rows) - 1, len(rows[0])), math.nan)
    for number, row in enumerate(rows[1:]):
        if len(row) != len(rows[0]):
            raise InputError(f"{path}, line {number + 2}: {len(row)} values, not {len(rows[0])}")
        for place, text in enumerate(row):
            values[number, place] = _number(text, path, number + 2)
    return {name: values[:, place] for place, name in enumerate(rows[0])}


def _number(text: str, path: Path, line: int) -> float:
    """A number, or NaN where the cell is empty."""
    try:
        value = float(text) if text.strip() else math.nan
    except ValueError:
        value = math.inf
    if math.isinf(value):
        raise InputError(f"{path}, line {line}: '{text}' is no number")
    return value
