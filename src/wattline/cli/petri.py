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
from wattline.model.files import write_whole
from wattline.model.progress import Advance

if TYPE_CHECKING:
    from wattline.petri.net import Net
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
        click.option("--power-policy", "policy", type=Choice(["none", "block", "wait", "dvfs"]),
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
    from wattline.petri.examples import NETS

    if as_json:
        print_json({name: about for name, (about, _) in NETS.items()})
        return
    print_table(("net", "what it is"), [(name, about) for name, (about, _) in NETS.items()])


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
    from wattline.petri.draw import layout, svg

    simulation = _simulation(net, workload)
    target = out or _unused(Path(f"{net}.svg"))
    simulation.run(max_firings=after)
    sheets = layout(simulation, page)
    title = f"{simulation.net.about} (t = {simulation.now_s:g} s, {simulation.fired} fired)"
    _write(target, svg(sheets, title))
    if as_json:
        print_json({"file": str(target), "time_s": simulation.now_s, "fired": simulation.fired,
                    "pages": [sheet.name for sheet in sheets], "places": _marking(simulation)})
        return
    click.echo(f"{target}: {', '.join(sheet.name for sheet in sheets)}")


@command.command()
@_workload_options
@click.option("--seed", type=int, help="Choose among equally urgent firings at random.")
@json_option
def run(net: str, as_json: bool, seed: int | None, **workload: Any) -> None:
    """Run a net to its end by the clock."""
    import numpy as np

    simulation = _simulation(net, workload)
    if seed is not None:
        simulation.chooser = np.random.default_rng(seed)
    began = time.perf_counter()
    with progress("firing transitions") as advance:
        simulation.run(on_instant=_watch(simulation, advance))
    seconds = time.perf_counter() - began
    result = {"net": net, "time_s": simulation.now_s, "fired": simulation.fired,
              "seconds": seconds, "firings_per_s": simulation.fired / max(seconds, 1e-9),
              "places": _marking(simulation)}
    if as_json:
        print_json(result)
        return
    click.echo(simulation.net.about)
    click.echo(f"{simulation.fired} firings to t = {simulation.now_s:g} s "
               f"({result['firings_per_s']:,.0f} a second)")
    print_table(("place", "tokens", "first values"), [
        (path, held["count"], "; ".join(held["values"][:3])) for path, held in
        _marking(simulation).items() if held["count"]])


@command.command()
@_workload_options
@json_option
def step(net: str, as_json: bool, **workload: Any) -> None:
    """Walk through a net: see what is enabled, fire, see the marking. Type 'help'.

    Commands also come from a pipe, one a line: printf '1\\nrun 5\\nmarking\\n' | wattline petri
    step puppet
    """
    from wattline.petri.walk import Walk

    simulation = _simulation(net, workload)
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
                    "places": _marking(simulation)})


def _simulation(name: str, workload: dict[str, Any]) -> Simulation:
    from wattline.petri.examples import NETS
    from wattline.petri.simulate import Simulation

    if name not in NETS:
        raise InputError(f"there is no net '{name}'; there are {', '.join(NETS)}")
    net = _puppet(workload) if name == "puppet" else NETS[name][1]()
    return Simulation(net)


def _puppet(workload: dict[str, Any]) -> Net:
    from wattline.model.units import parse_power
    from wattline.petri.examples import DEMO_NODES, demo_jobs, demo_rules
    from wattline.petri.puppet import jobs_from_table, puppet_net

    node_w = workload["node_active_w"]
    if not 0 < node_w < float("inf"):
        raise InputError(f"--node-active-w is {node_w}, must be > 0")
    if not 0 <= workload["idle_fraction"] <= 1:
        raise InputError(f"--idle-fraction is {workload['idle_fraction']}, must be in [0, 1]")
    if workload["trace"] is None:
        jobs, nodes = demo_jobs(), workload["nodes"] or DEMO_NODES
    else:
        if not workload["nodes"]:
            raise InputError("--trace needs --nodes, the size of the machine")
        from wattline.traces.reader import read

        nodes = workload["nodes"]
        table = read(workload["trace"], machine_procs=nodes).jobs
        jobs = jobs_from_table(table.take(_first(len(table), workload["limit"])), node_w)
    idle_w = node_w * workload["idle_fraction"]
    rules = demo_rules(workload["policy"], nodes, idle_w, workload["wait_time_s"],
                       workload["wait_slots"], workload["latency_s"])
    cap_w = parse_power(workload["cap"]) if workload["cap"] else 0.7
    if cap_w <= 0:
        raise InputError(f"--cap is {workload['cap']}, must be above 0")
    if cap_w <= 1:
        cap_w *= nodes * node_w
    if workload["policy"] == "none":
        cap_w = float("inf")
    if cap_w < nodes * idle_w:
        raise InputError(f"--cap is {cap_w:g} W, below the idle power of {nodes} nodes "
                         f"({nodes * idle_w:g} W)")
    return puppet_net(jobs, rules, workload["order"], cap_w)


def _first(count: int, limit: int) -> Any:
    import numpy as np

    return np.arange(min(count, limit))


def _marking(simulation: Simulation) -> dict[str, dict[str, Any]]:
    from wattline.petri.draw import show_value

    return {
        tokens.name: {"count": tokens.count(), "colour": tokens.colour.name,
                      "values": [show_value(value, 200) for _, _, value in tokens.list]}
        for tokens in simulation.marking
    }


def _watch(simulation: Simulation, advance: Advance) -> Callable[[Simulation], None]:
    """Progress by the time of the last token that is to come, as far as it is known now."""
    end_s = max((token[0] for tokens in simulation.marking for token in tokens.list), default=0.0)
    return lambda moved: advance(min(1.0, moved.now_s / end_s if end_s else 1.0))


def _unused(target: Path) -> Path:
    if target.exists():
        raise InputError(f"{target} exists already; name the file to write with -o FILE, which "
                         "replaces one that is there")
    return target


def _write(target: Path, text: str) -> None:
    """Write whole or not at all, in a folder that need not be there yet."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}") from error
    write_whole(target, text)
