"""`wattline account`: who used which joules, printed like `sacct`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.analysis.folders import run_folder as folder_to_write
from wattline.cli.choices import Choice
from wattline.cli.output import (
    counted,
    json_option,
    print_json,
    print_table,
    progress,
)
from wattline.cli.rate_options import price_option
from wattline.cli.simulating import warn_assumed
from wattline.model.errors import InputError
from wattline.model.units import joules_text

if TYPE_CHECKING:
    from wattline.account.ledger import Chosen, Entered, Ledger
    from wattline.model.run import Run
    from wattline.model.signal import Signal

BY = ("user", "account", "partition", "application", "node_class")


@click.command("account")
@click.argument("run_folder", metavar="[RUN]", type=click.Path(path_type=Path), required=False)
@click.option("--store", default="", metavar="URL|FILE",
              help="SQL store that keeps the ledger; without it a RUN is only printed.")
@click.option("--run-name", default="", help="Which run of the store; the last one otherwise.")
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
              help="Only jobs that ended after this time of the run's clock.")
@click.option("-E", "--endtime", default="", metavar="TIME",
              help="Only jobs that were submitted before it.")
@click.option("-X", "--allocations", is_flag=True, help="Jobs without their steps.")
@click.option("--by", type=Choice(BY), help="Totals instead of jobs.")
@price_option
@click.option("--price-start", default="", metavar="DATE",
              help="Date in the table of prices at which the run's clock stands at 0; its first "
                   "otherwise.")
@click.option("--epoch", type=float, metavar="SECONDS",
              help="Unix time at which the run's clock stands at 0; 0 otherwise.")
@click.option("--replace", is_flag=True,
              help="Delete another run of the same name from the store first.")
@click.option("--profile", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Write the power profiles of the jobs as Slurm's HDF5 files.")
@click.option("--profile-interval", type=float, default=30.0, show_default=True, metavar="SECONDS")
@json_option
def command(run_folder: Path | None, store: str, as_json: bool, **options: Any) -> None:
    """Print the jobs of RUN, or of a run in the store, with the joules that they used.

    With RUN and --store the run is entered in the ledger first, under the name of its folder. A run
    that is there already, under whatever name, is not entered again. With --price the joules of
    each job are charged at the price of the time at which it used them.
    """
    from wattline.account import sacct

    if options["helpformat"]:
        click.echo("\n".join(sacct.FIELDS))
        return
    price = _price(options)
    fields = sacct.parse_format(
        options["fields"] or sacct.DEFAULT_FORMAT + (",Cost" if price is not None else ""))
    if price is None and any(field.name == "Cost" for field in fields):
        raise InputError("-o: the field Cost needs a price: --price 0.12EUR, or a table")
    if run_folder is None and not store:
        raise InputError("name a run folder, or a store with --store")
    chosen = _conditions(options)
    if options["by"]:
        _tell_unused(options)
    if options["profile"] is not None:
        folder_to_write("profile", str(options["profile"]))
    from wattline.account.store import Store, refuse_missing
    from wattline.analysis import rundir

    # Whatever is not there is found out before the store is opened, which would make its file.
    entered = rundir.read(run_folder) if run_folder is not None else None
    if entered is None:
        refuse_missing(store)
    with Store(store or "sqlite://") as opened:
        from wattline.account.ledger import Ledger

        ledger = Ledger(opened)
        name, said = options["run_name"], dict[str, Any]()
        if run_folder is not None and entered is not None:
            name = name or run_folder.resolve().name
            digest = rundir.identity(run_folder)
            entry = _enter(ledger, entered, (name, digest), chosen, options)
            name, said = entry.name, {"already_entered": entry.already}
        run = ledger.run_of(name)
        _tell_left_out(run)
        warn_assumed(run["assumed"])
        jobs = ledger.jobs_of(run["id"], chosen) if price is not None or not options["by"] else []
        if price is not None:
            said |= _charge(ledger, run, jobs, price, options)
        if options["by"]:
            _print_totals(ledger, run, options["by"], chosen, jobs, said, as_json)
            return
        steps = {} if options["allocations"] else ledger.steps_of(run["id"])
        if as_json:
            print_json({"run": run["name"], **said, "left_out": run["left_out"],
                        "assumed": run["assumed"],
                        **sacct.json_jobs(jobs, steps, run["epoch_s"])})
            return
        lines = []
        for job in jobs:
            lines.append(sacct.Line(job, run["epoch_s"]))
            lines += [sacct.Line(job, run["epoch_s"], step)
                      for step in steps.get(sacct.life(job), ())]
        parsable = options["parsable2"] or options["parsable"]
        for line in sacct.text_lines(lines, fields, parsable=parsable,
                                     trailing=options["parsable"] and not options["parsable2"],
                                     header=not options["noheader"]):
            click.echo(line)


def _enter(
    ledger: Ledger, run: Run, known_by: tuple[str, str], chosen: Chosen, options: dict[str, Any]
) -> Entered:
    """Enter a run by its name and digest, and write its profiles."""
    from wattline.account.from_run import left_out, records_of

    records = list(records_of(run))
    name, digest = known_by
    epoch_s = options["epoch"] or 0.0
    entered = ledger.add(name, records, machine=run.machine.name, energy_j=run.energy_j,
                         epoch_s=epoch_s, digest=digest, replace=options["replace"],
                         left_out=left_out(run), assumed=run.assumed)
    if entered.already and options["epoch"] is not None:
        ledger.set_epoch(entered.name, epoch_s)
    if entered.already:
        click.echo(f"wattline: this run is already entered as {entered.name}; it is not counted "
                   "again", err=True)
    elif entered.name != name:
        click.echo(f"wattline: entered as {entered.name}: the store has another run called {name} "
                   "(--replace would replace it)", err=True)
    if options["profile"] is not None:
        from wattline.account.profile import write_profile

        wanted = [record for record in records if record.steps and chosen.holds(record)]
        with progress("profiles") as advance:
            for at, record in enumerate(wanted):
                write_profile(record, options["profile"], epoch_s=epoch_s,
                              interval_s=options["profile_interval"])
                advance((at + 1) / len(wanted))
    return entered


def _conditions(options: dict[str, Any]) -> Chosen:
    from wattline.account.ledger import Chosen
    from wattline.model.units import parse_duration

    times = {key: parse_duration(options[option]) if options[option] else None
             for option, key in (("starttime", "start_s"), ("endtime", "end_s"))}
    return Chosen(
        job_ids=[_job_number(part) for part in _names(options["jobs"], "-j")],
        users=_names(options["users"], "-u"), accounts=_names(options["accounts"], "-A"), **times)


def _names(text: str, option: str) -> list[str]:
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


def _tell_left_out(run: dict[str, Any]) -> None:
    """Joules that the log knew and no simulation can repeat, such as those of running jobs."""
    for rule, lost in run["left_out"].items():
        click.echo(f"wattline: {counted(int(lost['jobs']), 'job')} of the log with "
                   f"{joules_text(lost['energy_j'])} left out of the run (rule {rule} of "
                   "`wattline trace info`)", err=True)


def _price(options: dict[str, Any]) -> Signal | None:
    from wattline.traces.rates import is_flat, price_from

    if options["price"] is None:
        if options["price_start"]:
            raise InputError("--price-start goes with --price FILE")
        return None
    price = price_from(options["price"], start=options["price_start"])
    if options["price_start"] and is_flat(price):
        raise InputError("--price-start goes with a table of prices; one price holds at any time")
    return price


def _charge(
    ledger: Ledger, run: dict[str, Any], jobs: list[dict[str, Any]], price: Signal,
    options: dict[str, Any],
) -> dict[str, Any]:
    """Put its cost to each job, and say what the costs rest on."""
    from wattline.account.costs import job_costs
    from wattline.account.sacct import life
    from wattline.traces.rates import end_note, is_flat
    from wattline.traces.tariffs import currency_of

    costs = job_costs(ledger, run["id"], jobs, price)
    for job in jobs:
        job["cost"] = costs[life(job)]
    last_s = max((float(job["end_s"]) for job in jobs), default=0.0)
    notes = [end_note(options["price"], price, last_s)]
    if not is_flat(price) and not options["price_start"]:
        notes.append(f"the first row of {options['price']} stands for second 0 of the run; "
                     "--price-start DATE says otherwise")
    notes.append("costs are those of the joules of jobs; what idle nodes draw is in nobody's")
    notes = [note for note in notes if note]
    warn_assumed(notes)
    return {"price": options["price"], "currency": currency_of(price),
            "cost": sum(costs.values()), "price_notes": notes}


def _print_totals(
    ledger: Ledger, run: dict[str, Any], by: str, chosen: Chosen, jobs: list[dict[str, Any]],
    said: dict[str, Any], as_json: bool,
) -> None:
    """As a table; or as JSON, with what else is to be said. `jobs` have costs, where asked for."""
    from wattline.account.costs import totals_by

    totals = ledger.totals(run["id"], by, chosen)
    costs = totals_by(jobs, by) if "cost" in said else None
    if as_json:
        print_json({"run": run["name"], **said, "by": by, "run_energy_j": run["energy_j"],
                    "energy_j": sum(total.energy_j for total in totals),
                    "left_out": run["left_out"], "assumed": run["assumed"],
                    "totals": [vars(total) | ({} if costs is None else {"cost": costs[total.name]})
                               for total in totals]})
        return
    from wattline.model.units import format_energy
    from wattline.traces.tariffs import NO_CURRENCY

    everything = sum(total.energy_j for total in totals) or 1.0
    headers = [by, "jobs", "node hours", "energy", "share"]
    rows: list[list[object]] = [
        [t.name, t.jobs, t.node_s / 3600.0, format_energy(t.energy_j),
         f"{100 * t.energy_j / everything:.1f} %"] for t in totals]
    if costs is not None:
        headers.append(f"cost {said['currency'] or NO_CURRENCY}")
        rows = [[*row, costs[total.name]] for row, total in zip(rows, totals, strict=True)]
    print_table(headers, rows)
