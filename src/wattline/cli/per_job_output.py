"""`wattline compare --per-job`: who was hurt and who gained, as tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wattline.cli.output import print_table
from wattline.model.errors import InputError
from wattline.model.units import counted

if TYPE_CHECKING:
    from wattline.advice.per_job import Changed, Group, PerJob
    from wattline.analysis.report_tables import Chapter
    from wattline.model.run import Run

MOST_GROUPS = 10
"""Users that are printed: those who are hurt most in the mean; --json has all."""
LEAST_S = 1e-6
"""Less than this is what subtracting times leaves over."""
HEADERS = ("jobs", "hurt", "gained", "same", "never ran", "killed", "later, mean", "median",
           "95 % below", "energy ratio")


def check_per_job(per_job: bool, plot: str | None, runs: int) -> None:
    if plot is not None:
        from wattline.model.pictures import check_picture

        check_picture(Path(plot))
        if not per_job or runs != 2:
            raise InputError("--plot goes with --per-job and two runs")
    if per_job and runs < 2:
        raise InputError("--per-job compares two runs: name two scenarios or run folders, or "
                         "--vary a field")


def compare_per_job(runs: Mapping[str, Run], plot: str | None) -> list[PerJob]:
    """Every run beside the first."""
    from wattline.advice.per_job import compare_jobs

    (name, first), *others = runs.items()
    found = [compare_jobs(first, other, (name, its_name)) for its_name, other in others]
    if plot is not None:
        found[0].plot(plot)
    return found


def chapters(found: Sequence[PerJob]) -> list[Chapter]:
    """What the report says of it."""
    from wattline.advice.per_job_report import per_job_chapter

    return [per_job_chapter(each) for each in found]


def print_per_job(found: PerJob) -> None:
    click.echo()
    total, users = found.total, found.groups["user"]
    click.echo(f"{found.second} beside {found.first}, job by job: {counted(total.jobs, 'job')}, "
               f"{total.hurt:,} hurt, {total.gained:,} gained (done more than a second later, or "
               "earlier)")
    for count, run in ((total.killed, found.second), (total.spared, found.first)):
        if count:
            click.echo(f"killed or failed in {run} only, and so neither hurt nor gained: "
                       f"{counted(count, 'job')}")
    _print("", (total,))
    if len(users) <= MOST_GROUPS:
        _print("user", users)
    else:
        most = tuple(sorted(users, key=_hurt_most)[:MOST_GROUPS])
        _print(f"user ({MOST_GROUPS} hurt most of {len(users):,})", most)
    _print(found.unit, found.groups["size"])
    _print("hour of submission", found.groups["hour"])
    for title, jobs in (("hurt most", found.most_hurt), ("gained most", found.most_gained)):
        if jobs:
            click.echo()
            print_table((title, "user", found.unit, "done later", "waits longer", "runs longer"),
                        [_job_row(job) for job in jobs])
    for note in found.notes:
        click.echo(f"note: {note}")


def _print(title: str, groups: tuple[Group, ...]) -> None:
    if title:
        click.echo()
    print_table((title, *HEADERS), [_row(group) for group in groups])


def _row(group: Group) -> tuple[object, ...]:
    from wattline.analysis.summary import ratio_text

    return (group.name, group.jobs, group.hurt, group.gained, group.same,
            _second_only(group.lost, group.won), _second_only(group.killed, group.spared),
            later_text(group.later_s_mean), later_text(group.later_s_p50),
            later_text(group.later_s_p95), ratio_text(group.energy_ratio))


def _second_only(second: int, first: int) -> str:
    """How many jobs in the second run only, and in the first only where there are any."""
    return f"{second:,}" + (f" (first: {first:,})" if first else "")


def _job_row(job: Changed) -> tuple[object, ...]:
    number = str(job.job_id) + (f" (life {job.restart})" if job.restart else "")
    return (f"job {number}", job.user, job.nodes, later_text(job.later_s),
            later_text(job.wait_more_s), later_text(job.run_more_s))


def later_text(time_s: float) -> str:
    """`+5 min`, `-2 h`."""
    from wattline.analysis.summary import time_text

    if math.isnan(time_s):  # nobody ran in both
        return "-"
    if abs(time_s) < LEAST_S:
        time_s = 0.0
    return ("-" if time_s < 0 else "+") + time_text(abs(time_s))


def _hurt_most(group: Group) -> tuple[bool, float, str]:
    unknown = math.isnan(group.later_s_mean)
    return unknown, 0.0 if unknown else -group.later_s_mean, group.name
