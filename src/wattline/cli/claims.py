"""`wattline claims`: what applications are known to need; imported, chosen from, verified."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from wattline.cli.choices import Group
from wattline.cli.finite import FINITE, FiniteRange
from wattline.cli.live_options import live_options, which
from wattline.cli.output import json_option, print_json, print_table
from wattline.model.errors import InputError
from wattline.model.units import counted, whole_number

store_option = click.option(
    "--store", default="", metavar="URL|FILE",
    help="SQL store that keeps the claims; without it, those that come with the package.",
)


@click.group("claims", cls=Group)
def command() -> None:
    """What an application needs on a class of node in a setting: time and energy."""


@command.command("list")
@store_option
@click.option("--application", default="", help="Only this application.")
@click.option("--class", "node_class", default="", help="Only this class of node.")
@click.option("--csv", "as_csv", is_flag=True, help="As a file that `import` reads.")
@live_options
@json_option
def list_(store: str, application: str, node_class: str, as_csv: bool, as_json: bool, live: bool,
          config: Path | None) -> None:
    """List the claims; with --live, those of what runs and waits on the machine now."""
    from wattline.advice.claims import list_claims
    from wattline.physics.claims import write_claims

    site = which(live, config, as_csv, "--csv")
    if site is not None:
        from wattline.cli.live_power import show_claims

        show_claims(site, list_claims(store, application=application, node_class=node_class).claims,
                    as_json)
        return
    found = list_claims(store, application=application, node_class=node_class)
    if as_csv:
        click.echo(write_claims(list(found.claims)), nl=False)
    elif as_json:
        print_json(found.to_dict())
    else:
        _print_claims(found.claims)


@command.command("import")
@click.argument("source", metavar="FILE|npb")
@click.option("--store", required=True, metavar="URL|FILE", help="SQL store to import into.")
@click.option("--replace", is_flag=True,
              help="Replace verified claims too, with what runs have corrected in them.")
@json_option
def import_(source: str, store: str, replace: bool, as_json: bool) -> None:
    """Import claims from a CSV FILE, all or none; `npb` are those that come with the package.

    Claims in the store that runs have verified stay, unless the file's rest on as many runs.
    """
    from wattline.advice.claims import import_claims

    found = import_claims(source, store, replace_verified=replace)
    _say(found.remarks)
    if as_json:
        print_json(found.to_dict())
        return
    click.echo(f"{counted(found.imported, 'claim')} of "
               f"{counted(found.applications, 'application')} imported")
    if found.verified_kept:
        click.echo(f"{counted(found.verified_kept, 'verified claim')} kept as the store has it; "
                   "--replace takes those of the file")
    elif found.verified_replaced:
        click.echo(f"{counted(found.verified_replaced, 'verified claim')} replaced")


@command.command()
@click.argument("source", metavar="FILE", type=click.Path(path_type=Path))
@store_option
@json_option
def verify(source: Path, store: str, as_json: bool) -> None:
    """Compare claims with measured runs (CSV, same columns) and, in a store, correct them.

    A store counts each run once: by the column run_id, or by its figures where there is none.
    """
    from wattline.advice.claims import verify_claims

    found = verify_claims(source, store)
    _say(found.remarks)
    if as_json:
        print_json(found.to_dict())
        return
    print_table(
        ["application", "class", "setting", "claimed s", "measured s", "off", "claimed J",
         "measured J", "off"],
        [[v.measured.application, v.measured.node_class, str(v.measured.setting),
          v.claim.time_s if v.claim else None, v.measured.time_s, _percent(v.time_error),
          v.claim.energy_j if v.claim else None, v.measured.energy_j, _percent(v.energy_error)]
         for v in found.verified],
    )
    if found.already_counted:
        click.echo(f"{counted(found.already_counted, 'run')} already counted: a run counts "
                   "once, by its run_id, or by its figures where it has none")
    if not store:
        click.echo("nothing was corrected: name a store with --store")


@command.command()
@click.option("--store", required=True, metavar="URL|FILE", help="SQL store that keeps the claims.")
@click.option("--ledger", default="", metavar="URL|FILE",
              help="Store whose ledger has the jobs. [default: the same]")
@click.option("--coverage", type=FINITE, default=0.9, show_default=True, metavar="X",
              help="Least share of a measured job's time of which the joules are known.")
@click.option("--class", "classes", multiple=True, metavar="PARTITION=CLASS",
              help="Class of the nodes of a partition; otherwise it is called like it.")
@json_option
def learn(store: str, ledger: str, coverage: float, classes: tuple[str, ...],
          as_json: bool) -> None:
    """Correct the claims of a store by the jobs of a ledger that were completed, each once.

    Jobs are those of simulated runs, and those that a site has measured (`wattline account
    import`).
    """
    from wattline.advice.claims import learn_claims

    found = learn_claims(store, ledger=ledger, least_coverage=coverage,
                         classes=class_pairs(classes))
    _say(found.remarks)
    if as_json:
        print_json(found.to_dict())
        return
    click.echo(f"learnt from {counted(len(found.verified), 'job')}; "
               f"{counted(found.already_counted, 'job')} counted before")


@command.command()
@click.argument("application")
@store_option
@click.option("--objective", default="energy", show_default=True, metavar="energy|time|edp[:W]",
              help="What is to be least: energy, time, or time x energy^W (edp: W = 1).")
@click.option("--free", multiple=True, metavar="CLASS=N", help="Free nodes; all classes otherwise.")
@click.option("--nodes", type=click.IntRange(min=1), default=1, show_default=True,
              help="Nodes that the application runs on.")
@click.option("--caution", type=FiniteRange(min=0), default=0.0, show_default=True,
              help="Standard errors added to what an uncertain claim promises.")
@json_option
def choose(application: str, store: str, as_json: bool, **options: Any) -> None:
    """Choose the class of node and the setting for an application."""
    from wattline.advice.claims import choose_claim

    found = choose_claim(application, store, objective=options["objective"],
                         free=_free(options["free"]), nodes=options["nodes"],
                         caution=options["caution"])
    if as_json:
        ranked = found.to_dict()["claims"]
        print_json({"chosen": ranked[0], "ranked": ranked})
        return
    _print_claims(found.claims)


def _say(remarks: Iterable[str]) -> None:
    for line in remarks:
        click.echo(f"note: {line}", err=True)


def class_pairs(given: tuple[str, ...]) -> dict[str, str]:
    """Classes by partition, of texts like gpu=xeon-h100."""
    found = {}
    for text in given:
        name, _, value = (part.strip() for part in text.partition("="))
        if not (name and value):
            raise InputError(f"--class: '{text}' is not like gpu=xeon-h100")
        found[name] = value
    return found


def _free(given: tuple[str, ...]) -> dict[str, int]:
    found = {}
    for text in given:
        name, _, number = text.partition("=")
        try:
            found[name.strip()] = whole_number(number.strip())
        except ValueError:
            raise InputError(f"--free: '{text}' is not like xeon=4") from None
    return found


def _print_claims(claims: Any) -> None:
    print_table(
        ["application", "class", "setting", "time s", "energy J", "power W", "runs", "time off",
         "energy off"],
        [[c.application, c.node_class, str(c.setting), c.time_s, c.energy_j, c.power_w,
          c.runs if c.runs else "estimate", _percent(c.time_error), _percent(c.energy_error)]
         for c in claims],
    )


def _percent(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:+.1f} %"
