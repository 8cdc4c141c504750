"""`wattline compare`: several scenarios side by side, with ratios to the first."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from wattline.analysis.folders import claimed_folder, file_stem, run_folder
from wattline.cli.choices import ScenarioCommand
from wattline.cli.drawing import load_plots
from wattline.cli.output import json_option, print_comparison, print_json, progress
from wattline.cli.per_job_output import (
    chapters,
    check_per_job,
    compare_per_job,
    print_per_job,
)
from wattline.cli.scenario_options import (
    changes_from,
    code_allowed,
    load_scenario,
    option_of,
    scenario_options,
)
from wattline.cli.simulating import (
    run_plan,
    say_assumed,
    say_beforehand,
    say_budget,
    say_caps,
    say_of_run,
    whole_or_gone,
)
from wattline.model.errors import InputError
from wattline.model.units import counted

if TYPE_CHECKING:
    from wattline.model.run import Run
    from wattline.scenario.model import Scenario

MAIN_JOB = ("bundled:main-uncapped", "bundled:main-capped")


@click.command(cls=ScenarioCommand)
@click.argument("scenarios", nargs=-1)
@click.option("--trace", help="A job log to replay instead of the scenarios'.")
@click.option("--vary", metavar="FIELD=A,B,C", multiple=True,
              help="Run the scenario once for each of these values of a field, like "
                   "power.cap=none,90%,80%.")
@click.option("-o", "--out", help="Folder for runs and report; default: the next under runs/.")
@click.option("--no-report", is_flag=True, help="No HTML report.")
@click.option("--per-job", is_flag=True,
              help="Also job by job: who was hurt, who gained; by user, size and hour.")
@click.option("--plot", metavar="FILE",
              help="With --per-job and two runs: draw it (.png, .svg, .pdf).")
@scenario_options
@json_option
def command(
    scenarios: tuple[str, ...], trace: str | None, vary: tuple[str, ...], out: str | None,
    no_report: bool, per_job: bool, plot: str | None, as_json: bool, **options: Any,
) -> None:
    """Simulate several scenarios and compare them with the first.

    SCENARIOS are TOML files, job logs, or folders of runs that are done, also a folder that has
    several such folders in it. Without any, and without
    options, it runs the bundled example: four months on a 49,152-node machine, without a cap and
    with one.
    """
    from wattline.analysis import rundir
    from wattline.analysis.metrics import metrics
    from wattline.analysis.naming import unique_name
    from wattline.analysis.other_caps import against_other_caps
    from wattline.analysis.summary import compare_table
    from wattline.scenario.sweep import all_alike, combinations, parse_variations

    scenarios = tuple(each for path in scenarios for each in rundir.runs_below(path))
    paths: tuple[str | None, ...] = scenarios or ((None,) if trace else MAIN_JOB)
    changes = changes_from(options)
    _check_runs(paths, trace, vary, changes)
    variations = parse_variations(vary)
    for field in variations:
        if field in changes:
            raise InputError(f"{option_of(field)} and --vary {field} both set {field}; leave one "
                             "out")
    run_folder("compare", out)  # a place that cannot be written is found out now
    runs: dict[str, Any] = {}
    figures: dict[str, Any] = {}
    folders: dict[str, str] = {}
    said: set[str] = set()
    page = None
    # All scenarios are checked before the first of them costs any time.
    todo = [_todo(path, trace, changes, varied, options)
            for varied in combinations(variations) for path in paths]
    check_per_job(per_job, plot, len(todo))
    with claimed_folder("compare", out) as folder, whole_or_gone(folder):
        _clear_old(folder, todo)
        for number, each in enumerate(todo):
            name = unique_name(each.name, runs)
            run = runs[name] = _run(each, name, said, todo[number + 1:])
            figures[name] = metrics(run)
            folders[name] = each.folder or str(rundir.write(
                run, folder / _file_name(name, len(runs)), figures[name]))
        beside = compare_per_job(runs, plot) if per_job else []
        if not no_report:
            from wattline.analysis.report import report

            with progress("drawing the report") as advance:
                load_plots()
                page = report(runs, folder / "report", advance, chapters=chapters(beside))
    figures = against_other_caps(runs, figures)
    alike = all_alike(figures, variations)
    if as_json:
        print_json({
            "runs": {name: {"jobs": len(run.jobs), "engine_s": run.engine_s,
                            "run_dir": folders[name],
                            "assumed": run.assumed, "remarks": run.remarks,
                            "metrics": figures[name]} for name, run in runs.items()},
            "report": None if page is None else str(page),
            "remarks": list(alike),
            **({"per_job": {pair.second: pair.to_dict() for pair in beside}} if per_job else {}),
        })
        return
    print_comparison(list(runs), compare_table(runs, figures))
    say_caps(runs)
    say_assumed(runs)
    for line in alike:
        click.echo(f"note: {line}")
    for name, run in runs.items():
        click.echo(f"{name}: {counted(len(run.jobs), 'job')} simulated in {run.engine_s:.3g} s")
    for pair in beside:
        print_per_job(pair)
    if plot is not None:
        click.echo(f"picture: {plot}")
    if page is not None:
        click.echo(f"report: {page}")


class _Todo(NamedTuple):
    """A scenario to simulate, or the folder of a run that is done."""

    name: str
    loaded: Any = None
    may_run_code: bool = False
    folder: str = ""
    remarks: tuple[str, ...] = ()
    """What was chosen for it that nobody chose."""


def _todo(
    path: str | None, trace: str | None, given: dict[str, Any], varied: dict[str, Any],
    options: dict[str, Any],
) -> _Todo:
    from wattline.analysis.rundir import is_run
    from wattline.scenario.sweep import label, same_jobs, with_keeper, without_watched

    if path is not None and is_run(path):
        return _Todo(Path(path).resolve().name, folder=path)

    def load(changes: Mapping[str, Any]) -> Scenario:
        found: Scenario = load_scenario(path, trace, dict(changes))
        return found

    same, fitted = same_jobs(load, given, varied)
    changes, dropped = without_watched(load, {**given, **same, **varied}, varied)
    loaded, remarks = with_keeper(load_scenario(path, trace, changes), varied)
    return _Todo(label(loaded.name, varied), loaded, code_allowed(path, loaded, changes, options),
                 remarks=(*fitted, *dropped, *remarks))


def _run(todo: _Todo, name: str, said: set[str], following: list[_Todo]) -> Run:
    """Simulate, or read what was simulated."""
    if todo.folder:
        from wattline.analysis import rundir

        return rundir.read(todo.folder)
    from wattline.scenario.build import plan

    ready = plan(todo.loaded.model_copy(update={"name": name}), allow_code=todo.may_run_code)
    say_beforehand(ready, said)
    for line in todo.remarks:
        if line not in said:
            click.echo(f"wattline: {line}", err=True)
        said.add(line)

    def meanwhile() -> None:
        from wattline.scenario.ahead import compile_all

        for each in following[:1]:
            if each.loaded is not None:
                compile_all(each.loaded, each.may_run_code)

    run = run_plan(ready, before_compiling=meanwhile)
    say_of_run(ready, run, said, name)
    say_budget(run, name)
    return replace(run, remarks=(*run.remarks, *todo.remarks))


def _check_runs(
    paths: tuple[str | None, ...], trace: str | None, vary: tuple[str, ...],
    changes: dict[str, Any],
) -> None:
    """A run that is done cannot be done otherwise."""
    from wattline.analysis.rundir import is_run

    done = [path for path in paths if path is not None and is_run(path)]
    if done and (trace is not None or vary or changes):
        given = "--trace" if trace is not None else "--vary" if vary else next(iter(changes))
        raise InputError(f"{done[0]} is the folder of a run that is done, which {given} cannot "
                         f"change; name its scenario instead: {Path(done[0]) / 'scenario.toml'}")


def _clear_old(folder: Path, todo: list[_Todo]) -> None:
    """Take away the runs and the report of an earlier comparison in the same folder; of runs that
    are not made again, say so."""
    from wattline.analysis import rundir
    from wattline.analysis.naming import unique_name

    old = sorted(path for path in folder.glob("[0-9][0-9]-*") if rundir.is_run(path))
    names: list[str] = []
    for each in todo:
        names.append(unique_name(each.name, names))
    others = [f"'{there}'" for path in old if (there := rundir.name_in(path)) not in ("", *names)]
    if others:
        runs, whose = ("run", "its") if len(others) == 1 else ("runs", "their")
        click.echo(f"wattline: {folder} held the {runs} {', '.join(others)}; this comparison takes "
                   f"{whose} place", err=True)
    for path in [*old, folder / "report"] if old else []:
        shutil.rmtree(path, ignore_errors=True)


def _file_name(name: str, number: int) -> Path:
    return Path(f"{number:02d}-{file_stem(name)}"[:60])
