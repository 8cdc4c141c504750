"""`wattline petri`: look at a coloured Petri net, run it, walk through it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.choices import Choice, Group
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.model.errors import InputError
from wattline.model.progress import Advance

if TYPE_CHECKING:
    from wattline.petri.simulate import Simulation


@click.group(cls=Group)
def command() -> None:
    """Coloured Petri nets: the executable specification of the power policies."""


def _workload_options(function: Callable[..., Any]) -> Callable[..., Any]:
    options = [
        click.argument("net", metavar="NET"),
        click.option("--trace", type=click.Path(path_type=Path), help="Job log (SWF) for puppet."),
        click.option("--nodes", type=click.IntRange(min=1),
                     help="Nodes of the machine (with --trace)."),
        click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True,
                     help="Take only so many jobs of the log."),
        click.option("--order", type=Choice(["fcfs", "wfp"]), default="fcfs", show_default=True,
                     help="Order of the queue."),
        click.option("--power-policy", "power", type=Choice(["none", "block", "wait", "dvfs"]),
                     default="wait", show_default=True, help="How the cap is kept."),
        click.option("--cap", help="Watts, like 3.2MW, or a part (up to 1) of full power; "
                                   "default 0.7."),
        click.option("--node-active-w", type=float, default=100.0, show_default=True,
                     help="Power of a busy node where the log has none."),
        click.option("--idle-fraction", type=float, default=0.3, show_default=True,
                     help="Idle power of a node relative to that."),
        click.option("--wait-time", "wait_time_s", type=float, default=30_000.0, show_default=True,
                     help="Seconds in the wait queue before a job blocks all others."),
        click.option("--wait-slots", type=click.IntRange(min=0), default=10, show_default=True,
                     help="Length of the wait queue."),
        click.option("--latency", "latency_s", type=float, default=0.0, show_default=True,
                     help="Seconds for which a change of frequency stops running jobs (dvfs)."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


@command.command("list")
@json_option
def list_nets(as_json: bool) -> None:
    """List the nets that are built in."""
    from wattline.advice.nets import list_nets as listed

    if as_json:
        print_json(listed())
        return
    print_table(("net", "what it is"), list(listed().items()))


@command.command()
@_workload_options
@click.option("-o", "--out", type=click.Path(path_type=Path), metavar="FILE",
              help="SVG file, replaced where it exists; default: NET.svg, which is not replaced.")
@click.option("--page", default="", help="Draw only this page.")
@click.option("--after", type=click.IntRange(min=0), default=0, show_default=True,
              help="Fire so many transitions first.")
@json_option
def show(net: str, out: Path | None, page: str, after: int, as_json: bool, **workload: Any) -> None:
    """Draw a net as SVG: modules as subpages, tokens on places."""
    from wattline.advice.nets import run_net

    found = run_net(net, max_firings=after, **_given(net, workload))
    target = out or _unused(Path(f"{net}.svg"))
    sheets = found.draw(target, page)
    if as_json:
        print_json({"file": str(target), "time_s": found.time_s, "fired": found.fired,
                    "pages": [sheet.name for sheet in sheets], "places": found.marking()})
        return
    click.echo(f"{target}: {', '.join(sheet.name for sheet in sheets)}")


@command.command()
@_workload_options
@click.option("--seed", type=int, help="Choose among equally urgent firings at random.")
@json_option
def run(net: str, as_json: bool, seed: int | None, **workload: Any) -> None:
    """Run a net to its end by the clock."""
    from wattline.advice.nets import run_net

    began = time.perf_counter()
    with progress("firing transitions") as advance:
        found = run_net(net, seed=seed, on_instant=_Watch(advance), **_given(net, workload))
    seconds = time.perf_counter() - began
    result = found.to_dict() | {"seconds": seconds,
                                "firings_per_s": found.fired / max(seconds, 1e-9)}
    if as_json:
        print_json(result)
        return
    click.echo(found.simulation.net.about)
    click.echo(f"{found.fired} firings to t = {found.time_s:g} s "
               f"({result['firings_per_s']:,.0f} per second)")
    print_table(("place", "tokens", "first values"), [
        (path, held["count"], "; ".join(held["values"][:3])) for path, held in
        result["places"].items() if held["count"]])


@command.command()
@_workload_options
@json_option
def step(net: str, as_json: bool, **workload: Any) -> None:
    """Walk through a net: see what is enabled, fire, see the marking. Type 'help'.

    Commands also come from a pipe, one a line: printf '1\\nrun 5\\nmarking\\n' | wattline petri
    step puppet
    """
    from wattline.advice.nets import NetRun, open_net
    from wattline.petri.walk import Walk

    simulation = open_net(net, **_given(net, workload))
    quiet = as_json
    walk = Walk(simulation, (lambda text: None) if quiet else click.echo)
    terminal = sys.stdin.isatty()
    if not quiet:
        click.echo(simulation.net.about)
    number = 0
    while not walk.over:
        if not quiet:
            for line in walk.enabled_lines():
                click.echo(line)
        if terminal:
            click.echo("petri> ", nl=False, err=quiet)
        typed = sys.stdin.readline()
        if not typed:
            if terminal:
                click.echo(err=quiet)  # the shell's prompt gets a line of its own
            break
        number += 1
        try:
            walk.do(typed)
        except InputError as error:
            if not terminal:
                raise InputError(f"line {number} of the input: {error}") from None
            click.echo(str(error), err=True)
    if as_json:
        print_json({"net": net, "time_s": simulation.now_s, "fired": walk.log,
                    "enabled": [firing.transition.path for firing in simulation.enabled()],
                    "places": NetRun(net, simulation).marking()})


def _given(net: str, workload: dict[str, Any]) -> dict[str, Any]:
    """The workload of `puppet`, the only net that takes one; no other was asked for."""
    return workload if net == "puppet" else {}


class _Watch:
    """Progress by the time of the last token that was to come at the beginning."""

    def __init__(self, advance: Advance) -> None:
        self.advance, self.end_s = advance, 0.0

    def __call__(self, moved: Simulation) -> None:
        if not self.end_s:
            self.end_s = max((token[0] for tokens in moved.marking for token in tokens.list),
                             default=0.0)
        self.advance(min(1.0, moved.now_s / self.end_s if self.end_s else 1.0))


def _unused(target: Path) -> Path:
    if target.exists():
        raise InputError(f"{target} exists already; name the file to write with -o FILE, which "
                         "replaces one that is there")
    return target
