"""`wattline agent`: what runs on each node, and what belongs to it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from wattline.cli.choices import Group
from wattline.cli.output import json_option, print_json
from wattline.model.errors import InputError

config_option = click.option(
    "--config", "file", type=click.Path(exists=True, path_type=Path), metavar="FILE",
    help="The agent's file: broker, keys, sensor, limits.")


@click.group(cls=Group, invoke_without_command=True)
@config_option
@json_option
@click.pass_context
def command(context: click.Context, file: Path | None, as_json: bool) -> None:
    """Read the power of this node, report it, and hold the caps that a controller orders.

    It acts on signed orders alone, within the limits of its own file, and puts back what it found
    when it stops. Without limits.knobs it only reads. It goes on until Ctrl-C or SIGTERM.
    """
    if context.invoked_subcommand is not None:
        return
    from wattline.live.agent.running import run_agent
    from wattline.live.agent.settings import read_settings

    settings = read_settings(_named(file))
    stopped: list[int] = []
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda number, frame: stopped.append(number))
    say = _sayer(as_json)
    say(f"{settings.node} of {settings.cluster}: a reading each {settings.every:g} s; orders may "
        f"set {', '.join(settings.limits.knobs) or 'nothing (limits.knobs is empty)'}")
    run_agent(settings, say=say, stop=lambda: bool(stopped))


@command.command()
@click.option("--job", required=True, metavar="JOB", help="Of whose prolog or epilog this is.")
@config_option
@json_option
def mark(job: str, file: Path | None, as_json: bool) -> None:
    """Tell the agent that runs here to take a reading now, for a job that begins or ends."""
    from wattline.live.agent.marks import mark as ask
    from wattline.live.agent.settings import read_settings

    settings = read_settings(_named(file))
    ask(settings.folder, job)
    if as_json:
        print_json({"node": settings.node, "job": job})
    else:
        click.echo(f"the agent of {settings.node} takes a reading for job {job}")


@command.command()
@config_option
@json_option
def restore(file: Path | None, as_json: bool) -> None:
    """Put back what a killed agent found on this node; no agent may run."""
    from wattline.live.agent.running import restore_node
    from wattline.live.agent.settings import read_settings

    restored = restore_node(read_settings(_named(file)))
    if as_json:
        print_json({"restored": restored})
        return
    for knob, value in restored.items():
        click.echo(f"{knob}: {value:g} W again")
    if not restored:
        click.echo("nothing had been changed")


@command.command()
@click.option("--folder", required=True, type=click.Path(path_type=Path), metavar="FOLDER",
              help="Where the files go; it must not be there yet.")
@click.option("--cluster", required=True, metavar="NAME",
              help="What the cluster is called; keys and certificates are for it alone.")
@click.option("--nodes", required=True, metavar="HOSTS", help="As a host list, n[001-016].")
@click.option("--host", required=True, metavar="HOST", help="Where the broker runs.")
@click.option("--port", type=click.IntRange(1, 65535), default=8883, show_default=True,
              help="Port on which the broker listens.")
@json_option
def keys(folder: Path, cluster: str, nodes: str, host: str, port: int, as_json: bool) -> None:
    """Make certificates and keys: for the broker, the controller and each node, a folder each."""
    from wattline.live.agent.settings import write_settings
    from wattline.live.transport.broker import make_broker_files
    from wattline.model.units import parse_hosts

    names = list(parse_hosts(nodes))
    files = make_broker_files(folder, cluster, names, host=host, port=port)
    for name in names:
        write_settings(files, name)
    if as_json:
        print_json({"folder": str(files.folder), "nodes": len(names),
                    "mosquitto_conf": str(files.configuration)})
        return
    click.echo(f"{len(names)} nodes. Run: mosquitto -c {files.configuration}\n"
               f"Each node gets its folder of {files.folder} and runs: wattline agent --config "
               "agent.toml\nKeep ca.key and controller/order.key to yourself: who has them is "
               "obeyed.")


def _named(file: Path | None) -> Path:
    if file is None:
        raise InputError("--config is missing: the agent's file, agent.toml")
    return file


def _sayer(as_json: bool) -> Callable[[str], None]:
    def say(what: str) -> None:
        said: dict[str, Any] = {"time_s": time.time(), "said": what}
        if as_json:
            print_json(said)
        else:
            click.echo(f"wattline: {what}", err=True)

    return say
