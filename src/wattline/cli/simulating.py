"""Running scenarios for a command: progress, what is said on the way, the run folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.output import progress

if TYPE_CHECKING:
    from wattline.model.run import Run
    from wattline.scenario.build import Plan


def run_plan(
    plan: Plan, journal: str | None = None, before_compiling: Callable[[], None] | None = None
) -> Run:
    """Simulate with a progress bar; into a journal it goes event by event."""
    with progress(f"simulating {plan.scenario.name}", spoken=journal is not None) as advance:
        if journal is None:
            return plan.run(advance, before_compiling)
        from wattline.scenario.journals import run_with_journal

        return run_with_journal(plan, journal, advance)


def say_beforehand(plan: Plan, said: set[str] | None = None) -> None:
    """What the reader did to the log and what has no effect, on standard error.

    `said` holds what was said of other scenarios already, which is not said again.
    """
    from wattline.scenario.remarks import cleaned, remarks

    said = set() if said is None else said
    for line in (*cleaned(plan.trace, run_times_used=plan.tables is None), *remarks(plan)):
        if line not in said:
            click.echo(f"wattline: {line}", err=True)
        said.add(line)


def say_assumed(runs: Mapping[str, Run]) -> None:
    """What the figures rest on, below them; with the runs' names where they differ in that."""
    lines = list(dict.fromkeys(line for run in runs.values() for line in run.assumed))
    for line in lines:
        whose = [name for name, run in runs.items() if line in run.assumed]
        names = "" if len(whose) == len(runs) else f"{', '.join(whose)}: "
        click.echo(f"note: {names}{line}")


def say_cap(plan: Plan) -> None:
    """The watts that a cap is, at the head of the run."""
    from wattline.model.cap_value import CapInWatts

    fields = plan.scenario.power.model_dump(mode="json", exclude_none=True)
    cap = CapInWatts.of_fields(fields, plan.rules.cap_w, plan.machine.power_w_max)
    if cap is not None:
        click.echo(f"{plan.scenario.name}: {cap.line}")


def cap_json(run: Run) -> dict[str, Any] | None:
    """The same for programs."""
    from wattline.analysis.other_caps import cap_of

    cap = cap_of(run)
    return None if cap is None else cap.to_dict()


def say_caps(runs: Mapping[str, Run]) -> None:
    """Which cap runs without one are measured against, below their table."""
    from wattline.analysis.other_caps import cap_notes

    for line in cap_notes(runs):
        click.echo(f"note: {line}")


def warn_assumed(assumed: Iterable[str]) -> None:
    """What the joules of a run rest on, on standard error: for tables that programs read."""
    for line in assumed:
        click.echo(f"wattline: {line}", err=True)


def cleaning(plan: Plan) -> dict[str, int]:
    """How many jobs each cleaning rule touched."""
    return {rule.name: rule.jobs for rule in plan.trace.cleaning.touched}


def dropped(plan: Plan) -> dict[str, float] | None:
    """How many jobs were left out as larger than the machine, and their share; None for none."""
    return None if plan.dropped is None else asdict(plan.dropped)


def say_of_run(plan: Plan, run: Run, said: set[str], name: str = "") -> None:
    """What only the run could show: jobs that never ran, which makes every other figure look
    better, and on a twin those that were requeued or lost, and what parts with limits drew.

    `said` holds what was said before the run.
    """
    from wattline.analysis.budget import budget_lines
    from wattline.scenario.refusals import not_run

    never = not_run(plan, run)
    known = {*said, *never, *run.assumed, *budget_lines(run)}
    whose = f"{name}: " if name else ""
    found = [f"{whose}{line}" for line in run.remarks if line not in known]
    for line in (*never, *found):
        click.echo(f"wattline: {line}", err=True)


def say_budget(run: Run, name: str = "") -> None:
    """Periods of an energy budget that were not kept, and jobs that had none."""
    from wattline.analysis.budget import budget_lines

    for line in budget_lines(run):
        click.echo(f"wattline: {name + ': ' if name else ''}{line}", err=True)


@contextmanager
def whole_or_gone(folder: Path) -> Iterator[None]:
    """Take a folder that had nothing in it before away again if the work in it is not finished."""
    existed = folder.exists() and any(folder.iterdir())
    try:
        yield
    except BaseException:
        if not existed:
            shutil.rmtree(folder, ignore_errors=True)
        raise
