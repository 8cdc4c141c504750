"""Model files: JSON with the coefficients of one or more applications."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from wattline.model.errors import InputError
from wattline.model.files import write_whole
from wattline.model.reading import read_text
from wattline.physics.regression.base import Grid, Model
from wattline.physics.regression.capping import CappingModel
from wattline.physics.regression.mixed import MixedModel
from wattline.physics.regression.quadratic import QuadraticModel
from wattline.physics.regression.smooth import SmoothModel

FORMAT = "wattline-model"
VERSION = 2
_READERS = {"capping": CappingModel.from_dict, "quadratic": QuadraticModel.from_dict,
            "smooth": SmoothModel.from_dict, "mixed": MixedModel.from_dict}


def save_models(models: Mapping[str, Model], path: str | Path) -> None:
    """Write models to a file, whole or not at all."""
    content = {
        "format": FORMAT, "version": VERSION,
        "applications": {name: _with_note(model) for name, model in models.items()},
    }
    write_whole(path, json.dumps(_rounded(content), indent=1) + "\n")


def _with_note(model: Model) -> dict[str, Any]:
    return {**model.as_dict(), **({"note": model.note} if model.note else {})}


def load_models(path: str | Path) -> dict[str, Model]:
    """The models of a file, by application."""
    return _parse(read_text(path), str(path))


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
    """The models that come with the package."""
    folder = resources.files("wattline.physics.regression")
    return _parse((folder / "shipped.json").read_text(), "the shipped models")


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
            models[name] = _READERS[stored["kind"]](name, grid, stored)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{where}: the model of '{name}' is damaged ({error})") from None
    if not models:
        raise InputError(f"{where} holds no application")
    return models
