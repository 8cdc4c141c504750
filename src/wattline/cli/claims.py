"""`wattline claims`: what applications are known to need; imported, chosen from, verified."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.choices import Group
from wattline.cli.output import counted, json_option, print_json, print_table
from wattline.model.errors import InputError
from wattline.model.units import whole_number

if TYPE_CHECKING:
    from wattline.physics.claims import Claim, ClaimBook, Measured, Verification

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
@json_option
def list_(store: str, application: str, node_class: str, as_csv: bool, as_json: bool) -> None:
    """List the claims."""
    from wattline.physics.claims import write_claims

    claims = [c for c in _book(store) if application in ("", c.application)
              and node_class in ("", c.node_class)]
    if as_csv:
        click.echo(write_claims(claims), nl=False)
    elif as_json:
        print_json({"claims": [_plain(claim) for claim in claims]})
    else:
        _print_claims(claims)


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
    from wattline.physics.claims import npb_claims, read_claims

    if source == "npb":
        book = npb_claims()
    else:
        book = read_claims(Path(source))
        _tell_unused(Path(source))
    from wattline.account.claim_table import ClaimTable
    from wattline.account.store import Store

    with Store(store) as opened:
        table = ClaimTable(opened)
        verified = table.verified(book)
        kept = set() if replace else verified
        taken = [claim for claim in book if claim.key not in kept]
        count = table.save(taken)
        if replace:
            table.forget(verified)
    if as_json:
        print_json({"imported": count, "verified_kept": len(kept),
                    "verified_replaced": len(verified) - len(kept)})
        return
    click.echo(f"{counted(count, 'claim')} of "
               f"{counted(len({claim.application for claim in taken}), 'application')} imported")
    if kept:
        click.echo(f"{counted(len(kept), 'verified claim')} kept as the store has it; --replace "
                   "takes those of the file")
    elif verified:
        click.echo(f"{counted(len(verified), 'verified claim')} replaced")


@command.command()
@click.argument("source", metavar="FILE", type=click.Path(path_type=Path))
@store_option
@json_option
def verify(source: Path, store: str, as_json: bool) -> None:
    """Compare claims with measured runs (CSV, same columns) and, in a store, correct them.

    A store counts each run once: by the column run_id, or by its figures where there is none.
    """
    from wattline.physics.claims import read_runs

    runs = read_runs(source)
    _tell_unused(source)
    found = _verified(store, runs)
    already = len(runs) - len(found)
    if as_json:
        print_json({"verified": [_judged(v) for v in found], "corrected": bool(store),
                    "already_counted": already})
        return
    print_table(
        ["application", "class", "setting", "claimed s", "measured s", "off", "claimed J",
         "measured J", "off"],
        [[v.measured.application, v.measured.node_class, str(v.measured.setting),
          v.claim.time_s if v.claim else None, v.measured.time_s, _percent(v.time_error),
          v.claim.energy_j if v.claim else None, v.measured.energy_j, _percent(v.energy_error)]
         for v in found],
    )
    if already:
        click.echo(f"{counted(already, 'run')} already counted: a run counts once, by its run_id, "
                   "or by its figures where it has none")
    if not store:
        click.echo("nothing was corrected: name a store with --store")


@command.command()
@click.argument("application")
@store_option
@click.option("--objective", default="energy", show_default=True, metavar="energy|time|edp[:W]")
@click.option("--free", multiple=True, metavar="CLASS=N", help="Free nodes; all classes otherwise.")
@click.option("--nodes", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--caution", type=click.FloatRange(min=0), default=0.0, show_default=True,
              help="Standard errors added to what an uncertain claim promises.")
@json_option
def choose(application: str, store: str, as_json: bool, **options: Any) -> None:
    """Choose the class of node and the setting for an application."""
    from dataclasses import replace

    from wattline.physics.claims import Objective

    book = _book(store)
    objective = replace(Objective.parse(options["objective"]), caution=options["caution"])
    free = _free(options["free"]) or {c.node_class: options["nodes"] for c in book}
    found = book.choose(application, objective, free, options["nodes"])
    if found is None:
        raise InputError(f"nothing is known to run '{application}' on {', '.join(free)}")
    if as_json:
        print_json({"chosen": _plain(found.claim), "ranked": [_plain(c) for c in found.ranked]})
        return
    _print_claims(found.ranked)


def _book(store: str) -> ClaimBook:
    from wattline.physics.claims import npb_claims

    if not store:
        return npb_claims()
    from wattline.account.claim_table import ClaimTable
    from wattline.account.store import Store, refuse_missing

    refuse_missing(store)
    with Store(store) as opened:
        return ClaimTable(opened).load()


def _verified(store: str, runs: list[Measured]) -> list[Verification]:
    if not store:
        return _book("").record(runs)[1]
    from wattline.account.claim_table import ClaimTable
    from wattline.account.store import Store, refuse_missing

    refuse_missing(store)
    with Store(store) as opened:
        return ClaimTable(opened).record(runs)


def _tell_unused(source: Path) -> None:
    from wattline.physics.claims.files import unused_columns

    unused = unused_columns(source)
    if unused:
        click.echo(f"note: nothing is read from column {', '.join(unused)}", err=True)


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


def _plain(claim: Claim) -> dict[str, Any]:
    return {
        "application": claim.application, "node_class": claim.node_class,
        "threads": claim.setting.threads, "cap_w": claim.setting.cap_w,
        "nodes": claim.setting.nodes, "time_s": claim.time_s, "energy_j": claim.energy_j,
        "runs": claim.runs, "time_error": claim.time_error, "energy_error": claim.energy_error,
        "predictions": claim.predictions, "estimated": claim.estimated,
    }


def _judged(found: Verification) -> dict[str, Any]:
    return {
        "claimed": _plain(found.claim) if found.claim else None,
        "measured_s": found.measured.time_s, "measured_j": found.measured.energy_j,
        "time_error": found.time_error, "energy_error": found.energy_error,
        "corrected": _plain(found.corrected),
    }


def _percent(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:+.1f} %"
