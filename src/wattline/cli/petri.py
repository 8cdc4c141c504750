"""`wattline petri`: look at a coloured Petri net, run it, walk through it, take it elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.choices import Choice, Group
from wattline.cli.finite import FINITE
from wattline.cli.needs import among, option
from wattline.cli.output import json_option, print_json, print_table, progress
from wattline.model.errors import InputError
from wattline.model.progress import Advance
from wattline.model.units import counted, plain_number

if TYPE_CHECKING:
    from wattline.petri.simulate import Simulation


PUPPET = among("net", "puppet", why="other nets have a workload of their own")


@click.group(cls=Group)
def command() -> None:
    """Coloured Petri nets: the executable specification of the power policies."""


def _workload_options(function: Callable[..., Any]) -> Callable[..., Any]:
    options = [
        click.argument("net", metavar="NET"),
        option("--trace", type=click.Path(path_type=Path), help="Job log (SWF) for puppet.",
               needs=PUPPET),
        option("--nodes", type=click.IntRange(min=1),
               help="Nodes of the machine (with --trace); default: by the log's header.",
               needs=PUPPET),
        option("--cores-per-node", type=click.IntRange(min=1),
               help="Processors of the log that make a node; default: by its header.",
               needs=PUPPET),
        option("--limit", type=click.IntRange(min=1), default=100, show_default=True,
               metavar="N", help="Take only the first N jobs of the log.", needs=PUPPET),
        option("--order", type=Choice(["fcfs", "wfp"]), default="fcfs", show_default=True,
               help="Order of the queue.", needs=PUPPET),
        option("--power-policy", "power", type=Choice(["none", "block", "wait", "dvfs"]),
               default="wait", show_default=True, help="How the cap is kept.", needs=PUPPET),
        option("--cap", metavar="WATTS|PERCENT|FILE",
               help="Watts, like 3.2MW, per cent of rated power (70%), or a CSV file of "
                    "time,watts: dates, or seconds from the first submission; default 70%.",
               needs=PUPPET),
        option("--node-active-w", type=FINITE, default=100.0, show_default=True,
               help="Power of a busy node where the log has none.", needs=PUPPET),
        option("--idle-fraction", type=FINITE, default=0.3, show_default=True,
               help="Idle power of a node relative to that.", needs=PUPPET),
        option("--wait-time", "wait_time_s", type=FINITE, default=30_000.0, show_default=True,
               help="Seconds in the wait queue before a job blocks all others.",
               needs=PUPPET),
        option("--wait-slots", type=click.IntRange(min=0), default=10, show_default=True,
               help="Length of the wait queue.", needs=PUPPET),
        option("--latency", "latency_s", type=FINITE, default=0.0, show_default=True,
               help="Seconds for which a change of frequency stops running jobs (dvfs).",
               needs=PUPPET),
        option("--levels", metavar="F,F,...", help="Relative frequencies, rising (dvfs); "
                                                   "default 0.5,0.6,0.7,0.8,0.9,1.",
               needs=PUPPET),
        option("--alpha", type=FINITE, default=2.0, show_default=True,
               help="Power of a core ~ frequency^alpha (dvfs).", needs=PUPPET),
        option("--beta", type=FINITE, default=0.5, show_default=True,
               help="Run time ~ frequency^-beta (dvfs).", needs=PUPPET),
        option("--core-share", type=FINITE, default=0.65, show_default=True,
               help="Part of a job's power that follows the frequency (dvfs).",
               needs=PUPPET),
        option("--cap-counts", type=Choice(["machine", "jobs"]), default="machine",
               show_default=True, help="What the cap limits: idle nodes too, or jobs only.",
               needs=PUPPET),
        click.option("--skeleton", is_flag=True,
                     help="Without colours, guards, times and priorities."),
    ]
    for add in reversed(options):
        function = add(function)
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
@click.option("--after", type=click.IntRange(min=0), default=0, show_default=True, metavar="N",
              help="Fire N transitions first.")
@json_option
def show(net: str, out: Path | None, page: str, after: int, as_json: bool, **workload: Any) -> None:
    """Draw a net as SVG: modules as subpages, tokens on places.

    NET is a net of `wattline petri list` or a file (.toml, .pnml).
    """
    from wattline.advice.nets import run_net

    found = run_net(net, max_firings=after, **_given(net, workload))
    target = out or _unused(Path(f"{Path(net).stem}.svg"))
    sheets = found.draw(target, page)
    _say(found.remarks)
    if as_json:
        print_json({"file": str(target), "time_s": found.time_s, "fired": found.fired,
                    "pages": [sheet.name for sheet in sheets], "places": found.marking(),
                    "remarks": list(found.remarks)})
        return
    click.echo(f"{target}: {', '.join(sheet.name for sheet in sheets)}")


@command.command()
@_workload_options
@click.option("--seed", type=int, help="Choose among equally urgent firings at random.")
@click.option("--firings", type=click.IntRange(min=1), metavar="N",
              help="Stop after N firings; default for a net from a file 100,000.")
@json_option
def run(net: str, as_json: bool, seed: int | None, firings: int | None, **workload: Any) -> None:
    """Run a net to its end by the clock.

    NET is a net of `wattline petri list` or a file (.toml, .pnml).
    """
    from wattline.advice.nets import run_net

    began = time.perf_counter()
    with progress("firing transitions") as advance:
        found = run_net(net, seed=seed, max_firings=firings, on_instant=_Watch(advance),
                        **_given(net, workload))
    seconds = time.perf_counter() - began
    result = found.to_dict() | {"seconds": seconds,
                                "firings_per_s": found.fired / max(seconds, 1e-9)}
    if found.stopped and firings is not None:
        result["remarks"].append(f"stopped after {counted(firings, 'firing')}, as asked: the net "
                                 "could go on")
    _say(result["remarks"])
    if as_json:
        print_json(result)
        return
    click.echo(found.simulation.net.about)
    click.echo(f"{counted(found.fired, 'firing')} to t = {found.time_s:g} s "
               f"({result['firings_per_s']:,.0f} per second)")
    print_table(("place", "tokens", "first values"), [
        (path, held["count"], "; ".join(held["values"][:3])) for path, held in
        result["places"].items() if held["count"]])


@command.command()
@_workload_options
@json_option
def step(net: str, as_json: bool, **workload: Any) -> None:
    """Walk through a net: see what is enabled, fire, see the marking. Type 'help'.

    Commands also come from a pipe, one per line: printf '1\\nrun 5\\nmarking\\n' | wattline petri
    step puppet
    """
    from wattline.advice.nets import NetRun, open_net
    from wattline.petri.walk import Walk

    simulation = open_net(net, **_given(net, workload))
    _say(simulation.net.remarks)
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


@command.command()
@_workload_options
@click.option("-o", "--out", type=click.Path(path_type=Path), metavar="FILE",
              help="PNML file, replaced where it exists; default: NET.pnml, which is not replaced.")
@json_option
def export(net: str, out: Path | None, as_json: bool, **workload: Any) -> None:
    """Write a net as PNML (ISO/IEC 15909-2), for other tools; most read its --skeleton.

    NET is a net of `wattline petri list` or a file (.toml, .pnml).
    """
    from wattline.advice.nets import write_net

    target = out or _unused(Path(f"{Path(net).stem}.pnml"))
    remarks = write_net(net, target, **_given(net, workload))
    _say(remarks)
    if as_json:
        print_json({"file": str(target), "remarks": list(remarks)})
        return
    click.echo(str(target))


@command.command()
@_workload_options
@click.option("--states", type=click.IntRange(min=1), default=10_000, show_default=True,
              help="Look at no more states than this.")
@click.option("--reach", multiple=True, metavar="PLACE=COUNT",
              help="Ask whether a state with these tokens can be reached; may be repeated.")
@json_option
def analyse(net: str, states: int, reach: tuple[str, ...], as_json: bool, **workload: Any) -> None:
    """Look at every state of a small net: dead ends, bounds, invariants, ways to a state.

    NET is a net of `wattline petri list` or a file (.toml, .pnml).
    """
    from wattline.advice.net_analysis import analyse_net

    with progress("looking at states") as advance:
        found = analyse_net(net, states=states, reach=_asked(reach), advance=advance,
                            **_given(net, workload))
    _say(found.remarks)
    if as_json:
        print_json(found.to_dict())
        return
    seen = "all" if found.complete else "not all"
    click.echo("1 state, which is " + f"{seen} there are" if found.states == 1
               else f"{found.states:,} states, which are {seen} of them")
    click.echo(f"bounded: {_said(found.bounded)}; can get stuck: {_said(found.can_get_stuck)} "
               f"({counted(found.dead_states, 'state')} in which nothing can happen)")
    if found.dead_end is not None:
        click.echo("the first of those has " + (", ".join(
            f"{place} {count}" for place, count in found.dead_end.tokens.items()) or "no token")
            + f", after {counted(len(found.dead_end.way), 'firing')}")
    if reach:
        way = found.reached
        click.echo("the state that was asked for: " + (
            "was not seen" if way is None else
            f"after {counted(len(way), 'firing')}: {', '.join(way[:20])}"
            + (", ..." if len(way) > 20 else "")))
    print_table(("place", "most tokens"), [
        (place, "no limit" if place in found.unbounded else count)
        for place, count in found.bounds.items()])
    for weights, total in found.place_invariants:
        click.echo(f"always: {_weighted(weights)} = {total}")
    for weights in found.transition_invariants:
        click.echo(f"as before after: {_weighted(weights)}")
    if found.never_fired:
        ever = "never" if found.complete else "not in the states seen"
        click.echo(f"{ever} fired: {', '.join(found.never_fired)}")


def _say(remarks: Iterable[str]) -> None:
    for line in remarks:
        click.echo(f"wattline: {line}", err=True)


def _asked(reach: tuple[str, ...]) -> dict[str, int]:
    asked = {}
    for text in reach:
        place, _, count = text.rpartition("=")
        if not place or not (count.isascii() and count.isdigit()):
            raise InputError(f"--reach is '{text}'; give a place and a count, like Done=3")
        asked[place] = int(count)
    return asked


def _said(answer: bool | None) -> str:
    return "not known" if answer is None else "yes" if answer else "no"


def _weighted(weights: dict[str, int]) -> str:
    return " + ".join(name if weight == 1 else f"{weight} x {name}"
                      for name, weight in weights.items())


def _given(net: str, workload: dict[str, Any]) -> dict[str, Any]:
    """What was said of the workload, which only `puppet` takes."""
    skeleton = {"skeleton": workload.pop("skeleton")}
    if workload["levels"] is not None:
        workload["levels"] = _levels(workload["levels"])
    else:
        del workload["levels"]
    if net == "puppet":
        return workload | skeleton
    return skeleton


def _levels(text: str) -> tuple[float, ...]:
    try:
        return tuple(plain_number(part.strip()) for part in text.split(","))
    except ValueError:
        raise InputError(f"--levels is '{text}'; give relative frequencies, like 0.4,0.7,1"
                         ) from None


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
