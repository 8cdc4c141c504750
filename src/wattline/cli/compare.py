"""`wattline compare`: several scenarios side by side, with ratios to the first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wattline.analysis.folders import file_stem, run_folder
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.cli.scenario_options import (
    changes_from,
    code_allowed,
    load_scenario,
    scenario_options,
)
from wattline.cli.simulating import (
    run_plan,
    say_assumed,
    say_beforehand,
    say_budget,
    say_not_run,
    whole_or_gone,
)

MAIN_JOB = ("bundled:main-uncapped", "bundled:main-capped")


@click.command()
@click.argument("scenarios", nargs=-1)
@click.option("--trace", help="A job log to replay instead of the scenarios'.")
@click.option("--vary", metavar="FIELD=A,B,C", multiple=True,
              help="Run the scenario once for each of these values of a field.")
@click.option("-o", "--out", help="Folder for runs and report; default: the next under runs/.")
@click.option("--no-report", is_flag=True, help="No HTML report.")
@scenario_options
@json_option
def command(
    scenarios: tuple[str, ...], trace: str | None, vary: tuple[str, ...], out: str | None,
    no_report: bool, as_json: bool, **options: Any,
) -> None:
    """Simulate several scenarios and compare them with the first.

    Without scenarios and options it runs the bundled example: four months on a 49,152-node
    machine, without a cap and with one.
    """
    from wattline.analysis import rundir
    from wattline.analysis.metrics import metrics
    from wattline.analysis.naming import unique_name
    from wattline.analysis.summary import compare_table, comparison
    from wattline.scenario.build import plan
    from wattline.scenario.sweep import combinations, label, parse_variations

    paths: tuple[str | None, ...] = scenarios or ((None,) if trace else MAIN_JOB)
    folder = run_folder("compare", out)
    runs: dict[str, Any] = {}
    figures: dict[str, Any] = {}
    folders: dict[str, str] = {}
    said: set[str] = set()
    page = None
    # All scenarios are checked before the first of them costs any time.
    given = changes_from(options)
    todo = [(loaded := load_scenario(path, trace, given | varied), varied,
             code_allowed(path, loaded, given | varied, options))
            for varied in combinations(parse_variations(vary)) for path in paths]
    _clear_old(folder)
    with whole_or_gone(folder):
        for loaded, varied, may_run_code in todo:
            name = unique_name(label(loaded.name, varied), runs)
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


def _file_name(name: str, number: int) -> Path:
    return Path(f"{number:02d}-{file_stem(name)}"[:60])
