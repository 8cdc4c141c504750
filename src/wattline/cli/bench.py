"""`wattline bench`: the speed of this installation, by the modules of `wattline.benchmarks`."""

from __future__ import annotations

from typing import Any

import click

from wattline.cli.output import json_option, print_json, print_table, progress


@click.command()
@click.argument("names", nargs=-1)
@click.option("--streamed-jobs", type=int, metavar="N",
              help="Of `core`: how many jobs stream through the books; a million if not given.")
@json_option
def command(names: tuple[str, ...], streamed_jobs: int | None, as_json: bool) -> None:
    """Measure the speed of this installation.

    NAMES are the benchmarks to run; without any they are listed.
    """
    from wattline.benchmarks._asking import bench, check_names, list_benchmarks
    from wattline.model.errors import InputError

    if streamed_jobs is not None and names != ("core",):
        raise InputError("--streamed-jobs is a matter of `wattline bench core`")
    if not names:
        known = list_benchmarks()
        if as_json:
            print_json(known)
        else:
            print_table(["benchmark", "what it measures"], list(known.items()))
        return
    check_names(names)
    results: dict[str, Any] = {}
    for name in names:
        with progress(f"measuring {name}") as advance:
            results[name] = bench(name, streamed_jobs=streamed_jobs, progress=advance)
    if as_json:
        print_json(results[names[0]] if len(names) == 1 else results)
        return
    for name, found in results.items():
        print_table(["figure", "measured"], list(_flat(found)), name)


def _flat(figures: dict[str, Any], path: str = "") -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    for key, value in figures.items():
        if isinstance(value, dict):
            rows.extend(_flat(value, f"{path}{key}."))
        else:
            rows.append((f"{path}{key}", value))
    return rows
