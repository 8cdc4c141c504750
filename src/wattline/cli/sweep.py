"""`wattline sweep`: a scenario at every point of its axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.needs import absent, among, given, option
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.model.errors import WattlineError
from wattline.model.units import counted

if TYPE_CHECKING:
    from wattline.sweeps.results import SweepResult

MOST_ROWS = 20
"""So many settings of a front are printed."""
MOST_ERRORS = 5
SEARCH = given("optimise")
POINTWISE = absent("optimise", why="it runs in one process on this machine, as each point follows "
                                   "from those before it")


@click.command()
@click.argument("sweep")
@click.option("-o", "--out", help="Folder for table and report; default: the next under runs/.")
@option("--on", default="local", metavar="PLACE", show_default=True,
        help="Where: local, slurm, or dask://HOST:PORT.", needs=POINTWISE)
@option("--workers", type=click.IntRange(1, 10_000), metavar="N",
        help="Processes, or tasks of a Slurm array; default: the processors here.",
        needs=POINTWISE)
@option("--time", "time_limit", metavar="LIMIT",
        help="With --on slurm: the time limit of a task, like 2h; default: the partition's "
             "own.", needs=(POINTWISE, among("on", "slurm")))
@click.option("--resume", is_flag=True, help="Go on with an interrupted sweep in its folder.")
@click.option("--no-cache", is_flag=True, help="Compute points again that are known.")
@click.option("--no-report", is_flag=True, help="No HTML report.")
@click.option("--optimise", multiple=True, metavar="EXPRESSION",
              help="Search instead of trying all: make this small, like "
                   "'energy_j + 0.1*wait_s'. Several: their Pareto front.")
@option("--subject-to", multiple=True, metavar="CONSTRAINT",
        help="With --optimise: like 'wait_s.p95 <= 1h'; without a unit in seconds, watts, "
             "joules.", needs=SEARCH)
@option("--trials", type=click.IntRange(1, 1_000_000), metavar="N", default=100,
        show_default=True, help="With --optimise: points to try.", needs=SEARCH)
@option("--prune", is_flag=True,
        help="With --optimise: give settings up that do badly in the first months.", needs=SEARCH)
@option("--seed", type=click.IntRange(0), default=1, show_default=True,
        help="With --optimise: of the search.", needs=SEARCH)
@click.option("--allow-code", is_flag=True, help="Run policies whose code the scenario names.")
@json_option
def command(
    sweep: str, out: str | None, on: str, workers: int | None, time_limit: str | None,
    resume: bool, no_cache: bool, no_report: bool, optimise: tuple[str, ...],
    subject_to: tuple[str, ...], trials: int, prune: bool, seed: int, allow_code: bool,
    as_json: bool,
) -> None:
    """Simulate a scenario at every point of its axes.

    SWEEP is a TOML file with a scenario (`scenario = "file.toml"`, or a table) and `[axes]`:
    fields with lists of values, or ranges. Results are one table (results.parquet) and a report
    with the Pareto front and the main effects.
    """
    from wattline.sweeps.api import run_sweep

    common: dict[str, Any] = {
        "on": on, "workers": workers, "time_limit": time_limit, "resume": resume,
        "cache": not no_cache, "report": not no_report, "allow_code": allow_code}
    with _counting("simulating") as tell:
        if optimise:
            from wattline.sweeps.optimise import optimise_sweep

            found = optimise_sweep(
                sweep, out, list(optimise), subject_to=list(subject_to), trials=trials,
                prune=prune, seed=seed, resume=resume, cache=not no_cache, report=not no_report,
                allow_code=allow_code, progress=tell)
        else:
            found = run_sweep(sweep, out, **common, progress=tell, say=_say)
    if as_json:
        print_json(found.to_dict())
    _check_any(found)
    if not as_json:
        _print(found, list(optimise))


def _say(line: str) -> None:
    click.echo(f"wattline: {line}", err=True)


def _check_any(found: SweepResult) -> None:
    """A sweep of which nothing came is a failure."""
    counts = found.counts
    if counts.failed == counts.points:
        first = next(row["error"] for row in found.rows if "error" in row)
        which = "the one point" if counts.points == 1 else f"all {counts.points:,} points"
        raise WattlineError(f"{which} failed: {first}")


def _print(found: SweepResult, objectives: list[str]) -> None:
    from wattline.sweeps.results import OBJECTIVES
    from wattline.sweeps.table import shown
    from wattline.sweeps.wording import mean_text

    goals = objectives or list(OBJECTIVES)
    front = found.front(goals)
    if front:
        equal = any(len(alike) > 1 for alike in front)
        print_table(
            [*found.axes, "runs", *goals, *(["equal to it"] if equal else [])],
            [[*(shown(each.values[axis]) for axis in found.axes), each.runs,
              *(mean_text(goal, each) for goal in goals),
              *([_others(len(others))] if equal else [])]
             for each, *others in front[:MOST_ROWS]],
            "Settings that no other beats:" if len(goals) > 1 else "The best:")
        if len(front) > MOST_ROWS:
            click.echo(f"and {len(front) - MOST_ROWS:,} more, which the table has")
    counts = found.counts
    click.echo(f"{counted(counts.points, 'point')}: {counts}, in "
               f"{found.seconds:.3g} s, {found.seconds_in_all:.3g} s with table and report")
    _print_errors(row["error"] for row in found.rows if "error" in row)
    for line in found.sentences:
        _say(line)
    if found.folder is not None:
        click.echo(f"table: {found.folder / 'results.parquet'}")
    if found.page is not None:
        click.echo(f"report: {found.page}")


def _print_errors(errors: Iterable[str]) -> None:
    """Each once, those of most points first."""
    kinds = Counter(errors).most_common()
    for error, points in kinds[:MOST_ERRORS]:
        which = "a point" if points == 1 else f"{points:,} points"
        click.echo(f"wattline: {which} failed: {error}", err=True)
    if len(kinds) > MOST_ERRORS:
        click.echo(f"wattline: and {counted(len(kinds) - MOST_ERRORS, 'other error')}, which the "
                   "table has", err=True)


def _others(count: int) -> str:
    return counted(count, "other") if count else ""


@contextmanager
def _counting(title: str) -> Iterator[Callable[[int, int], None]]:
    with progress(title, remaining=True) as advance:
        yield lambda done, of: advance(done / of if of else 1.0)
