"""`wattline simulate`: one scenario in, a run folder and its metrics out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.analysis.folders import claimed_folder, run_folder
from wattline.cli.choices import ScenarioCommand
from wattline.cli.needs import absent, option
from wattline.cli.output import json_option, print_json, print_table
from wattline.cli.scenario_options import (
    changes_from,
    code_allowed,
    load_scenario,
    scenario_options,
)
from wattline.cli.simulating import (
    cap_json,
    cleaning,
    dropped,
    run_plan,
    say_assumed,
    say_beforehand,
    say_budget,
    say_cap,
    say_of_run,
)
from wattline.model.errors import InputError
from wattline.model.units import counted

if TYPE_CHECKING:
    from wattline.scenario.model import Scenario


@click.command(cls=ScenarioCommand)
@click.argument("scenario", required=False)
@click.option("--trace", help="A job log to replay instead of the scenario's.")
@option("-o", "--out", help="Run folder to write; default: the next one under runs/.",
        needs=absent("no_folder"))
@click.option("--no-folder", is_flag=True, help="Print the metrics only.")
@click.option("--journal", metavar="FILE", help="Write every event and decision, for `replay`.")
@scenario_options
@json_option
def command(
    scenario: str | None, trace: str | None, out: str | None, no_folder: bool,
    journal: str | None, as_json: bool, **options: Any,
) -> None:
    """Simulate a job log on a machine under a policy.

    SCENARIO is a TOML file (or bundled:NAME), or a job log (.swf, .csv, .parquet, .json, also
    compressed); options set the fields of the scenario.
    """
    changes = changes_from(options)
    loaded = load_scenario(scenario, trace, changes)
    from wattline.scenario.build import plan

    if not no_folder:
        run_folder(loaded.name, out)  # a place that cannot be written is found out now
    if loaded.contract is not None:
        _contract(loaded, out, no_folder, journal, as_json)
        return
    ready = replace(plan(loaded, allow_code=code_allowed(scenario, loaded, changes, options)),
                    changed=frozenset(changes))
    beforehand: set[str] = set()
    say_beforehand(ready, beforehand)
    if not as_json:
        say_cap(ready)
    run = run_plan(ready, journal)
    from wattline.analysis.metrics import metrics
    from wattline.analysis.summary import summary_rows

    figures = metrics(run)
    folder = None if no_folder else _write(run, loaded.name, out, figures)
    say_of_run(ready, run, beforehand)
    say_budget(run)
    if as_json:
        print_json({"jobs": len(run.jobs), "engine_s": None if journal else run.engine_s,
                    "cap": cap_json(run), "refused": int(run.refused.sum()),
                    "run_dir": None if folder is None else str(folder),
                    "cleaning": cleaning(ready), "dropped": dropped(ready),
                    "assumed": run.assumed, "remarks": run.remarks, "metrics": figures})
        return
    took = "" if journal else f" in {run.engine_s:.3g} s"  # event by event it is not measured
    title = f"{loaded.name}: {counted(len(run.jobs), 'job')}{took}"
    print_table(["metric", "value"], summary_rows(figures, run), title)
    say_assumed({loaded.name: run})
    if folder is not None:
        click.echo(f"run folder: {folder} (wattline report {folder} draws it)")


def _write(run: Any, name: str, out: str | None, figures: dict[str, Any]) -> Path:
    from wattline.analysis import rundir

    with claimed_folder(name, out) as target:
        if said := rundir.replaces(target, name):
            click.echo(f"wattline: {said}", err=True)
        return rundir.write(run, target, figures)


def _contract(
    scenario: Scenario, out: str | None, no_folder: bool, journal: str | None, as_json: bool
) -> None:
    """A scenario with a contract: the bid as it says, and the figures of `wattline regulate`."""
    from wattline.cli.regulate import run_contract, show_contract

    if journal is not None:
        raise InputError("--journal: a contract is simulated at once and writes no journal")
    contract = run_contract(scenario, chosen=not no_folder)
    if no_folder:
        show_contract(contract, None, as_json=as_json)
        return
    with claimed_folder(scenario.name, out) as target:
        show_contract(contract, target, as_json=as_json)
