"""Two runs job by job as a part of the report that compares them."""

from __future__ import annotations

from collections.abc import Sequence

from wattline.advice.per_job import Changed, Group, PerJob
from wattline.analysis.report_tables import Cell, Chapter, Table, column, count_cell, table_of
from wattline.analysis.summary import PLAIN, TIME

MOST_GROUPS = 50
"""Users in a table of the report: those who are hurt most; `--json` has all."""

COUNTS = {"jobs": "Jobs", "hurt": "Hurt", "gained": "Gained", "same": "Same", "lost": "Never ran",
          "won": "Never ran (first)", "killed": "Killed", "spared": "Killed (first)"}
"""What is counted of a group, as the command names it."""


def per_job_chapter(found: PerJob) -> Chapter:
    """Who was hurt and who gained, in words, tables and a picture."""
    from wattline.advice.per_job_plot import per_job_figure

    total = found.total
    return Chapter(
        title=f"{found.second} beside {found.first}, job by job",
        sentences=(
            f"Of {total.jobs:,} jobs {total.hurt:,} are hurt, done more than a second later, and "
            f"{total.gained:,} gain; {total.lost:,} ran in the first run only, {total.won:,} in "
            "the second only.",
            f"Killed or failed in the second run only: {total.killed:,}; in the first only: "
            f"{total.spared:,}. These are neither hurt nor gained.",
            "In the tables Never ran and Killed count jobs of which that is so in the second run "
            "only; with (first), in the first only.",
            *(f"{note[0].upper()}{note[1:]}." for note in found.notes)),
        tables=tuple(_tables(found)),
        picture_title="Who was hurt, and who gained",
        caption="Above: all jobs by how much later they are done. Below: the shares of jobs that "
                "are hurt (up) or gain (down), by size and by hour of submission; grey: killed "
                "in the second run only (up), in the first only (down).",
        draw=lambda narrow: per_job_figure(found, narrow),
    )


def _tables(found: PerJob) -> list[Table]:
    users = sorted(found.groups["user"], key=lambda each: (
        -each.hurt - each.lost - each.killed, each.name))
    more = f", the {MOST_GROUPS} hurt most of {len(users):,}" if len(users) > MOST_GROUPS else ""
    tables = [_group_table(f"By user{more}", "User", users[:MOST_GROUPS]),
              _group_table("By size", found.unit.capitalize(), found.groups["size"]),
              _group_table("By hour of submission", "Hour", found.groups["hour"])]
    return tables + [_job_table(title, found.unit, jobs) for title, jobs in (
        ("Hurt most", found.most_hurt), ("Gained most", found.most_gained)) if jobs]


def _group_table(title: str, head: str, groups: Sequence[Group]) -> Table:
    return table_of(title, [
        # Sizes and hours are sorted by their place: as texts 1,024 would come before 2.
        (head, [Cell(group.name, None if head == "User" else place)
                for place, group in enumerate(groups)]),
        *((title, [count_cell(getattr(group, name)) for group in groups])
          for name, title in COUNTS.items()),
        column("Later, mean", TIME, [group.later_s_mean for group in groups]),
        column("Median", TIME, [group.later_s_p50 for group in groups]),
        column("95 % below", TIME, [group.later_s_p95 for group in groups]),
        column("Energy ratio", PLAIN, [group.energy_ratio for group in groups]),
    ])


def _job_table(title: str, unit: str, jobs: Sequence[Changed]) -> Table:
    return table_of(title, [
        ("Job", [Cell(f"{job.job_id}" + (f" (life {job.restart})" if job.restart else ""),
                      job.job_id) for job in jobs]),
        ("User", [Cell(job.user) for job in jobs]),
        (unit.capitalize(), [count_cell(job.nodes) for job in jobs]),
        column("Done later", TIME, [job.later_s for job in jobs]),
        column("Waits longer", TIME, [job.wait_more_s for job in jobs]),
        column("Runs longer", TIME, [job.run_more_s for job in jobs]),
    ])
