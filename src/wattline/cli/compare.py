"""`wattline compare`: several scenarios side by side, with ratios to the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.analysis.folders import claimed_folder, run_folder
from wattline.cli.choices import ScenarioCommand
from wattline.cli.comparing import RunsDone, run_each
from wattline.cli.drawing import load_plots
from wattline.cli.needs import given, option
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
from wattline.cli.simulating import cap_json, say_assumed, say_caps, whole_or_gone
from wattline.model.errors import InputError
from wattline.model.units import counted

if TYPE_CHECKING:
    from wattline.advice.per_job import PerJob
    from wattline.model.run import Run

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
@option("--plot", metavar="FILE",
        help="With --per-job and two runs: draw it (.png, .svg, .pdf).", needs=given("per_job"))
@scenario_options
@json_option
def command(
    scenarios: tuple[str, ...], trace: str | None, vary: tuple[str, ...], out: str | None,
    no_report: bool, per_job: bool, plot: str | None, as_json: bool, **options: Any,
) -> None:
    """Simulate several scenarios and compare them with the first.

    SCENARIOS are TOML files, job logs, or folders of runs that are done, also a folder that has
    several such folders in it. Without any, and without options, it runs the bundled example: four
    months on a 49,152-node machine, without a cap and with one.
    """
    from wattline.analysis.rundir import runs_below
    from wattline.scenario.lineup import Lineup, refuse_changed_runs
    from wattline.scenario.sweep import parse_variations

    given = tuple(each for path in scenarios for each in runs_below(path))
    places: tuple[str | None, ...] = given or ((None,) if trace else MAIN_JOB)
    changes = changes_from(options)
    refuse_changed_runs(places, (*(["--trace"] if trace is not None else []),
                                 *(["--vary"] if vary else []), *changes))
    variations = parse_variations(vary)
    _refuse_twice(changes, variations)
    run_folder("compare", out)  # a place that cannot be written is found out now
    lineup = Lineup(
        lambda place, asked: load_scenario(place, trace, dict(asked)),
        lambda place, loaded, asked: code_allowed(place, loaded, dict(asked), options))
    # All scenarios are checked before the first of them costs any time.
    contenders = lineup.contenders(places, changes, variations)
    check_per_job(per_job, plot, len(contenders))
    page = None
    with claimed_folder("compare", out) as folder, whole_or_gone(folder):
        done = run_each(contenders, folder)
        beside = compare_per_job(done.runs, plot) if per_job else None
        if not no_report:
            page = _report(done.runs, folder / "report", beside or ())
    answer = _Answer(done, variations, beside, plot, page)
    (answer.print_json if as_json else answer.print)()


def _refuse_twice(changes: Mapping[str, Any], variations: Mapping[str, Any]) -> None:
    for field in variations:
        if field in changes:
            raise InputError(f"{option_of(field)} and --vary {field} both set {field}; leave one "
                             "out")


def _report(runs: Mapping[str, Run], folder: Path, beside: Sequence[PerJob]) -> Path:
    from wattline.analysis.report import report

    with progress("drawing the report") as advance:
        load_plots()
        return report(runs, folder, advance, chapters=chapters(beside))


class _Answer:
    """What is printed of a comparison."""

    def __init__(self, done: RunsDone, variations: Mapping[str, Any],
                 beside: Sequence[PerJob] | None, plot: str | None, page: Path | None) -> None:
        from wattline.analysis.other_caps import against_other_caps
        from wattline.scenario.sweep import all_alike

        self.done, self.beside, self.plot, self.page = done, beside, plot, page
        self.figures = against_other_caps(done.runs, done.figures)
        self.alike = all_alike(self.figures, variations)

    def print_json(self) -> None:
        print_json({
            "runs": {name: self._of_run(name, run) for name, run in self.done.runs.items()},
            "report": None if self.page is None else str(self.page),
            "remarks": list(self.alike),
            **({} if self.beside is None else {
                "per_job": {pair.second: pair.to_dict() for pair in self.beside}}),
        })

    def _of_run(self, name: str, run: Run) -> dict[str, Any]:
        return {"jobs": len(run.jobs), "engine_s": run.engine_s,
                "run_dir": self.done.folders[name], "cap": cap_json(run), "assumed": run.assumed,
                "remarks": run.remarks, "metrics": self.figures[name]}

    def print(self) -> None:
        from wattline.analysis.other_caps import cap_of
        from wattline.analysis.summary import compare_table

        runs = self.done.runs
        for name, run in runs.items():
            if (cap := cap_of(run)) is not None:
                click.echo(f"{name}: {cap.line}")
        print_comparison(list(runs), compare_table(runs, self.figures))
        say_caps(runs)
        say_assumed(runs)
        for line in self.alike:
            click.echo(f"note: {line}")
        for name, run in runs.items():
            click.echo(f"{name}: {counted(len(run.jobs), 'job')} simulated in "
                       f"{run.engine_s:.3g} s")
        for pair in self.beside or ():
            print_per_job(pair)
        if self.plot is not None:
            click.echo(f"picture: {self.plot}")
        if self.page is not None:
            click.echo(f"report: {self.page}")
