"""`wattline network load`: what an interconnect carries when all nodes send."""

from __future__ import annotations

import click

from wattline.cli.choices import Choice
from wattline.cli.finite import FINITE
from wattline.cli.output import json_option, print_json, print_table, progress


@click.command("load")
@click.argument("machine")
@click.option("--pattern", type=Choice(["uniform", "adversarial", "incast"]), default="uniform",
              show_default=True,
              help="Who sends to whom: all to all, each group to the next, or all to one node.")
@click.option("--routing", type=Choice(["minimal", "valiant", "adaptive", "ugal"]),
              default="adaptive", show_default=True, help="How messages find their way.")
@click.option("--model", type=Choice(["flow", "packet"]), default="packet", show_default=True,
              help="By flows that share links fairly, or packet by packet.")
@click.option("--threshold", type=FINITE, metavar="X",
              help="Adaptive routing, packet by packet: a detour needs more than X times the "
                   "room of the direct way (2).")
@click.option("--messages", type=click.IntRange(min=1), default=200, show_default=True,
              help="Messages of 1 KB that each node sends.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="Seed of the messages and of detours.")
@json_option
def load(machine: str, pattern: str, routing: str, model: str, threshold: float | None,
         messages: int, seed: int, as_json: bool) -> None:
    """Throughput of MACHINE, as part of the rate of a node's link, when all nodes send at once."""
    from wattline.advice.network import network_load

    with progress("sending", spoken=True) as advance:
        found = network_load(machine, pattern=pattern, routing=routing, model=model,
                             threshold=threshold, messages=messages, seed=seed,
                             say=lambda text: click.echo(f"wattline: {text}", err=True),
                             progress=advance)
    if as_json:
        print_json(found)
        return
    print_table(("", found["machine"]),
                [(key.replace("_", " "), "-" if value is None else value)
                 for key, value in found.items() if key not in ("machine", "remarks")])
    for remark in found["remarks"]:
        click.echo(f"\n{remark}")
