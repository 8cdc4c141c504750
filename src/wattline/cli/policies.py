"""`wattline policies`: what can be chosen along each axis, its parameters, and what clashes."""

from __future__ import annotations

from typing import Any

import click

from wattline.cli.output import json_option, print_json, print_table
from wattline.model.units import counted


@click.command()
@click.argument("name", required=False)
@click.option("--pairs", is_flag=True,
              help="List the pairs of choices that do not go together; with NAME its own.")
@json_option
def command(name: str | None, pairs: bool, as_json: bool) -> None:
    """List the policies along each axis, or along the axis NAME; with NAME all about one.

    That is its parameters with their ranges and defaults, and what it goes with.
    """
    from wattline.policies.registry import declared, source_of

    found = declared()
    if name in found and not pairs:
        found, name = {name: found[name]}, None
    if pairs:
        _print_pairs(found, name, as_json)
    elif name is not None:
        _print_one(name, as_json)
    elif as_json:
        print_json({axis: {name: {"summary": each.summary, "source": source_of(axis, name)}
                           for name, each in choices.items()}
                    for axis, choices in found.items()})
    else:
        for axis, choices in found.items():
            rows = [(name, each.summary, source_of(axis, name)) for name, each in choices.items()]
            print_table(["name", "what it does", "from"], rows, _chosen_by(axis))
            click.echo()


def _chosen_by(axis: str) -> str:
    """Where one writes the name of a policy."""
    from wattline.policies.declaration import AXES

    return f"[policy] {axis} = ..." + ("" if axis in AXES else ", beside a [contract]")


def _print_pairs(found: Any, name: str | None, as_json: bool) -> None:
    from wattline.policies.declaration import AXES
    from wattline.policies.going_together import refused_pairs
    from wattline.policies.listing import describe_policy

    found = {axis: found[axis] for axis in AXES}
    if name is None:
        refused, count = refused_pairs(found), _count(found)
    else:
        said = describe_policy(name)
        refused = [pair for one in said for pair in one["refused"]]
        count = sum(len(choices) for one in said for axis, choices in found.items()
                    if axis != one["axis"] and one["axis"] in found)
    if as_json:
        print_json({"pairs": count, "refused": refused})
        return
    for pair in refused:
        click.echo(f"{pair['axis']}.{pair['name']} with {pair['other_axis']}.{pair['other']}: "
                   f"{pair['reason']}")
    click.echo(f"{counted(len(refused), 'pair')} of {count} do not go together")


def _count(found: Any) -> int:
    sizes = [len(choices) for choices in found.values()]
    return sum(one * other for place, one in enumerate(sizes) for other in sizes[place + 1:])


def _print_one(name: str, as_json: bool) -> None:
    from wattline.policies.listing import describe_policy

    said = describe_policy(name)
    if as_json:
        print_json({"policies": said})
        return
    for one in said:
        _print_about(one)


def _print_about(one: dict[str, Any]) -> None:
    click.echo(f"{one['axis']}.{one['name']}: {one['summary']} (from {one['from']})")
    if one["needs"]:
        click.echo(f"It needs {one['needs']}.")
    rows = [(each["name"], each["kind"], each["unit"] or "", each["range"], _default(each))
            for each in one["parameters"]]
    if rows:
        print_table(["parameter", "kind", "unit", "range", "default"], rows)
    else:
        click.echo("It has no parameters.")
    if one["axis"] == "python":
        click.echo("It takes the place of all axes.")
    elif one["axis"] == "regulation":
        click.echo("A contract has queues by type of job in place of the other axes.")
    elif not one["refused"]:
        click.echo("It goes with every choice along the other axes.")
    for reason, pairs in _by_reason(one).items():
        click.echo(f"not with {', '.join(pairs)}: {reason}")
    click.echo()


def _default(each: dict[str, Any]) -> str:
    if each["needed"]:
        return "needed"
    value = each["default"]
    said = "none" if value in (None, {}) else f"{value:g}" if isinstance(value, float) else value
    return f"{said} ({each['otherwise']})" if each["otherwise"] else str(said)


def _by_reason(one: dict[str, Any]) -> dict[str, list[str]]:
    """The choices that one does not go with, by the reason."""
    found: dict[str, list[str]] = {}
    for pair in one["refused"]:
        own = (pair["axis"], pair["name"]) == (one["axis"], one["name"])
        other = (f"{pair['other_axis']}.{pair['other']}" if own
                 else f"{pair['axis']}.{pair['name']}")
        found.setdefault(pair["reason"], []).append(other)
    return found
