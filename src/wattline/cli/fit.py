"""`wattline fit`: learn time and power of applications from a sample of measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wattline.cli.configuration_source import say_note
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.model.errors import InputError
from wattline.model.units import parse_fraction

if TYPE_CHECKING:
    from wattline.physics.configurations import ConfigurationTable
    from wattline.physics.regression import Fit, Grid, Model

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
              type=click.Choice(["designed", "random"]),
              help="Train on the most informative configurations, or on random ones.")
@click.option("--kind", default="capping", show_default=True,
              type=click.Choice(["capping", "quadratic"]),
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
    axes = (nodes, cores, caps)
    if suggest is not None:
        _suggest(table, app, suggest, axes, sockets, as_json)
        return
    if any(axes):
        raise InputError("--nodes, --cores and --caps go with --suggest")
    if table is None:
        raise InputError("give a TABLE to learn from, or --suggest N with --nodes, --cores, --caps")
    share = parse_fraction(train)
    tables, remark = _tables(table, app)
    from wattline.physics.regression import fit, fit_and_check, save_models

    checked: dict[str, Fit] = {}
    models: dict[str, Model] = {}
    left_out: dict[str, str] = {}
    with progress("fitting") as advance:
        for done, (name, one) in enumerate(tables.items()):
            try:
                checked[name] = fit_and_check(one, share=share, seed=seed, kind=kind,
                                              sample=sample, sockets=sockets)
            except InputError as error:
                if len(tables) == 1 or not 0 < share < 1:
                    raise
                left_out[name] = str(error)
            if output or store:
                models[name] = fit(one, kind, sockets=sockets)
            advance((done + 1) / len(tables))
    if not checked:
        raise InputError(next(iter(left_out.values())))
    if output:
        save_models(models, output)
    if store:
        _keep(models, store)
    notes = [f"{name}: {one.note}" for name, one in tables.items() if one.note]
    absurd = [f"{name}: {text}" for name, one in checked.items() if (text := _absurd(one))]
    for line in filter(None, [remark, *notes, *absurd, *left_out.values()]):
        click.echo(f"wattline: {line}", err=True)
    _report(checked, tables, {"kind": kind, "sample": sample, "train": share, "seed": seed,
                              "not_checked": left_out, "notes": notes}, as_json)


def _absurd(found: Fit) -> str:
    """What is said of a model that nobody should use."""
    worst = max(found.time_error["mean"], found.power_error["mean"])
    if worst <= 1.0:
        return ""
    return (f"the mean error is {worst:.0%}: {len(found.trained)} configurations do not determine "
            "this model; train on more, or use another --kind")


def _report(
    checked: dict[str, Fit], tables: dict[str, ConfigurationTable], settings: dict[str, Any],
    as_json: bool,
) -> None:
    if as_json:
        rows = {name: _as_dict(found, len(tables[name])) for name, found in checked.items()}
        print_json({**settings, **_together(checked), "applications": rows})
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


def _together(checked: dict[str, Fit]) -> dict[str, Any]:
    """Errors over all points of the file that were not trained on."""
    import numpy as np

    from wattline.physics.regression import error_summary

    return {
        "time_error": error_summary(np.concatenate([one.time_ratio for one in checked.values()])),
        "power_error": error_summary(np.concatenate([one.power_ratio for one in checked.values()])),
    }


def _tables(path: str, app: str | None) -> tuple[dict[str, ConfigurationTable], str]:
    from wattline.physics.measurements import (
        find_application,
        read_measurements,
        unnamed_note,
    )

    tables = read_measurements(path, app or "")
    if app is None:
        return tables, ""
    say_note(unnamed_note(path, app))
    found, remark = find_application(tables, app)
    return {found.application: found}, remark


def _keep(models: dict[str, Model], url: str) -> None:
    from wattline.account.configurations import ConfigurationStore
    from wattline.account.store import Store

    with Store(url) as opened:
        kept = ConfigurationStore(opened)
        for model in models.values():
            kept.put(model.table())


def _suggest(
    path: str | None, app: str | None, count: int, axes: tuple[str | None, ...], sockets: int,
    as_json: bool,
) -> None:
    import numpy as np

    from wattline.physics.regression import Grid, points_of, suggest

    if count < 1:
        raise InputError(f"--suggest is {count}, must be at least 1")
    known: ConfigurationTable | None = None
    if path is not None:
        tables, remark = _tables(path, app)
        if len(tables) > 1:
            raise InputError(f"{path} has several applications; choose one with --app: "
                             + ", ".join(sorted(tables)))
        if remark:
            click.echo(f"wattline: {remark}", err=True)
        known = next(iter(tables.values()))
    elif not all(axes):
        raise InputError("without a TABLE, --suggest needs --nodes, --cores and --caps")
    points = _grid(axes, None if known is None else Grid.of(known)).points()
    measured = np.zeros(len(points), dtype=bool)
    if known is not None:
        done = {tuple(row) for row in points_of(known).tolist()}
        measured = np.array([tuple(row) in done for row in points.tolist()])
        extra = [row for row in done if row not in {tuple(p) for p in points.tolist()}]
        points = np.vstack([points, np.array(extra).reshape(-1, 3)])
        measured = np.concatenate([measured, np.ones(len(extra), dtype=bool)])
    if measured.all():
        raise InputError("every combination of these nodes, cores and caps is measured already; "
                         "widen the choice with --nodes, --cores or --caps")
    rows = [points[row] for row in suggest(points, count, measured=measured, sockets=sockets)]
    found = [{"nodes": int(n), "cores": int(c), "cap_w": float(w)} for n, c, w in rows]
    if as_json:
        print_json({"suggested": found, "measured": int(measured.sum()),
                    "candidates": int((~measured).sum())})
        return
    print_table(["order", "nodes", "cores", "cap W"],
                [[i + 1, one["nodes"], one["cores"], one["cap_w"]] for i, one in enumerate(found)],
                title=f"Measure next ({int(measured.sum())} of {len(points)} are known)")


def _grid(axes: tuple[str | None, ...], known: Grid | None) -> Grid:
    from wattline.physics.regression import Grid

    levels = [
        _levels(text, option) if text else tuple(float(v) for v in getattr(known, name))
        for text, option, name in zip(
            axes, ("--nodes", "--cores", "--caps"), ("nodes", "cores", "cap_w"), strict=True)
    ]
    for option, values in (("--nodes", levels[0]), ("--cores", levels[1])):
        if any(value != int(value) for value in values):
            raise InputError(f"{option} must be whole numbers")
    return Grid(tuple(int(n) for n in levels[0]), tuple(int(c) for c in levels[1]), levels[2])


def _levels(text: str, option: str) -> tuple[float, ...]:
    """Numbers from `8,16,32` or `8-32:2`."""
    values: set[float] = set()
    try:
        for part in text.split(","):
            span, _, step = part.partition(":")
            low, dash, high = span.partition("-")
            if not dash:
                values.add(float(low))
                continue
            width = float(step or 1)
            count = int((float(high) - float(low)) / width + 1e-9)
            if width <= 0 or count < 0:
                raise ValueError
            values.update(float(low) + i * width for i in range(count + 1))
    except ValueError:
        raise InputError(f"{option} is '{text}'; write it like 8,16,32 or 8-32:2") from None
    if min(values) <= 0:
        raise InputError(f"{option} is '{text}', must be above 0")
    return tuple(sorted(values))
