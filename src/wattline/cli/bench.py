"""`wattline bench`: the speed of this installation, by the modules of `wattline.benchmarks`."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import click

from wattline import benchmarks
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.model.errors import InputError


@click.command()
@click.argument("names", nargs=-1)
@json_option
def command(names: tuple[str, ...], as_json: bool) -> None:
    """Measure the speed of this installation.

    NAMES are the benchmarks to run; without any they are listed.
    """
    known = {module.name: f"wattline.benchmarks.{module.name}"
             for module in pkgutil.iter_modules(benchmarks.__path__)
             if not module.name.startswith("_")}
    for name in names:
        if name not in known:
            raise InputError(f"there is no benchmark '{name}'; there are: {', '.join(known)}")
    if not names:
        rows = [(name, _summary(place)) for name, place in known.items()]
        print_table(["benchmark", "what it measures"], rows)
        return
    results: dict[str, Any] = {}
    for name in names:
        with progress(f"measuring {name}") as advance:
            results[name] = importlib.import_module(known[name]).measure(advance)
    if as_json:
        print_json(results[names[0]] if len(names) == 1 else results)
        return
    for name, found in results.items():
        print_table(["figure", "measured"], list(_flat(found)), name)


def _summary(place: str) -> str:
    return (importlib.import_module(place).__doc__ or "").strip().split("\n")[0]


def _flat(figures: dict[str, Any], path: str = "") -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    for key, value in figures.items():
        if isinstance(value, dict):
            rows.extend(_flat(value, f"{path}{key}."))
        else:
            rows.append((f"{path}{key}", value))
    return rows
