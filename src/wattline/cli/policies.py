"""`wattline policies`: what can be chosen along each axis, its parameters, and what clashes."""

from __future__ import annotations

from typing import Any

import click

from wattline.cli.output import counted, json_option, print_json, print_table
from wattline.model.errors import InputError


@click.command()
@click.argument("name", required=False)
@click.option("--pairs", is_flag=True, help="List the pairs of choices that do not go together.")
@json_option
def command(name: str | None, pairs: bool, as_json: bool) -> None:
    """List the policies along each axis; with NAME (or AXIS.NAME) all about one.

    That is its parameters with their ranges and defaults, and what it goes with.
    """
    from wattline.scenario.axes import axes

    found = axes()
    if pairs:
        _print_pairs(found, as_json)
    elif name is not None:
        _print_one(found, name, as_json)
    elif as_json:
        print_json({axis: {name: {"summary": named.summary, "source": named.source}
                           for name, named in choices.items()}
                    for axis, choices in found.items()})
    else:
        for axis, choices in found.items():
            rows = [(name, named.summary, named.source) for name, named in choices.items()]
            print_table(["name", "what it does", "from"], rows, f"[policy] {axis} = ...")
            click.echo()


def _print_pairs(found: Any, as_json: bool) -> None:
    from wattline.policies.going_together import refused_pairs

    refused = refused_pairs(found)
    if as_json:
        print_json({"pairs": _count(found), "refused": refused})
        return
    for pair in refused:
        click.echo(f"{pair['axis']}.{pair['name']} with {pair['other_axis']}.{pair['other']}: "
                   f"{pair['reason']}")
    click.echo(f"{counted(len(refused), 'pair')} of {_count(found)} do not go together")


def _count(found: Any) -> int:
    sizes = [len(choices) for choices in found.values()]
    return sum(one * other for place, one in enumerate(sizes) for other in sizes[place + 1:])


def _print_one(found: Any, name: str, as_json: bool) -> None:
    from wattline.policies.going_together import refused_pairs
    from wattline.scenario.parameters import parameter_rows

    places = [(axis, choice) for axis, choices in found.items() for choice in choices
              if name in (choice, f"{axis}.{choice}")]
    if not places:
        raise InputError(f"there is no policy '{name}'; `wattline policies` lists them")
    said = []
    for axis, choice in places:
        clashes = [pair for pair in refused_pairs(found) if (axis, choice) in
                   ((pair["axis"], pair["name"]), (pair["other_axis"], pair["other"]))]
        said.append({"axis": axis, "name": choice, "summary": found[axis][choice].summary,
                     "from": found[axis][choice].source,
                     "parameters": parameter_rows(axis, choice), "refused": clashes})
    if as_json:
        print_json({"policies": said})
        return
    for one in said:
        _print_about(one)


def _print_about(one: dict[str, Any]) -> None:
    click.echo(f"{one['axis']}.{one['name']}: {one['summary']} (from {one['from']})")
    rows = [(each["name"], each["kind"], each["range"], each["default"])
            for each in one["parameters"]]
    if rows:
        print_table(["parameter", "kind", "range", "default"], rows)
    else:
        click.echo("It has no parameters.")
    if not one["refused"]:
        click.echo("It goes with every choice along the other axes.")
    for reason in dict.fromkeys(pair["reason"] for pair in one["refused"]):
        click.echo(f"not together: {reason}")
    click.echo()
