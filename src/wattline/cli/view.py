"""`wattline view`: the machine seen as trees: power, racks, network, or a site's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.choices import Group
from wattline.cli.machine_options import POWERS, machine_of, machine_options
from wattline.cli.needs import absent, among, option
from wattline.cli.output import json_option, print_json, print_table
from wattline.model.errors import InputError
from wattline.model.units import counted, plain_number

if TYPE_CHECKING:
    from wattline.model.views import MachineView


BY_ITSELF = absent("scenario", "views_file", why="that has the machine")
POWER = among("name", "power")


@click.group("view", cls=Group)
def command() -> None:
    """Show the machine's views: trees over its parts with what they draw, hold and may use."""


@command.command()
@click.argument("name", metavar="power|rack|network|NAME")
@click.argument("scenario", required=False, type=click.Path(path_type=Path))
@click.option("--file", "views_file", type=click.Path(path_type=Path), metavar="FILE",
              help="Take the view from this views file.")
@click.option("--depth", type=click.IntRange(min=0), default=2, show_default=True,
              help="Levels below the top that are shown.")
@click.option("--under", default="", metavar="ENTITY", help="Only what lies below this entity.")
@option("--with-cores", is_flag=True, help="Cores as a level of their own (power).",
        needs=(POWER, absent("views_file", why="the file says all of a view")))
@click.option("--limit", "limits", multiple=True, metavar="ENTITY=WATTS",
              help="A bound of the power view at any level; enforced.")
@click.option("--set", "changes", multiple=True, metavar="ENTITY.KEY=VALUE",
              help="Change a value first; what inherits from it follows, bounds are kept.")
@machine_options(BY_ITSELF, of={**dict.fromkeys(POWERS, (POWER,)),
                                "cores": (among("name", "power", "rack"),)})
@json_option
def show(name: str, scenario: Path | None, as_json: bool, **options: Any) -> None:
    """Show a view of the machine of SCENARIO, or of one given by its options, as a table."""
    view = _view(name, scenario, options)
    changed = sum(_change(view, text) for text in options["changes"])
    rows = view.rows(options["depth"], options["under"])
    if as_json:
        print_json({
            "view": view.name, "entities": len(view.tree),
            "keys": [{"name": key.name, "type": str(key.type), "unit": key.unit,
                      "read_only": key.read_only, "inherit": key.inherit.name.lower(),
                      "source": key.source_name} for key in view.all_keys],
            "values_changed": changed,
            "rows": rows,
        })
        return
    columns = [c for c in rows[0] if c not in ("entity", "level")]
    print_table(
        ["entity", *columns],
        [["  " * int(row["level"] or 0) + str(row["entity"]), *(_short(row[c]) for c in columns)]
         for row in rows],
    )
    if options["changes"]:
        click.echo(f"{counted(changed, 'value')} changed")


@command.command()
@click.argument("views_file", metavar="FILE", type=click.Path(path_type=Path))
@json_option
def check(views_file: Path, as_json: bool) -> None:
    """Read a views file and say what it holds, or what is wrong with it."""
    from wattline.scenario.machine_views import check_views

    found = check_views(views_file)
    if as_json:
        print_json({"views": found})
        return
    print_table(["view", "entities", "keys", "bounds"], [list(row.values()) for row in found])


@command.command("import")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True,
                type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the views here; otherwise they are printed.")
@click.option("--idle-w", metavar="WATTS",
              help="What a node draws when idle, for views that bound the power.")
@click.option("--limit", "limits", multiple=True, metavar="ENTITY=WATTS",
              help="A bound of an entity; needs --idle-w.")
@click.option("--share", "shares", multiple=True, metavar="VIEW=PART",
              help="A view is one feed of several, with this part of a node's watts, like 50%.")
@click.option("--failover", is_flag=True, help="Each view with --share must carry the others.")
@json_option
def import_(sources: tuple[Path, ...], as_json: bool, output: Path | None, idle_w: str | None,
            limits: tuple[str, ...], shares: tuple[str, ...], failover: bool) -> None:
    """Make a views file from what a site has.

    A SOURCE is a slurm.conf, gres.conf, topology.conf or topology.yaml, a folder or JSON file of
    Redfish chassis, or a table (.csv) of child and parent.
    """
    from wattline.cli.simulating import warn_assumed
    from wattline.site.importing import import_views

    found = import_views(*sources, output=output, idle_w=idle_w, limits=_limits(limits),
                         shares=_parts(shares), failover=failover)
    if as_json:
        print_json(found.to_dict() | ({"toml": found.toml} if output is None
                                      else {"file": str(output)}))
        return
    warn_assumed(found.remarks)
    if output is None:
        click.echo(found.toml, nl=False)
        return
    print_table(["view", "entities", "nodes", "bounds"],
                [list(row.values()) for row in found.to_dict()["views"]])


def _view(name: str, scenario: Path | None, options: dict[str, Any]) -> MachineView:
    from wattline.scenario.machine_views import machine_view

    if options["views_file"] is not None:
        return machine_view(name, scenario, file=options["views_file"],
                            limits=_limits(options["limits"]))
    return machine_view(name, machine_of(options) if scenario is None else scenario,
                        limits=_limits(options["limits"]), with_cores=options["with_cores"])


def _change(view: MachineView, text: str) -> int:
    """Carry out `n3.power_w=300`; how many values changed."""
    place, equals, given = text.partition("=")
    entity, dot, key = place.strip().rpartition(".")
    if not equals or not dot:
        raise InputError(f"--set: '{text}' is not like n3.power_w=300")
    value: Any = given.strip()
    if key not in view.texts:
        words = {"true": True, "false": False, "none": None}
        try:
            value = words[value.lower()] if value.lower() in words else plain_number(value)
        except ValueError:
            raise InputError(f"--set: '{given.strip()}' is not a number") from None
    return view.set(entity, key, value)


def _short(value: object) -> object:
    """Whole numbers without a fraction, whatever type the key has."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _parts(given: tuple[str, ...]) -> dict[str, str]:
    for text in given:
        if "=" not in text:
            raise InputError(f"--share: '{text}' is not like feedA=50%")
    return {text.rpartition("=")[0].strip(): text.rpartition("=")[2] for text in given}


def _limits(given: tuple[str, ...]) -> dict[str, float]:
    from wattline.model.units import parse_power

    found = {}
    for text in given:
        entity, equals, power = text.partition("=")
        if not equals:
            raise InputError(f"--limit: '{text}' is not like rack3=20kW")
        found[entity.strip()] = parse_power(power)
    return found
