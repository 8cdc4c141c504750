"""`wattline fit`: learn time and power of applications from a sample of measurements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from wattline.cli.choices import Choice
from wattline.cli.configuration_source import measured_tables
from wattline.cli.output import counted, json_option, print_json, print_table, progress
from wattline.cli.suggesting import Axes, print_suggestion
from wattline.model.errors import InputError
from wattline.model.units import parse_fraction

if TYPE_CHECKING:
    from wattline.physics.configurations import ConfigurationTable
    from wattline.physics.regression import Fit, Model

_QUARTILES = ("mean", "p25", "median", "p75", "max")


@click.command()
@click.argument("table", required=False, metavar="TABLE")
@click.option("-o", "--output", metavar="FILE", help="Write the models, fitted to all points.")
@click.option("--app", metavar="NAME", help="Only this application of the table.")
@click.option("--train", default="10%", show_default=True, metavar="PART",
              help="Part of the configurations to train on; the errors are those of the rest.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(min=0),
              help="Seed of the choice of that part.")
@click.option("--sample", default="designed", show_default=True,
              type=Choice(["designed", "random"]),
              help="Train on the most informative configurations, or on random ones.")
@click.option("--kind", default="capping", show_default=True,
              type=Choice(["capping", "quadratic"]),
              help="The model; quadratic is the published one.")
@click.option("--sockets", default=2, show_default=True, type=click.IntRange(min=1),
              help="Sockets of a node.")
@click.option("--suggest", type=int, metavar="N",
              help="Propose the N configurations whose measurement would teach most.")
@click.option("--nodes", metavar="LIST", help="With --suggest: allowed node counts, like 8-32:2.")
@click.option("--cores", metavar="LIST", help="With --suggest: allowed cores, like 4-16:2.")
@click.option("--caps", metavar="LIST", help="With --suggest: allowed caps in W, like 51,65,80.")
@click.option("--store", metavar="URL", help="Put the predicted configurations in this store.")
@json_option
def command(
    table: str | None, output: str | None, app: str | None, train: str, seed: int, sample: str,
    kind: str, sockets: int, suggest: int | None, nodes: str | None, cores: str | None,
    caps: str | None, store: str | None, as_json: bool,
) -> None:
    """Learn time and power as functions of nodes, cores and cap from TABLE.

    The errors that are printed are of configurations that the model has not seen. The model that
    is written with -o is fitted to every point. With --suggest no errors are printed: it says
    what to measure next, or first when there is no TABLE yet.
    """
    axes = Axes(nodes, cores, caps)
    if suggest is not None:
        _refuse_without_effect("output", "train", "seed", "sample", "kind", "store")
        print_suggestion(table, app, suggest, axes, sockets, as_json)
        return
    if any(axes):
        raise InputError("--nodes, --cores and --caps go with --suggest")
    if table is None:
        raise InputError("give a TABLE to learn from, or --suggest N with --nodes, --cores, --caps")
    how = _How(parse_fraction(train), seed, kind, sample, sockets)
    tables, remark = measured_tables(table, app)
    found = _fit_all(tables, how, keep=bool(output or store))
    if output:
        from wattline.physics.regression import save_models

        save_models(found.models, output)
    if store:
        _put(found.models, store)
    notes = found.notes(tables)
    absurd = [f"{name}: {text}" for name, one in found.checked.items() if (text := _absurd(one))]
    for line in filter(None, [remark, *notes, *absurd, *found.not_checked.values()]):
        click.echo(f"wattline: {line}", err=True)
    _report(found, tables, {"kind": kind, "sample": sample, "train": how.share, "seed": seed,
                            "not_checked": found.not_checked, "notes": notes}, as_json)


class _How(NamedTuple):
    """What the user said about the model and its check."""

    share: float
    seed: int
    kind: str
    sample: str
    sockets: int


@dataclass
class _Fitted:
    """What came of each application."""

    checked: dict[str, Fit] = field(default_factory=dict)
    models: dict[str, Model] = field(default_factory=dict)
    """Fitted to all points, where they are to be kept."""
    not_checked: dict[str, str] = field(default_factory=dict)
    """Why the errors of an application are not known."""

    def notes(self, tables: Mapping[str, ConfigurationTable]) -> list[str]:
        """What must be known of the measurements, and what a model found out about them."""
        used = {name: one.model for name, one in self.checked.items()} | self.models
        said = {name: used.get(name, table).note for name, table in tables.items()}
        return [f"{name}: {note}" for name, note in said.items() if note]


def _refuse_without_effect(*names: str) -> None:
    """Options that the user gave and that --suggest would pass over in silence."""
    context = click.get_current_context()
    given = [max(option.opts, key=len) for option in context.command.params
             if option.name in names
             and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE]
    if given:
        raise InputError(f"{', '.join(given)} would have no effect with --suggest; leave it out")


def _fit_all(tables: Mapping[str, ConfigurationTable], how: _How, *, keep: bool) -> _Fitted:
    """Check every application that has enough configurations; with `keep` fit each to all."""
    found = _Fitted()
    with progress("fitting") as advance:
        for done, (name, table) in enumerate(tables.items()):
            _fit_one(found, name, table, how, keep)
            advance((done + 1) / len(tables))
    if not (found.models if keep else found.checked):
        raise InputError(next(iter(found.not_checked.values())))
    return found


def _fit_one(
    found: _Fitted, name: str, table: ConfigurationTable, how: _How, keep: bool
) -> None:
    from wattline.physics.regression import TooFewError, fit, fit_and_check

    try:
        if keep:
            found.models[name] = fit(table, how.kind, sockets=how.sockets)
        found.checked[name] = fit_and_check(table, share=how.share, seed=how.seed, kind=how.kind,
                                            sample=how.sample, sockets=how.sockets)
    except TooFewError as error:
        unknown = f"; its model, of all {len(table)} of them, is not checked"
        found.not_checked[name] = f"{error}{unknown if name in found.models else ''}"


def _absurd(found: Fit) -> str:
    """What is said of a model that nobody should use."""
    worst = max(found.time_error["mean"], found.power_error["mean"])
    if worst <= 1.0:
        return ""
    return (f"the mean error is {worst:.0%}: {len(found.trained)} configurations do not determine "
            "this model; train on more, or use another --kind")


def _report(
    fitted: _Fitted, tables: Mapping[str, ConfigurationTable], settings: dict[str, Any],
    as_json: bool,
) -> None:
    checked = fitted.checked
    if as_json:
        rows = {name: _as_dict(found, len(tables[name])) for name, found in checked.items()}
        print_json({**settings, **_together(checked), "applications": rows})
        return
    if not checked:
        click.echo(f"{counted(len(fitted.models), 'model')} fitted, none of them checked")
        return
    print_table(
        ["application", "trained on", "of", "error of", *_QUARTILES, "under by > 10 %",
         "worst under"],
        [[name, len(found.trained), len(tables[name]), what,
          *(f"{errors[key]:.1%}" for key in (*_QUARTILES, "under_10pct_share", "worst_under"))]
         for name, found in checked.items()
         for what, errors in (("time", found.time_error), ("power", found.power_error))],
        title=f"Errors on configurations not trained on ({settings['kind']} model, "
              f"{settings['sample']} sample)",
    )


def _as_dict(found: Fit, size: int) -> dict[str, Any]:
    return {
        "configurations": size, "trained_on": len(found.trained),
        "time_error": found.time_error, "power_error": found.power_error,
        "inside_90pct_interval": found.covered,
    }


def _together(checked: Mapping[str, Fit]) -> dict[str, Any]:
    """Errors over all points of the file that were not trained on; none where all were."""
    if not checked:
        return {"time_error": None, "power_error": None}
    import numpy as np

    from wattline.physics.regression import error_summary

    return {
        "time_error": error_summary(np.concatenate([one.time_ratio for one in checked.values()])),
        "power_error": error_summary(np.concatenate([one.power_ratio for one in checked.values()])),
    }


def _put(models: Mapping[str, Model], url: str) -> None:
    from wattline.account.configurations import ConfigurationStore
    from wattline.account.store import Store

    with Store(url) as opened:
        kept = ConfigurationStore(opened)
        for model in models.values():
            kept.put(model.table())
