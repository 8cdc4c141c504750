"""Model files: JSON with the coefficients of one or more applications."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.files import write_whole
from wattline.model.reading import read_text
from wattline.physics.configurations import ConfigurationTable, Runs
from wattline.physics.power_scope import check_scope
from wattline.physics.regression.base import Grid, Known, Model, ModelErrors
from wattline.physics.regression.capping import CappingModel
from wattline.physics.regression.mixed import MixedModel
from wattline.physics.regression.quadratic import QuadraticModel
from wattline.physics.regression.smooth import SmoothModel

FORMAT = "wattline-model"
VERSION = 3
_READERS = {"capping": CappingModel.from_dict, "quadratic": QuadraticModel.from_dict,
            "smooth": SmoothModel.from_dict, "mixed": MixedModel.from_dict}


def save_models(models: Mapping[str, Model], path: str | Path) -> None:
    """Write models to a file, whole or not at all."""
    content = {
        "format": FORMAT, "version": VERSION,
        "applications": {name: _stored(model) for name, model in models.items()},
    }
    write_whole(path, json.dumps(_rounded(content), indent=1) + "\n")


def _stored(model: Model) -> dict[str, Any]:
    errors, cells = model.known.errors, model.known.cells
    said = {"note": model.note, "power_scope": model.power_scope}
    return {**model.as_dict(), **{name: text for name, text in said.items() if text},
            **({} if errors is None else {"errors": errors.as_dict()}),
            **({} if cells is None else {"measured": _cells(cells)})}


def _cells(table: ConfigurationTable) -> dict[str, Any]:
    """Measured configurations: their points, and what was measured there."""
    runs = table.runs
    return {"points": table.points().tolist(), "time_s": table.time_s.tolist(),
            "power_w": table.power_w.tolist(),
            **({} if runs is None else {"runs": runs.count.tolist(),
                                        "time_spread": runs.time_spread.tolist(),
                                        "power_spread": runs.power_spread.tolist()})}


def _known(application: str, grid: Grid, stored: Mapping[str, Any]) -> Known:
    errors, cells = stored.get("errors"), stored.get("measured")
    return Known(None if errors is None else ModelErrors.from_dict(errors),
                 None if cells is None else _read_cells(application, grid, cells))


def _read_cells(
    application: str, grid: Grid, stored: Mapping[str, Any]
) -> ConfigurationTable:
    points = np.asarray(stored["points"], dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != len(grid.names):
        raise ValueError("its measured points do not fit its grid")
    runs = None if "runs" not in stored else Runs(
        np.asarray(stored["runs"], dtype=np.int64), np.asarray(stored["time_spread"], np.float64),
        np.asarray(stored["power_spread"], np.float64))
    return ConfigurationTable(
        application, points[:, 0].astype(np.int64),
        {name: points[:, at].copy() for at, name in enumerate(grid.names) if at},
        np.asarray(stored["time_s"], dtype=np.float64),
        np.asarray(stored["power_w"], dtype=np.float64), runs=runs)


def load_models(path: str | Path) -> dict[str, Model]:
    """The models of a file, by application."""
    return _parse(read_text(path), str(path))


def with_scope(model: Model, scope: str) -> Model:
    """The model whose watts are those of devices, of the node or at the wall."""
    return replace(model, power_scope=check_scope(scope))


def _rounded(value: Any) -> Any:
    """Nine digits: far below the noise of any measurement, and files stay readable."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value


def find_model(models: Mapping[str, Model], wanted: str) -> Model:
    """The model of an application; case does not matter."""
    for name, model in models.items():
        if name.casefold() == wanted.strip().casefold():
            return model
    raise InputError(f"there is no application '{wanted}'; known are: {', '.join(sorted(models))}")


@cache
def shipped_models() -> Mapping[str, Model]:
    """The models that come with the package, all of watts of packages and memory."""
    folder = resources.files("wattline.physics.regression")
    models = _parse((folder / "shipped.json").read_text(encoding="utf-8"), "the shipped models")
    return {name: with_scope(model, "devices") for name, model in models.items()}


def _parse(text: str, where: str) -> dict[str, Model]:
    try:
        content: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}, line {error.lineno}: not JSON ({error.msg})") from None
    except (RecursionError, ValueError) as error:  # brackets in brackets, a number without end
        raise InputError(f"{where}: not JSON ({error})") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"{where} is not a model file; `wattline fit TABLE -o FILE` makes one")
    if content.get("version") != VERSION:
        raise InputError(f"{where} has version {content.get('version')}, this program reads "
                         f"{VERSION}; fit the table again")
    models: dict[str, Model] = {}
    for name, stored in content.get("applications", {}).items():
        try:
            grid = Grid({name: tuple(float(value) for value in values)
                         for name, values in stored["grid"].items()})
            if grid.names[:1] != ("nodes",):
                raise ValueError("its grid does not begin with nodes")
            made = with_scope(_READERS[stored["kind"]](name, grid, stored),
                              str(stored.get("power_scope", "")))
            models[name] = replace(made, known=_known(name, grid, stored))
        except (KeyError, TypeError, ValueError, IndexError, InputError) as error:
            raise InputError(f"{where}: the model of '{name}' is damaged ({error})") from None
    if not models:
        raise InputError(f"{where} holds no application")
    return models
