"""`wattline account show`: who used which joules, printed like `sacct`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.analysis.folders import run_folder as folder_to_write
from wattline.cli.account.measured import show_measured
from wattline.cli.account.options import clusters_option
from wattline.cli.choices import Choice
from wattline.cli.finite import FINITE
from wattline.cli.needs import among, given, option
from wattline.cli.output import (
    json_option,
    print_json,
    print_table,
    progress,
)
from wattline.cli.rate_options import price_option
from wattline.cli.simulating import warn_assumed
from wattline.cli.zone import zone_option
from wattline.model.errors import InputError

if TYPE_CHECKING:
    from wattline.advice.account import RunAccount

CLASSES = among("by", "class", "node_class")
BY = ("user", "account", "partition", "application", "class", "node_class", "node")


@click.command("show")
@click.argument("run_folder", metavar="[RUN]", type=click.Path(path_type=Path), required=False)
@click.option("--store", default="", metavar="URL|FILE",
              help="SQL store that keeps the ledger; without it a RUN is only printed.")
@option("--run-name", default="", help="Which run of the store; the last one otherwise.",
        needs=given("store"))
@click.option("-o", "--format", "fields", default="", metavar="FIELD[%WIDTH],...",
              help="Fields by their sacct names; --helpformat lists them.")
@click.option("-P", "--parsable2", is_flag=True, help="Separate by |.")
@click.option("-p", "--parsable", is_flag=True, help="Separate by |, one at the end too.")
@click.option("-n", "--noheader", is_flag=True, help="No header lines.")
@click.option("-e", "--helpformat", is_flag=True, help="List the fields that -o knows.")
@click.option("-j", "--jobs", default="", metavar="ID,...", help="Only these jobs.")
@click.option("-u", "--user", "users", default="", metavar="NAME,...", help="Only these users.")
@click.option("-A", "--accounts", default="", metavar="NAME,...", help="Only these accounts.")
@click.option("-S", "--starttime", default="", metavar="TIME",
              help="Only jobs that ended after this time of the run's clock; of measured jobs a "
                   "date, before which no joules count.")
@click.option("-E", "--endtime", default="", metavar="TIME",
              help="Only jobs that were submitted before it; of measured jobs a date, after "
                   "which no joules count.")
@clusters_option
@zone_option
@click.option("-X", "--allocations", is_flag=True, help="Jobs without their steps.")
@click.option("--by", type=Choice(BY), help="Totals instead of jobs.")
@option("--class", "classes", multiple=True, metavar="PARTITION=CLASS",
        help="Of --by class: the class of nodes of a partition, where nobody told it.",
        needs=CLASSES)
@option("--views", type=click.Path(path_type=Path), metavar="FILE",
        help="Of --by class: a file of views that has the class of each node (node_class).",
        needs=CLASSES)
@price_option
@click.option("--price-start", default="", metavar="DATE",
              help="Date in the table of prices at which the first job is submitted; by the dates "
                   "of the log otherwise, and its first where these have none in common.")
@click.option("--epoch", type=FINITE, metavar="SECONDS",
              help="Unix time at which the run's clock stands at 0; as the log says otherwise, 0 "
                   "where it does not.")
@option("--replace", is_flag=True,
        help="Delete another run of the same name from the store first.",
        needs=(given("run_folder"), given("store")))
@click.option("--profile", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Write the power profiles of the jobs as Slurm's HDF5 files.")
@option("--profile-interval", type=FINITE, default=30.0, show_default=True, metavar="SECONDS",
        help="With --profile: time between two samples.", needs=given("profile"))
@json_option
def command(run_folder: Path | None, store: str, as_json: bool, **options: Any) -> None:
    """Print jobs with the joules that they used: of RUN, or of the store, measured or simulated.

    Without RUN or --run-name, the measured jobs of the store are meant where it has some (imported
    by `wattline account import`), else the last run that was entered.

    With RUN and --store the run is entered in the ledger first, under the name of its folder. A run
    that is there already, under whatever name, is not entered again. With --price the joules of
    each job are charged at the price of the time at which it used them.
    """
    from wattline.account import sacct

    if options["helpformat"]:
        click.echo("\n".join(sacct.FIELDS))
        return
    priced = options["price"] is not None
    fields = sacct.parse_format(
        options["fields"] or sacct.DEFAULT_FORMAT + (",Cost" if priced else ""))
    if not priced and any(field.name == "Cost" for field in fields):
        raise InputError("-o: the field Cost needs a price: --price 0.12EUR, or a table")
    if options["by"]:
        _tell_unused(options)
    named = run_folder is not None or bool(options["run_name"]) or not store
    measured, note = (False, "") if named else _is_measured(store)
    if measured:
        show_measured(store, fields, as_json, options, {
            "jobs": names(options["jobs"], "-j"), "users": names(options["users"], "-u"),
            "accounts": names(options["accounts"], "-A"),
            "clusters": names(options["clusters"], "-M")})
        warn_assumed(filter(None, [note]))
        return
    options["by"] = _by_of_run(options)
    chosen = _conditions(options)
    if options["profile"] is not None:
        folder_to_write("profile", str(options["profile"]))
    from wattline.advice.account import account_run

    with progress("accounting", spoken=True) as advance:
        found = account_run(
            run_folder, store=store, run_name=options["run_name"], **chosen, by=options["by"],
            price=options["price"], price_start=options["price_start"], epoch_s=options["epoch"],
            zone=options["zone"],
            replace_run=options["replace"], with_steps=not options["allocations"],
            profile=options["profile"], profile_interval_s=options["profile_interval"],
            progress=advance)
    warn_assumed(filter(None, [*found.remarks, note]))
    if as_json:
        print_json(found.to_dict())
    elif options["by"]:
        _print_totals(found)
    else:
        _print_jobs(found, fields, options)


def _print_jobs(found: RunAccount, fields: Any, options: dict[str, Any]) -> None:
    from wattline.account import sacct

    lines, epoch_s = [], found.run["epoch_s"]
    for job in found.jobs:
        lines.append(sacct.Line(job, epoch_s))
        lines += [sacct.Line(job, epoch_s, step) for step in found.steps.get(sacct.life(job), ())]
    for line in sacct.text_lines(lines, fields,
                                 parsable=options["parsable2"] or options["parsable"],
                                 trailing=options["parsable"] and not options["parsable2"],
                                 header=not options["noheader"]):
        click.echo(line)
    if found.cost is not None:
        # Programs read the columns of -P and -p: there the total stands beside, not below.
        said = f"cost in all: {found.cost:.4f} {found.currency or 'in units of the prices'}"
        click.echo(said, err=options["parsable2"] or options["parsable"] or options["noheader"])


def _is_measured(store: str) -> tuple[bool, str]:
    """Whether the measured jobs of a store are meant; where it has both, what to say.

    Without the word `show` it is the last run, as before there were measured jobs.
    """
    from wattline.advice.measured import kept_in

    kept = kept_in(store)
    if kept != {"measured", "runs"}:
        return kept == {"measured"}, ""
    bare = bool(click.get_current_context().meta.get("bare"))
    which = ("the last run, `wattline account show` is of the measured jobs" if bare else
             "of the measured jobs, --run-name NAME is of a run")
    return not bare, f"the store has simulated runs and measured jobs; this is {which}"


def _by_of_run(options: dict[str, Any]) -> str | None:
    """A run knows no nodes by name, and no clusters."""
    if options["clusters"]:
        raise InputError("-M goes with measured jobs, and this is a simulated run")
    if options["zone"] and options["price"] is None:
        raise InputError("--zone goes with measured jobs, or with --price of a simulated run")
    if options["classes"]:
        raise InputError("--class goes with measured jobs; a run knows the classes of its nodes")
    if options["views"] is not None:
        raise InputError("--views goes with measured jobs; a run knows the classes of its nodes")
    if options["by"] == "node":
        raise InputError("--by node goes with measured jobs; of a run, --by is user, account, "
                         "partition, application or class")
    return "node_class" if options["by"] == "class" else options["by"]


def _conditions(options: dict[str, Any]) -> dict[str, Any]:
    return {"jobs": [_job_number(part) for part in names(options["jobs"], "-j")],
            "users": names(options["users"], "-u"),
            "accounts": names(options["accounts"], "-A"),
            "start": options["starttime"], "end": options["endtime"]}


def names(text: str, option: str) -> list[str]:
    """The parts of a list; one that names nothing would choose everything."""
    found = [part.strip() for part in text.split(",") if part.strip()]
    if text and not found:
        raise InputError(f"{option}: '{text}' names nothing; write a list like 12,15 or ann,bob")
    return found


def _job_number(text: str) -> int:
    from wattline.model.units import whole_number

    array, underscore, _ = text.partition("_")
    if underscore and array.isdecimal():
        raise InputError(f"-j: '{text}' is a task of an array; here each task is a job of its own: "
                         "give the number that the column JobID shows for it")
    try:
        number = whole_number(text)
        if number >= 2**63:
            raise ValueError
        return number
    except ValueError:
        raise InputError(f"-j: '{text}' is not a job number; write a list like 12,15") from None


def _tell_unused(options: dict[str, Any]) -> None:
    """Totals have their own columns: say so to whoever asks for others."""
    flags = {"fields": "-o", "parsable2": "-P", "parsable": "-p", "noheader": "-n"}
    unused = [flag for name, flag in flags.items() if options[name]]
    if unused:
        click.echo(f"wattline: {', '.join(unused)} has no effect on totals (--by)", err=True)


def _print_totals(found: RunAccount) -> None:
    from wattline.model.units import format_energy
    from wattline.traces.tariffs import NO_CURRENCY

    everything = sum(total["energy_j"] for total in found.totals) or 1.0
    headers = [found.by, "jobs", "node hours", "energy", "share"]
    rows: list[list[object]] = [
        [t["name"], t["jobs"], t["node_s"] / 3600.0, format_energy(t["energy_j"]),
         f"{100 * t['energy_j'] / everything:.1f} %"] for t in found.totals]
    if found.cost is not None:
        headers.append(f"cost {found.currency or NO_CURRENCY}")
        rows = [[*row, total["cost"]] for row, total in zip(rows, found.totals, strict=True)]
    print_table(headers, rows)
