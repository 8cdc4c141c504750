"""`wattline study rmap`: the evaluation of the power-aware policies on measured configurations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from click.core import ParameterSource

from wattline.cli.choices import Choice
from wattline.cli.configuration_source import map_option
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.model.errors import InputError
from wattline.model.units import counted, parse_fraction

if TYPE_CHECKING:
    from wattline.model.signal import FloatArray
    from wattline.physics.configurations import ConfigurationTable
    from wattline.studies.rmap.study import RmapResult, RmapSetting


@click.command()
@click.option("--table", "paths", multiple=True, metavar="CSV",
              help="Measured configurations; may be given several times. Without it, those that "
                   "the shipped models predict.")
@click.option("--apps", metavar="LIST", help="Only these applications, separated by commas.")
@click.option("--nodes", default=32, show_default=True, type=click.IntRange(min=1),
              help="Nodes of the machine.")
@click.option("--jobs", default=30, show_default=True, type=click.IntRange(min=1),
              help="Jobs of a trace.")
@click.option("--seeds", default=20, show_default=True, type=click.IntRange(min=1),
              help="How many traces of each kind.")
@click.option("--load", "load_list", default="0.7", show_default=True, metavar="LIST",
              help="Part of the nodes that the requests would keep busy; several, separated by "
                   "commas, are run one after another.")
@click.option("--fill", is_flag=True,
              help="Fill in node counts that were not measured by a model of each table.")
@click.option("--request", type=Choice(["packed", "recorded"]), default="packed",
              show_default=True, help="The time that users ask for: that of all cores uncapped and "
              "up to 20 % more, or that of a random row of the table.")
@click.option("--power", type=Choice(["all", "pkg"]), default="all", show_default=True,
              help="Which power counts: of packages and memory, or of packages alone.")
@click.option("--holds", type=Choice(["draw", "share"]), default="draw", show_default=True,
              help="What a running job takes from the available power: its draw, or its share.")
@click.option("--backfill", type=Choice(["watts", "nodes"]), default="watts", show_default=True,
              help="What backfilling keeps free for the first waiting job: nodes and watts, or "
                   "nodes alone.")
@click.option("--part", type=Choice(["users", "power", "oracle", "bounds", "partition",
                                     "combinations", "unseen"]),
              help="Instead: gains of single users, power of single jobs, models against "
                   "measurements, every application under every bound, a partition for small jobs, "
                   "all set-ups (--fill ... --backfill) under all loads, or models of applications "
                   "that their priors have not seen.")
@map_option
@click.option("--bounds", metavar="LIST", help="Bounds as parts of the peak, like 44%,68%,95%.")
@click.option("--variability", metavar="SD",
              help="Instead: what it costs that nodes differ by this much, like 1.3%.")
@click.option("--out", metavar="FOLDER", help="Draw the figures into this folder.")
@json_option
def command(
    paths: tuple[str, ...], apps: str | None, nodes: int, jobs: int, seeds: int, load_list: str,
    fill: bool, request: Literal["packed", "recorded"], power: Literal["all", "pkg"],
    holds: Literal["draw", "share"], backfill: Literal["watts", "nodes"], part: str | None,
    columns: tuple[str, ...], bounds: str | None, variability: str | None, out: str | None,
    as_json: bool,
) -> None:
    """Compare traditional, naive and adaptive power-aware scheduling under six bounds.

    Four kinds of trace: large jobs (62 % of the machine or more), small ones (37 % or less) and
    two mixed ones. Every figure is a mean over seeds; published figures stand beside.
    """
    from wattline.studies.rmap.parts import check_bounds, check_measured, check_set_up
    from wattline.studies.rmap.set_up import SetUp
    from wattline.studies.rmap.study import BOUNDS, RmapSetting
    from wattline.studies.rmap.tables import packages_of, tables_of

    loads = [parse_fraction(text) for text in load_list.split(",")]
    set_up = SetUp(fill, request, power, holds, backfill)
    parts = tuple(parse_fraction(part) for part in bounds.split(",")) if bounds else BOUNDS
    setting = RmapSetting(nodes=nodes, bounds=parts, seeds=tuple(range(1, seeds + 1)), jobs=jobs,
                          load=loads[0], set_up=set_up)
    _refuse_unused(part, variability, out, loads)
    check_set_up(part or "", set_up)
    check_bounds(part or "", parts if bounds else ())
    tables, remarks = tables_of(paths, apps, nodes, columns, power)
    _say((*remarks, *_not_looked_at(part or "")))
    if variability is not None:
        _variability(tables, setting, parse_fraction(variability), as_json)
    elif part is not None:
        check_measured(part, paths)
        packages, without = (packages_of(paths, apps, nodes, columns)
                             if part == "combinations" else (None, ""))
        _say([without] if without else [])
        _part(part, tables, packages, setting, loads, parts[0] if bounds else None, as_json)
    else:
        _whole(tables, setting, loads, out, as_json)


def _part(
    part: str, tables: dict[str, ConfigurationTable], packages: Mapping[str, Any] | None,
    setting: RmapSetting, loads: Sequence[float], bound: float | None, as_json: bool,
) -> None:
    from wattline.cli.study_rmap_parts import print_part
    from wattline.studies.rmap.parts import ONE_BOUND, run_part

    with progress(part) as advance:
        figures = run_part(part, tables, setting, advance, loads, packages,
                           bound if part in ONE_BOUND else None)
    _say_of_tables({} if part == "unseen" else figures["left_out"], figures["notes"])
    print_part(part, figures, as_json)


def _whole(
    tables: dict[str, ConfigurationTable], setting: RmapSetting, loads: Sequence[float],
    out: str | None, as_json: bool,
) -> None:
    from wattline.analysis.folders import run_folder
    from wattline.studies.rmap.report import as_dict
    from wattline.studies.rmap.study import study

    if out:
        run_folder("rmap", out)  # a place that cannot be written is found out now
    results = []
    for load in loads:
        with progress("simulating") as advance:
            results.append(study(tables, replace(setting, load=load), advance))
    _say_of_tables(results[0].left_out, results[0].notes)
    if out:
        _draw(results, Path(out))
    if as_json:
        print_json(as_dict(results[0]) if len(results) == 1 else
                   {"by_load": [as_dict(one) for one in results]})
        return
    for one in results:
        _print(one)


def _draw(results: Sequence[RmapResult], out: Path) -> None:
    from wattline.studies.rmap.plots import write_pictures

    try:
        for one in results:
            name = f"load-{one.setting.load:g}" if len(results) > 1 else ""
            write_pictures(one, out / name)
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror}") from None


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(f"wattline: {line}", err=True)


def _say_of_tables(left_out: Mapping[str, str], notes: Iterable[str]) -> None:
    from wattline.studies.rmap.report import said_of_tables

    _say(said_of_tables(left_out, notes))


_SIZES = {"bounds": ("jobs", "seeds", "load_list"), "unseen": ("jobs", "load_list", "nodes")}
"""Options of size that parts without traces have no use for."""


def _not_looked_at(part: str) -> Iterable[str]:
    """What is said where an option was given that makes no difference to the part."""
    context = click.get_current_context()
    given = [f"--{name.removesuffix('_list')}" for name in _SIZES.get(part, ())
             if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    return [f"--part {part} simulates no traces: {', '.join(given)} makes no difference"
            ] if given else []


def _refuse_unused(part: str | None, variability: str | None, out: str | None,
                   loads: Sequence[float]) -> None:
    """What an answer would not look at is refused rather than passed over."""
    if part is not None and variability is not None:
        raise InputError("--part and --variability are two answers; give one of them")
    chosen = "--variability" if variability is not None else f"--part {part}"
    if part is None and variability is None:
        chosen = ""
    if chosen and out:
        raise InputError(f"--out has no figures to draw with {chosen}; leave one of them out")
    if chosen and part != "combinations" and len(loads) > 1:
        raise InputError(f"{chosen} is of one load, and --load has {len(loads)} of them")
    if len(set(loads)) < len(loads):
        raise InputError("--load names a load twice")


def _variability(
    tables: dict[str, ConfigurationTable], setting: RmapSetting, sd: float, as_json: bool
) -> None:
    from wattline.analysis.intervals import half_interval
    from wattline.studies.rmap.study import ready_tables
    from wattline.studies.rmap.variability import cost_of_variability

    ready = ready_tables(tables, setting)
    found = []
    with progress("simulating") as advance:
        for bound in setting.bounds:
            found.append(cost_of_variability(ready.tables, setting, sd, bound,
                                             progress=advance))
    _say_of_tables(ready.left_out, ready.notes)
    rows = [
        [f"{one.bound:.0%}", name, float(values.mean()), f"{_change(values, one.equal_s):+.2%}",
         _percent(half_interval(values / one.equal_s - 1.0))]
        for one in found for name, values in (("equal nodes", one.equal_s),
                                              *one.turnaround_s.items())
    ]
    if as_json:
        print_json({"sd": sd, "trace": found[0].trace, "left_out": ready.left_out,
                    "notes": ready.notes, "by_bound": {
            f"{one.bound:g}": {"equal_nodes_s": one.equal_s.mean(), **{
                name: values.mean() for name, values in one.turnaround_s.items()},
                "above_bound_s": one.above_bound_s} for one in found}})
        return
    print_table(["bound", "nodes", "turnaround s", "against equal nodes", "95 %"], rows,
                title=f"Adaptive policy, trace '{found[0].trace}', nodes differ by {sd:.1%}")
    click.echo(f"above the bound: {sum(one.above_bound_s for one in found):.1f} s of all runs")


def _change(values: FloatArray, equal: FloatArray) -> float:
    return float((values / equal - 1.0).mean())


def _print(result: RmapResult) -> None:
    from wattline.analysis.intervals import half_interval
    from wattline.studies.rmap.report import findings

    setting = result.setting
    click.echo(f"{counted(setting.nodes, 'node')}, {counted(setting.jobs, 'job')}, "
               f"{counted(len(setting.seeds), 'seed')}, load {setting.load:g}, "
               f"set-up {setting.set_up.label}, applications: {', '.join(result.applications)}")
    node_w = result.peak_w / setting.nodes
    click.echo(f"100 % of a bound is {result.peak_w:,.6g} W: {node_w:,.6g} W per node, all its "
               "devices at the highest cap of any table, without the rest of it")
    for trace in setting.traces:
        click.echo()
        print_table(
            ["bound", *(policy.replace("_", " ") for policy in setting.policies)],
            [[f"{bound:.0%}", *(_with_interval(values.mean(), half_interval(values)) for values in (
                result.of("turnaround_s", trace, bound, policy) for policy in setting.policies))]
             for bound in setting.bounds],
            title=f"Mean turnaround in s, trace '{trace}' (with 95 % interval over seeds)",
        )
    click.echo()
    print_table(
        ["traces", "policy", "against", "published", "here", "95 %", "by bound from", "to",
         "verdict", "why"],
        [[" ".join(one.claim.traces), one.claim.policy, one.claim.against,
          f"{one.claim.published:+.1%}", f"{one.mean:+.1%}", _percent(one.half_width),
          f"{one.worst:+.1%}", f"{one.best:+.1%}", one.verdict, one.why.partition(";")[0]]
         for one in findings(result)],
        title="Turnaround below the other policy's, mean over bounds and seeds",
    )
    click.echo()
    print_table(
        ["trace", *(policy.replace("_", " ") for policy in setting.policies)],
        [[trace, *(f"{_mean_use(result, trace, policy):.1%}" for policy in setting.policies)]
         for trace in setting.traces],
        title="Mean power over the bound",
    )


def _percent(half_width: float) -> str:
    return "-" if math.isnan(half_width) else f"±{half_width:.1%}"


def _mean_use(result: RmapResult, trace: str, policy: str) -> float:
    import numpy as np

    return float(np.mean([result.of("power_use", trace, bound, policy)
                          for bound in result.setting.bounds]))


def _with_interval(mean: float, half_width: float) -> str:
    return f"{mean:.1f}" if math.isnan(half_width) else f"{mean:.1f} ±{half_width:.1f}"
