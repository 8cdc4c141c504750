"""How `wattline account show` prints measured jobs and their totals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wattline.cli.claims import class_pairs
from wattline.cli.output import print_json, print_table
from wattline.cli.simulating import warn_assumed
from wattline.model.errors import InputError

if TYPE_CHECKING:
    from wattline.account.sacct import Field
    from wattline.advice.measured import MeasuredAccount

OF_RUNS = {"price": "--price", "price_start": "--price-start", "epoch": "--epoch",
           "replace": "--replace", "profile": "--profile"}


def show_measured(
    store: str, fields: list[Field], as_json: bool, options: dict[str, Any],
    chosen: dict[str, list[str]],
) -> None:
    """Print the measured jobs of a store that all conditions choose."""
    from wattline.advice.measured import account_show

    unfit = [option for name, option in OF_RUNS.items() if options[name]]
    if unfit:
        raise InputError(f"{', '.join(unfit)}: of simulated runs alone; measured jobs are charged "
                         "by `wattline account bill`")
    by = {"node_class": "class"}.get(options["by"] or "", options["by"] or "")
    found = account_show(store, by=by, start=options["starttime"], end=options["endtime"],
                         zone=options["zone"], classes=class_pairs(options["classes"]),
                         views=options["views"], **chosen)
    if as_json:
        print_json(found.to_dict())
    elif by:
        _print_totals(found)
    else:
        _print_jobs(found, fields, options)
    warn_assumed(found.remarks)


def _print_totals(found: MeasuredAccount) -> None:
    from wattline.model.units import format_energy

    everything = found.total_j or 1.0
    print_table(
        [found.by, "jobs", "node hours", "energy", "share", "coverage"],
        [[row["key"] or "(none)", row["jobs"], row["node_s"] / 3600.0,
          format_energy(row["energy_j"]), f"{row['energy_j'] / everything:.1%}",
          "-" if row["coverage"] is None else f"{row['coverage']:.1%}"] for row in found.rows])
    click.echo(f"total {format_energy(found.total_j)} of {found.jobs:,} jobs, coverage "
               + ("-" if found.coverage is None else f"{found.coverage:.1%}"))


def _print_jobs(
    found: MeasuredAccount, fields: list[Field], options: dict[str, Any]
) -> None:
    from wattline.account import sacct

    zone = found.period.zone.info if options["zone"] else None
    if zone is not None:
        fields = [sacct.Field(field.name, max(field.width, sacct.WIDTH_WITH_ZONE), field.left)
                  if field.name in sacct.TIMES else field for field in fields]
    elif any(field.name in sacct.TIMES for field in fields):
        warn_assumed(["times are printed in UTC; --zone NAME prints them in a zone"])
    lines = []
    for life in found.rows:
        job = as_job(life)
        lines.append(sacct.Line(job, 0.0, zone=zone))
        if not options["allocations"]:
            lines += [sacct.Line(_around(step, job), 0.0, {**step, "step_id": step["step"]}, zone)
                      for step in life["steps"]]
    for line in sacct.text_lines(lines, fields,
                                 parsable=options["parsable2"] or options["parsable"],
                                 trailing=options["parsable"] and not options["parsable2"],
                                 header=not options["noheader"]):
        click.echo(line)


def as_job(life: dict[str, Any]) -> dict[str, Any]:
    """A life in the words of the ledger of runs, which sacct's fields are made from."""
    until = next(life[name] for name in ("end_s", "seen_s", "start_s") if life[name] is not None)
    return {**life, "job_id": life["label"], "runs": life["end_s"] is None, "end_s": until}


def _around(step: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    """What of a job is its step's too; cores and commands of steps are not in the ledger."""
    from wattline.site.slurm_energy import hosts_of

    own = step["node_list"]
    nodes = {"node_list": own, "nodes": len(hosts_of(own))} if own else {}
    name = "" if step["step"].isdecimal() else step["step"]
    return {**job, **nodes, "cores": None, "alloc_tres": "", "application": name}
