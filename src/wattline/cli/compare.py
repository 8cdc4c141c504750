"""`wattline compare`: several scenarios side by side, with ratios to the first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from wattline.cli.choices import ScenarioCommand
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.cli.scenario_options import (
    changes_from,
    code_allowed,
    load_scenario,
    scenario_options,
)
from wattline.cli.simulating import (
    file_stem,
    run_folder,
    run_plan,
    say_assumed,
    say_beforehand,
    say_budget,
    say_not_run,
    whole_or_gone,
)
from wattline.model.errors import InputError

MAIN_JOB = ("bundled:main-uncapped", "bundled:main-capped")


@click.command(cls=ScenarioCommand)
@click.argument("scenarios", nargs=-1)
@click.option("--trace", help="A job log to replay instead of the scenarios'.")
@click.option("--vary", metavar="FIELD=A,B,C", multiple=True,
              help="Run the scenario once for each of these values of a field, like "
                   "power.cap=none,90%,80%.")
@click.option("-o", "--out", help="Folder for runs and report; default: the next under runs/.")
@click.option("--no-report", is_flag=True, help="No HTML report.")
@scenario_options
@json_option
def command(
    scenarios: tuple[str, ...], trace: str | None, vary: tuple[str, ...], out: str | None,
    no_report: bool, as_json: bool, **options: Any,
) -> None:
    """Simulate several scenarios and compare them with the first.

    SCENARIOS are TOML files, or job logs. Without any, and without options, it runs the bundled
    example: four months on a 49,152-node machine, without a cap and with one.
    """
    from wattline.analysis import rundir
    from wattline.analysis.metrics import metrics
    from wattline.analysis.summary import compare_table, comparison
    from wattline.scenario.build import plan

    paths: tuple[str | None, ...] = scenarios or ((None,) if trace else MAIN_JOB)
    folder = run_folder("compare", out)
    runs: dict[str, Any] = {}
    figures: dict[str, Any] = {}
    folders: dict[str, str] = {}
    said: set[str] = set()
    page = None
    # All scenarios are checked before the first of them costs any time.
    todo = [(loaded := load_scenario(path, trace, changes), changes,
             code_allowed(path, loaded, changes, options))
            for changes in _variations(vary, changes_from(options)) for path in paths]
    _clear_old(folder)
    with whole_or_gone(folder):
        for loaded, changes, may_run_code in todo:
            name = _unique(_label(loaded.name, changes, vary), runs)
            ready = plan(loaded.model_copy(update={"name": name}), allow_code=may_run_code)
            say_beforehand(ready, said)
            run = run_plan(ready)
            say_not_run(ready, run)
            say_budget(run, name)
            runs[name], figures[name] = run, metrics(run)
            written = rundir.write(run, folder / _file_name(name, len(runs)), figures[name])
            folders[name] = str(written)
        if not no_report:
            from wattline.analysis.report import report

            with progress("drawing the report") as advance:
                page = report(runs, folder / "report", advance)
    if as_json:
        print_json({
            "runs": {name: {"jobs": len(run.jobs), "engine_s": run.engine_s,
                            "run_dir": folders[name],
                            "assumed": run.assumed, "remarks": run.remarks,
                            "metrics": figures[name]} for name, run in runs.items()},
            "report": None if page is None else str(page),
        })
        return
    headers, lines = comparison(list(runs), compare_table(runs, figures))
    print_table(headers, lines)
    say_assumed(runs)
    for name, run in runs.items():
        click.echo(f"{name}: {len(run.jobs):,} jobs simulated in {run.engine_s:.3g} s")
    if page is not None:
        click.echo(f"report: {page}")


def _clear_old(folder: Path) -> None:
    """Take away the runs and the report of an earlier comparison in the same folder."""
    import shutil

    from wattline.analysis import rundir

    old = [path for path in folder.glob("[0-9][0-9]-*") if rundir.is_run(path)]
    for path in [*old, folder / "report"] if old else []:
        shutil.rmtree(path, ignore_errors=True)


def _variations(vary: tuple[str, ...], changes: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All combinations of the varied fields on top of the other changes."""
    if not vary:
        yield changes
        return
    from wattline.scenario.load import parse_value

    field, equals, values = vary[0].partition("=")
    if not equals or not values:
        raise InputError(f"'{vary[0]}' is no variation; write it like power.cap=0.6,0.7,0.8")
    for value in _split(values):
        yield from _variations(vary[1:], changes | {field.strip(): parse_value(value)})


def _split(values: str) -> list[str]:
    """Split at commas, but not inside tables, lists and quotes."""
    parts, depth, quoted = [""], 0, False
    for sign in values:
        quoted ^= sign == '"'
        depth += (sign in "[{") - (sign in "]}")
        if sign == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def _label(name: str, changes: dict[str, Any], vary: tuple[str, ...]) -> str:
    fields = [each.partition("=")[0].strip() for each in vary]
    varied = ", ".join(f"{field.split('.')[-1]} {changes[field]}" for field in fields)
    return f"{name}: {varied}" if varied else name


def _unique(name: str, taken: dict[str, Any]) -> str:
    number = 2
    unique = name
    while unique in taken:
        unique = f"{name} ({number})"
        number += 1
    return unique


def _file_name(name: str, number: int) -> Path:
    return Path(f"{number:02d}-{file_stem(name)}"[:60])
