"""A machine by a few figures, for commands that are asked about one without a scenario."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wattline.cli.finite import FINITE
from wattline.cli.needs import Need, option

if TYPE_CHECKING:
    from wattline.scenario.objects import Machine

F = TypeVar("F", bound=Callable[..., Any])

POWERS = ("node_idle_w", "node_active_w", "node_off_w")


def machine_options(
    *needs: Need, of: dict[str, tuple[Need, ...]] | None = None, else_from: str = "",
) -> Callable[[F], F]:
    """The options; `needs` hold of each, `of` has more of single ones.

    None has a default that stands for a machine: what is not given is asked for, or comes
    `else_from`.
    """
    unless = f" [default: {else_from}]" if else_from else ""
    options = (
        ("--nodes", click.IntRange(min=1), f"Nodes of the machine.{unless}"),
        ("--cores", click.IntRange(min=1), f"Cores of a node. [default: {else_from or 1}]"),
        ("--node-idle-w", FINITE, "Watts of an idle node."),
        ("--node-active-w", FINITE, "Watts of a node with all cores busy."),
        ("--node-off-w", FINITE, "Watts of a node that is switched off. [default: 0]"),
        ("--nodes-per-rack", click.IntRange(min=0),
         "Nodes of a rack; 0: all in one rack. [default: 0]"),
    )

    def add(command: F) -> F:
        for name, kind, text in reversed(options):
            more = (of or {}).get(name.removeprefix("--").replace("-", "_"), ())
            command = option(name, type=kind, help=text, needs=(*needs, *more))(command)
        return command

    return add


def machine_of(options: dict[str, Any]) -> Machine:
    """The machine that the options describe, as far as they do."""
    from wattline.scenario.objects import Machine

    fields = {"nodes": options["nodes"], "cores_per_node": options["cores"],
              "nodes_per_rack": options["nodes_per_rack"] or None,
              **{name: options[name] for name in POWERS}}
    return Machine(**{name: value for name, value in fields.items() if value is not None})
