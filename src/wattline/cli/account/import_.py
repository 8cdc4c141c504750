"""`wattline account import`: enter what a site has measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wattline.cli.account.options import cluster_option, store_option
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.cli.simulating import warn_assumed
from wattline.cli.zone import zone_option

if TYPE_CHECKING:
    from wattline.advice.measured import Imported


_OPTIONS = (
    click.option("--columns", default="", metavar="NAME,...",
                 help="The columns of a sacct text without a header; or what the columns of a "
                      "series are, like time=t_s,node=host,watts=power."),
    click.option("--node", default="", metavar="NAME",
                 help="Of which node a series is, where it does not say it, like n1 or n1/gpu0."),
    click.option("--at", default="", metavar="TIME",
                 help="When a text of `scontrol show node` was taken, which it does not say; or "
                      "when a series began whose times count from 0."),
    click.option("--query", default="", metavar="EXPRESSION",
                 help="Of a Prometheus server: gives one series per node."),
    click.option("--label", default="", metavar="NAME",
                 help="Of a Prometheus server: the label with the node. [default: instance]"),
    click.option("--gpu-label", default="", metavar="NAME",
                 help="Of a Prometheus server: the label with the number of the GPU."),
    click.option("--counter", is_flag=True,
                 help="Of a Prometheus server: values are counters of joules, not watts."),
    click.option("-S", "--starttime", default="", metavar="TIME",
                 help="Of a Prometheus server: from when."),
    click.option("-E", "--endtime", default="", metavar="TIME",
                 help="Of a Prometheus server: until when."),
    click.option("--step", default="", metavar="TIME",
                 help="Of a Prometheus server: time between samples. [default: the server's own of "
                      "a selector, 30s of another expression]"),
)
_RULES = (
    click.option("--idle-w", multiple=True, metavar="W|NODES=W",
                 help="What nodes draw without a job: all, or some, like n[1-4]=120."),
    click.option("--idle-by", metavar="cores|memory|equal",
                 help="How jobs on one node share its idle power."),
    click.option("--fill", metavar="held|interpolated|mean|none", help="What stands for gaps."),
    click.option("--longest-gap", metavar="TIME", help="Longer gaps stay gaps."),
    click.option("--highest-w", metavar="W", help="What is above is a fault of a node's meter."),
    click.option("--counter-range", metavar="J", help="Where counters of joules wrap around."),
)
RULES = ("idle_w", "idle_by", "fill", "longest_gap", "highest_w", "counter_range")


def _with_options(command: Any) -> Any:
    for option in reversed((*_OPTIONS, *_RULES)):
        command = option(command)
    return command


@click.command("import")
@click.argument("sources", metavar="[FILE|URL]...", nargs=-1)
@store_option
@cluster_option
@zone_option
@click.option("--replace", is_flag=True,
              help="Let jobs and samples take the place of those under another zone or cluster.")
@_with_options
@json_option
def command(sources: tuple[str, ...], store: str, as_json: bool, **options: Any) -> None:
    """Enter what FILEs, or Prometheus servers, tell of jobs and joules in a ledger.

    What a file is, is found by its content: sacct as text (-P, -p, with or without a header) or
    JSON, with -D or without; scontrol show node as text or JSON; power of nodes as CSV, Parquet,
    a job of a ClusterCockpit archive, or Slurm's HDF5 profiles. Each file is entered whole or not
    at all, and nothing counts twice: files may overlap, come again, in any order. One whose jobs
    or samples are there already under another --zone or --cluster is refused, or takes their place
    with --replace.

    How power is divided (--idle-w to --counter-range) is kept in the store, and holds for later
    imports; a change computes all its joules anew.
    """
    from wattline.advice.measured import account_import

    rules = {name: options[name] for name in RULES if options[name]}
    with progress("importing", spoken=True) as advance:
        found = account_import(
            sources, store=store, cluster=options["cluster"], zone=options["zone"],
            columns=[name for name in options["columns"].split(",") if name.strip()],
            at=options["at"], node=options["node"], rules=rules, query=options["query"],
            label=options["label"], gpu_label=options["gpu_label"], counter=options["counter"],
            start=options["starttime"], end=options["endtime"], step=options["step"],
            replace=options["replace"], progress=advance)
    if as_json:
        warn_assumed(found.remarks)
        print_json(found.to_dict())
        return
    _print(found)
    warn_assumed(found.remarks)


def _print(found: Imported) -> None:
    """One table: what was imported, what was skipped, what was mended."""
    from wattline.model.units import format_energy

    rows: list[list[object]] = [
        ["imported", "jobs", found.jobs], ["", "lives", found.lives],
        ["", "of them new", found.new], ["", "of them changed", found.changed],
        ["", "of them running", found.running], ["", "rows with joules", found.rows],
        ["", "energy", format_energy(found.energy_j)],
        ["", "coverage", "-" if found.coverage is None else f"{found.coverage:.1%}"],
    ]
    if found.apart:
        rows.append(["", "jobs far from Slurm's own joules", found.apart])
    if found.samples:
        rows += _metered(found)
    for title, counts in (("skipped", found.skipped), ("mended", found.mended)):
        listed = sorted(counts.items()) or [("nothing", 0)]
        rows += [[title if not at else "", reason, number]
                 for at, (reason, number) in enumerate(listed)]
    print_table(["", "what", "how much"],
                [[kind, what, f"{value:,}" if isinstance(value, int) else value]
                 for kind, what, value in rows])


def _metered(found: Imported) -> list[list[object]]:
    """What the meters of the files saw, and of it what nobody held."""
    from wattline.model.units import format_energy

    rows: list[list[object]] = [["metered", "samples", found.samples],
                                ["", "of them new", found.new_samples]]
    for what, energy_j in (("energy in these hours", found.metered_j),
                           (_idle_title(found), found.idle_j),
                           ("of it unattributed", found.unattributed_j)):
        rows.append(["", what, "-" if energy_j is None else format_energy(energy_j)])
    return rows


def _idle_title(found: Imported) -> str:
    from wattline.account.measured.names import some_of

    if found.unknown_jobs:
        return f"of it of nobody, or of unknown job {some_of(found.unknown_jobs)}"
    return "of it idle, held by no job"
