"""Learning the priors of models from whole tables of several applications.

What all applications of a site have in common, how their times fall with cores and what a cap costs
them, need not be measured again with each new one: it is what is believed before. The middle of a
coefficient over the applications is its mean, their spread its width. Tables of nodes, cores and a
cap for each socket teach the capping model; tables of any settings teach the smooth one how time
and power go with each setting, by its name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.files import write_whole
from wattline.model.reading import read_text
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.regression.base import Grid
from wattline.physics.regression.bayes import one_thread
from wattline.physics.regression.capping import CappingModel, fit_capping
from wattline.physics.regression.terms import PARTS, SHIPPED, Prior, Priors, Slope

FORMAT = "wattline-priors"
FEWEST = 3
"""Of fewer applications nothing in common can be told."""
NARROWEST = 0.5
"""No prior becomes narrower than this part of a first guess: few applications are known."""
WIDENED = 1.3
_FIRST_GUESS_SD: Mapping[str, Mapping[str, float]] = {
    "time": {"cores": 0.4, "nodes": 0.5, "cores_cores": 0.2, "cores_nodes": 0.15,
             "nodes_nodes": 0.15, "top": 0.08, "top_cores": 0.1, "top_nodes": 0.1, "full": 0.1,
             "throttle": 0.3, "throttle_full": 0.3},
    "power": {"cores": 0.25, "nodes": 0.15, "cores_cores": 0.12, "cores_nodes": 0.12,
              "nodes_nodes": 0.1, "top": 0.06, "top_cores": 0.06, "top_nodes": 0.06,
              "full": 0.04, "limit": 0.05, "idle": 0.3},
}
_SLOPE_GUESS_SD = 0.5
"""How far slopes of applications are thought to be apart, of which nothing is known yet."""
Learned = tuple[str, CappingModel]
"""An application, and a model of one of its tables."""
TableSlopes = Mapping[str, Mapping[str, float]]
"""Of one table: for power and for time, the slope along each setting that it determines."""


def fit_widely(
    tables: Mapping[str, ConfigurationTable], sockets: int = 2,
    progress: Callable[[float], None] = lambda fraction: None,
) -> dict[str, CappingModel]:
    """Models of whole tables under wide priors: what the tables say, not what was believed."""
    wide = Priors(power=_widened("power"), time=_widened("time"))
    found = {}
    with one_thread():
        for done, (name, table) in enumerate(tables.items()):
            found[name] = fit_capping(table, Grid.of(table), sockets, wide)
            progress((done + 1) / len(tables))
    return found


def _widened(part: str) -> tuple[Prior, ...]:
    return tuple(prior._replace(sd=2.0 * _FIRST_GUESS_SD[part].get(prior.name, prior.sd))
                 for prior in getattr(SHIPPED, part))


def learn_priors(
    models: Mapping[str, CappingModel], application_of: Callable[[str], str] = str,
    knows: Callable[[str, Prior], bool] = lambda name, prior: True,
) -> Priors:
    """Robust middle and width of each coefficient over the applications that determine it.

    `application_of` says which tables are of one application, `knows` whether a table can say
    anything of a coefficient. A coefficient that fewer than three know stays as it was.
    """
    power, time = (tuple(_learned(models, part, at, application_of, knows)
                         for at in range(len(getattr(SHIPPED, part)))) for part in PARTS)
    return Priors(power, time)


def _learned(
    models: Mapping[str, CappingModel], part: str, at: int, application_of: Callable[[str], str],
    knows: Callable[[str, Prior], bool],
) -> Prior:
    prior: Prior = getattr(SHIPPED, part)[at]
    guess = _FIRST_GUESS_SD[part].get(prior.name)
    if guess is None:
        return prior
    values: dict[str, list[float]] = {}
    for name, model in models.items():
        fitted = getattr(model, part)
        # Idle sockets are seen only where one socket is filled before the next.
        seen = knows(name, prior) and (prior.group != "packed" or model.layout.packed)
        if seen and fitted.covariance[at, at] < guess**2:
            values.setdefault(application_of(name), []).append(float(fitted.coefficients[at]))
    if len(values) < FEWEST:
        return prior
    middle, width = _in_common([float(np.mean(found)) for found in values.values()], guess)
    return prior._replace(mean=middle, sd=width)


def _in_common(values: Sequence[float], guess: float) -> tuple[float, float]:
    """The robust middle and width of what applications have, widened as they are few."""
    each = np.array(values)
    middle = float(np.median(each))
    width = 1.4826 * float(np.median(np.abs(each - middle))) * np.sqrt(1.0 + 1.0 / len(each))
    return middle, float(max(WIDENED * width, NARROWEST * guess))


def slopes_of(table: ConfigurationTable) -> TableSlopes:
    """The slopes that a whole table determines: those of the line in logarithms that fits best.

    A smooth model of a whole table follows its bends and needs no slope. Where little is measured
    the line has to do, over the whole range, so it is that line which is learned.
    """
    points = np.log(table.points())
    varied = np.flatnonzero(np.ptp(points, axis=0) > 0)
    names = [Grid.of(table).names[at] for at in varied]
    terms = np.column_stack([np.ones(len(points)), points[:, varied]])
    free = len(points) - terms.shape[1]
    if free < 1 or np.linalg.matrix_rank(terms) < terms.shape[1]:
        return {part: {} for part in PARTS}
    found = {}
    spread = np.diag(np.linalg.inv(terms.T @ terms))[1:]
    for part, measured in (("power", table.power_w), ("time", table.time_s)):
        slopes, rest, _, _ = np.linalg.lstsq(terms, np.log(measured))
        known = spread * float(rest[0]) / free < _SLOPE_GUESS_SD**2
        found[part] = {name: float(slope) for name, slope, sure
                       in zip(names, slopes[1:], known, strict=True) if sure}
    return found


def learn_slopes(
    found: Mapping[str, TableSlopes], application_of: Callable[[str], str] = str
) -> dict[str, dict[str, Slope]]:
    """How power and time go with each setting that three applications or more determine.

    `found` is what the tables determine, by name; `application_of` says which tables are of one
    application.
    """
    values: dict[str, dict[str, dict[str, list[float]]]] = {part: {} for part in PARTS}
    for table, of_table in found.items():
        for part in PARTS:
            for name, slope in of_table[part].items():
                by_application = values[part].setdefault(name, {})
                by_application.setdefault(application_of(table), []).append(slope)
    return {part: {name: Slope(*_in_common([float(np.mean(one)) for one in slopes.values()],
                                           _SLOPE_GUESS_SD))
                   for name, slopes in values[part].items() if len(slopes) >= FEWEST}
            for part in PARTS}


def save_priors(priors: Priors, applications: list[str], path: str | Path) -> None:
    """Write priors to a file, whole or not at all."""
    content = {"format": FORMAT, "learned_from": applications, **{
        part: {prior.name: {"mean": prior.mean, "sd": prior.sd}
               for prior in getattr(priors, part)} for part in PARTS},
        "slopes": {part: {name: slope._asdict()
                          for name, slope in getattr(priors, f"{part}_slopes").items()}
                   for part in PARTS}}
    write_whole(path, json.dumps(content, indent=1) + "\n")


def learned_from(path: str | Path) -> list[str]:
    """The applications that the priors of a file have seen."""
    names = _content(path).get("learned_from", [])
    if not isinstance(names, list):
        raise InputError(f"{path}: the priors are damaged (learned_from is no list)")
    return [str(name) for name in names]


def _content(path: str | Path) -> dict[str, Any]:
    try:
        content: Any = json.loads(read_text(path))
    except ValueError as error:
        raise InputError(f"{path}: not JSON ({error})") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"{path} is no file of priors; `wattline fit TABLE --learn-priors FILE` "
                         "makes one")
    return content


def load_priors(path: str | Path) -> Priors:
    """The priors of a file; every coefficient must be there."""
    content = _content(path)
    try:
        power, time = (tuple(prior._replace(mean=float(content[part][prior.name]["mean"]),
                                            sd=float(content[part][prior.name]["sd"]))
                             for prior in getattr(SHIPPED, part)) for part in PARTS)
        power_slopes, time_slopes = (
            {name: Slope(float(each["mean"]), float(each["sd"]))
             for name, each in content.get("slopes", {}).get(part, {}).items()} for part in PARTS)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: the priors are damaged ({error})") from None
    every: list[Prior | Slope] = [*power, *time, *power_slopes.values(), *time_slopes.values()]
    if not all(one.sd > 0 and np.isfinite([one.mean, one.sd]).all() for one in every):
        raise InputError(f"{path}: every prior needs a finite mean and a width above 0")
    return Priors(power, time, power_slopes, time_slopes)
