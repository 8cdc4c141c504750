"""`wattline fit`: learn time and power of applications from a sample of measurements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import click

from wattline.cli.choices import Choice
from wattline.cli.configuration_source import map_option
from wattline.cli.needs import absent, given, option
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.cli.suggesting import print_suggestion, read_axes
from wattline.model.errors import InputError
from wattline.model.units import counted

if TYPE_CHECKING:
    from wattline.advice.fit import Fitted
    from wattline.physics.regression import Model

FITTED = absent("suggest", "learned", why="no model is fitted there")
SUGGESTED = given("suggest")
_QUARTILES = ("mean", "p25", "median", "p75", "max")


@click.command()
@click.argument("table", required=False, metavar="TABLE")
@option("-o", "--output", metavar="FILE", help="Write the models, fitted to all points.",
        needs=FITTED)
@option("--app", metavar="NAME", help="Only this application of the table.",
        needs=absent("learned"))
@option("--train", default="10%", show_default=True, metavar="PART",
        help="Part of the configurations to train on; the errors are those of the rest.",
        needs=FITTED)
@option("--seed", default=1, show_default=True, type=click.IntRange(min=0),
        help="Seed of the choice of that part.", needs=FITTED)
@option("--sample", default="designed", show_default=True,
        type=Choice(["designed", "random"]),
        help="Train on the most informative configurations, or on random ones.", needs=FITTED)
@option("--kind", default="auto", show_default=True,
        type=Choice(["auto", "capping", "mixed", "smooth", "quadratic"]),
        help="The model: capping for nodes, cores and a cap for each socket, smooth for any "
             "settings, mixed for times by both, auto for what suits the table; quadratic is "
             "the published one.", needs=FITTED)
@option("--learn-priors", "learned", metavar="FILE",
        help="Instead: write what the applications of TABLE have in common, for --priors.",
        needs=absent("suggest"))
@option("--priors", metavar="FILE",
        help="What --learn-priors wrote, in place of the shipped priors.", needs=FITTED)
@map_option
@click.option("--sockets", default=2, show_default=True, type=click.IntRange(min=1),
              help="Sockets of a node.")
@click.option("--suggest", type=int, metavar="N",
              help="Propose the N configurations whose measurement would teach most.")
@option("--nodes", metavar="LIST", help="With --suggest: allowed node counts, like 8-32:2.",
        needs=SUGGESTED)
@option("--cores", metavar="LIST", help="With --suggest: allowed cores, like 4-16:2.",
        needs=SUGGESTED)
@option("--caps", metavar="LIST", help="With --suggest: allowed caps in W, like 51,65,80.",
        needs=SUGGESTED)
@option("--at", "others", multiple=True, metavar="NAME=LIST",
        help="With --suggest: allowed values of another setting, like gpu_cap_w=200-700:100; "
             "may be given several times.", needs=SUGGESTED)
@option("--store", metavar="URL", help="Put the predicted configurations in this store.",
        needs=FITTED)
@json_option
def command(
    table: str | None, output: str | None, app: str | None, train: str, seed: int,
    sample: Literal["designed", "random"],
    kind: Literal["auto", "capping", "mixed", "smooth", "quadratic"], learned: str | None,
    priors: str | None, sockets: int, columns: tuple[str, ...],
    suggest: int | None, nodes: str | None, cores: str | None, caps: str | None,
    others: tuple[str, ...], store: str | None, as_json: bool,
) -> None:
    """Learn time and power as functions of nodes and settings from TABLE.

    The errors that are printed are of configurations that the model has not seen. The model that
    is written with -o is fitted to every point; its own errors, by cross-validation, are printed
    too, and stand in its file with the measurements. With --suggest no errors are printed: it says
    what to measure next, or first when there is no TABLE yet.
    """
    axes = read_axes(nodes, cores, caps, others)
    if suggest is not None:
        print_suggestion(table, app, suggest, axes, sockets, columns, as_json)
        return
    if table is None:
        raise InputError("give a TABLE to learn from, or --suggest N with --nodes, --cores, --caps")
    from wattline.advice.fit import fit, learn_priors

    if learned is not None:
        with progress("learning") as advance:
            names = learn_priors(table, learned, sockets=sockets, columns=columns, progress=advance)
        if as_json:
            print_json({"priors": learned, "learned_from": names})
        else:
            click.echo(f"{learned}: learned from {', '.join(names)}")
        return
    with progress("fitting") as advance:
        found = fit(table, app=app, train=train, seed=seed, sample=sample, kind=kind,
                    sockets=sockets, keep=bool(output or store), columns=columns,
                    priors=priors, progress=advance)
    if output:
        found.save(output)
    if store:
        _put(found.models, store)
    for line in found.remarks:
        click.echo(f"wattline: {line}", err=True)
    _report(found, as_json)
    if not as_json and any(model.known.errors for model in found.models.values()):
        _report_models(found)


def _report(found: Fitted, as_json: bool) -> None:
    checked = found.checked
    if as_json:
        print_json(found.to_dict())
        return
    if not checked:
        fitted = counted(len(found.models), "model")
        click.echo(f"{fitted} fitted, none of them checked on a part left out")
        return
    print_table(
        ["application", "trained on", "of", "error of", *_QUARTILES, "under by > 10 %",
         "worst under"],
        [[name, len(one.trained), len(found.tables[name]), what,
          *(f"{errors[key]:.1%}" for key in (*_QUARTILES, "under_10pct_share", "worst_under"))]
         for name, one in checked.items()
         for what, errors in (("time", one.time_error), ("power", one.power_error))],
        title="Errors on configurations not trained on "
              f"({' and '.join(dict.fromkeys(one.model.kind for one in checked.values()))} model, "
              f"{found.settings['sample']} sample)",
    )


def _report_models(found: Fitted) -> None:
    """The errors of the very models that are written."""
    click.echo()
    print_table(
        ["application", "kind", "trained on", "time: median", "90 %", "power: median", "90 %"],
        [[name, model.kind, model.trained_on,
          *((None,) * 4 if (errors := model.known.errors) is None else
            (f"{part:.1%}" for each in (errors.time, errors.power)
             for part in (each.median, each.p90)))]
         for name, model in found.models.items()],
        title="Errors of the models as written, of all points, by cross-validation",
    )


def _put(models: Mapping[str, Model], url: str) -> None:
    from wattline.account.configurations import ConfigurationStore
    from wattline.account.store import Store

    with Store(url) as opened:
        kept = ConfigurationStore(opened)
        for model in models.values():
            kept.put(model.table())
