"""Running scenarios for a command: progress, what is said on the way, the run folder."""

from __future__ import annotations

import math
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.output import counted, joules_text, progress
from wattline.model.errors import InputError

if TYPE_CHECKING:
    from wattline.model.run import Run
    from wattline.scenario.build import Plan
    from wattline.traces.trace import RuleCount


def run_plan(plan: Plan, journal: str | None = None) -> Run:
    """Simulate with a progress bar; into a journal it goes event by event."""
    with progress(f"simulating {plan.scenario.name}") as advance:
        if journal is None:
            return plan.run(advance)
        from wattline.scenario.journals import run_with_journal

        return run_with_journal(plan, journal, advance)


def say_beforehand(plan: Plan, said: set[str] | None = None) -> None:
    """What the reader did to the log and what has no effect, on standard error.

    `said` holds what was said of other scenarios already, which is not said again.
    """
    from wattline.scenario.remarks import remarks

    said = set() if said is None else said
    rules = [_rule_text(plan.trace.source, rule) for rule in plan.trace.cleaning.touched]
    for line in (*rules, *remarks(plan)):
        if line not in said:
            click.echo(f"wattline: {line}", err=True)
        said.add(line)


def _rule_text(source: str, rule: RuleCount) -> str:
    lost = f" Joules left out: {joules_text(rule.energy_j)}." if rule.lacks_joules else ""
    return f"{source}: {counted(rule.jobs, 'job')}: {rule.statement}{lost}"


def say_assumed(runs: Mapping[str, Run]) -> None:
    """What the figures rest on, below them; with the runs' names where they differ in that."""
    lines = list(dict.fromkeys(line for run in runs.values() for line in run.assumed))
    for line in lines:
        whose = [name for name, run in runs.items() if line in run.assumed]
        names = "" if len(whose) == len(runs) else f"{', '.join(whose)}: "
        click.echo(f"note: {names}{line}")


def warn_assumed(assumed: Iterable[str]) -> None:
    """What the joules of a run rest on, on standard error: for tables that programs read."""
    for line in assumed:
        click.echo(f"wattline: {line}", err=True)


def cleaning(plan: Plan) -> dict[str, int]:
    """How many jobs each cleaning rule touched."""
    return {rule.name: rule.jobs for rule in plan.trace.cleaning.touched}


def dropped(plan: Plan) -> dict[str, float] | None:
    """How many jobs were left out as larger than the machine, and their share; None for none."""
    from dataclasses import asdict

    return None if plan.dropped is None else asdict(plan.dropped)


def say_not_run(plan: Plan, run: Run) -> None:
    """Jobs that never ran make every other figure look better: say so."""
    from wattline.scenario.refusals import refusals

    refused = refusals(plan, run)
    if refused:
        click.echo(f"wattline: {refused}; the figures are of the others", err=True)
    missing = int((~run.ran & ~run.refused).sum())
    if missing:
        click.echo(
            f"wattline: {missing:,} of {len(run.jobs):,} jobs never ran (the policy, or a cap "
            "that no moment satisfies, never let them); the figures are of the others",
            err=True,
        )


def say_budget(run: Run, name: str = "") -> None:
    """Periods of an energy budget that were not kept, and jobs that had none."""
    from wattline.analysis.budget import budget_lines

    for line in budget_lines(run):
        click.echo(f"wattline: {name + ': ' if name else ''}{line}", err=True)


def run_folder(name: str, out: str | None) -> Path:
    """Where a run is written: as asked, or the next free number under runs/.

    A place that cannot be written is found out here, before any work is done.
    """
    try:
        if out is not None:
            folder = Path(out)
        else:
            number = 1
            while (folder := Path("runs") / f"{file_stem(name)}-{number:03d}").exists():
                number += 1
        there = folder.absolute()
        while not there.exists():
            there = there.parent
    except OSError as error:  # a name that is too long
        raise InputError(f"cannot write to {out}: {error.strerror}") from None
    if not there.is_dir():
        raise InputError(f"cannot write to {folder}: {there} is a file, not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"cannot write to {folder}: no permission to write in {there}")
    return folder


@contextmanager
def whole_or_gone(folder: Path) -> Iterator[None]:
    """Take a folder that was not there before away again if the work in it is not finished."""
    existed = folder.exists()
    try:
        yield
    except BaseException:
        if not existed:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def file_stem(name: str) -> str:
    """A name made fit for a file, and short enough for one."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-")[:100] or "run"


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{share:.1%}"  # NaN where nothing ran


def summary_rows(figures: dict[str, Any], run: Run) -> list[tuple[str, str]]:
    """The metrics that people look at first, in words and units."""
    from wattline.analysis.summary import energy_text, number_text, power_text, time_text

    wait, slowdown = figures["wait_s"], figures["bounded_slowdown"]
    above = time_text(run.time_above_cap_s)
    name = "time above watched cap" if run.watched else "time above cap"
    return [
        ("mean wait", time_text(wait["mean"])),
        ("wait, 95 % of jobs below", time_text(wait["p95"])),
        ("mean turnaround", time_text(figures["turnaround_s"]["mean"])),
        ("mean bounded slowdown", number_text(slowdown["mean"])),
        ("utilisation", _percent(figures["utilisation"])),
        ("makespan", time_text(figures["makespan_s"])),
        ("energy", energy_text(figures["energy_j"])),
        ("mean power", power_text(figures["power_w"]["mean"])),
        ("peak power", power_text(figures["power_w"]["peak"])),
        *([(name, above)] if run.cap_w is not None else []),
    ]
