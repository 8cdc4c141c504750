"""`wattline serve`: the dashboard, on loopback unless it is secured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wattline.cli.choices import Group
from wattline.cli.finite import FiniteRange
from wattline.cli.live_options import USUAL
from wattline.cli.needs import given, option
from wattline.cli.output import json_option, print_json, print_table, progress

FILE = click.Path(path_type=Path)
TOKENS = Path("/etc/wattline/tokens")
tokens_file = click.option("--tokens", "file", type=FILE, default=TOKENS, show_default=True,
                           metavar="FILE", help="The file of tokens.")


@click.group(cls=Group, invoke_without_command=True,
             short_help="Serve the dashboard: the machine, its jobs, what if.")
@click.option("--demo", is_flag=True, help="A simulated machine, in real time or faster. [default]")
@click.option("--run", "run", type=FILE, metavar="FOLDER", help="A run folder.")
@click.option("--live", is_flag=True, help="The machine whose controller runs now.")
@option("--config", type=FILE, metavar="FILE",
        help=f"With --live: the controller's file. [default: {USUAL}]", needs=given("live"))
@click.option("--speed", type=FiniteRange(min=0, max=1e6), metavar="X",
              help="Seconds of the machine per second. [default: 60 of the demo, 0 of a run]")
@click.option("--at", metavar="TIME",
              help="Of a run: where it stands, like 36h. [default: its end]")
@click.option("--price", metavar="X|FILE",
              help="Price of a kWh, like 0.12 or 0.12EUR, or a table of prices.")
@click.option("--carbon", metavar="X|FILE",
              help="Grams of CO2 per kWh, like 300, or a table.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS",
              help="Where to listen; beyond this machine only with TLS and tokens, or --proxy.")
@click.option("--port", type=click.IntRange(0, 65535), default=8750, show_default=True,
              help="0: a free one.")
@click.option("--tls-cert", type=FILE, metavar="FILE",
              help="The server's certificate, with which it speaks HTTPS; needs --tls-key.")
@click.option("--tls-key", type=FILE, metavar="FILE",
              help="The private key of that certificate.")
@click.option("--tokens", type=FILE, metavar="FILE",
              help="Who may come, as `wattline serve token add` writes it.")
@click.option("--proxy", default="", metavar="ADDRESS",
              help="The site's reverse proxy, which says who comes.")
@click.option("--user-header", default="X-Remote-User", show_default=True, metavar="NAME",
              help="The header in which it says so.")
@click.option("--operator", "operators", multiple=True, metavar="USER",
              help="Who may change the machine: a user of the proxy's, or with --live on loopback "
                   "one of this machine; may be repeated.")
@click.option("--name", "names", multiple=True, metavar="HOST",
              help="A host name under which people reach the server; may be repeated.")
@click.option("--journal", type=FILE, metavar="FILE",
              help="Where operators' actions are written. [default with --live: actions.jsonl in "
                   "the controller's folder]")
@click.option("--stale", default="10s", show_default=True, metavar="TIME",
              help="A source that has said nothing for so long is shown as silent.")
@click.option("--warm/--no-warm", default=True, show_default=True,
              help="Compile at the start what a first what-if needs.")
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Serve the dashboard and its API until Ctrl-C.

    Pages and API are on loopback, where everybody on this machine may look, and operate what is
    simulated; a live machine is operated by whom --operator names. With --tokens people log in.
    See docs/web.md.
    """
    if context.invoked_subcommand is not None:
        return
    from wattline.web.serving import SERVED, serve

    source = {name: given.pop(name) for name in SERVED}
    with progress("opening") as advance:
        serve(**source, **given, say=lambda text: click.echo(f"wattline: {text}", err=True),
              progress=advance)


@command.group(cls=Group)
def token() -> None:
    """Tokens with which people and programs come."""


@token.command()
@click.argument("name")
@click.option("--role", default="viewer", show_default=True, metavar="ROLE",
              help="owner (its own jobs), viewer (all jobs) or operator (may change the machine).")
@tokens_file
@json_option
def add(name: str, role: str, file: Path, as_json: bool) -> None:
    """Make a token for NAME and print it: it is shown once, and only its digest is kept.

    A token of the role owner sees the jobs of the user whose name it has.
    """
    from wattline.web.security.tokens import add_token

    secret = add_token(file, name, role)
    if as_json:
        print_json({"name": name, "role": role, "token": secret, "file": str(file)})
        return
    click.echo(secret)
    click.echo(f"note: it is not kept; {file} has its digest", err=True)


@token.command()
@click.argument("name")
@tokens_file
def remove(name: str, file: Path) -> None:
    """Take the token of NAME away; a server that runs knows at once."""
    from wattline.web.security.tokens import remove_token

    remove_token(file, name)
    click.echo(f"removed {name}")


@token.command("list")
@tokens_file
@json_option
def listed(file: Path, as_json: bool) -> None:
    """List names and roles."""
    from wattline.web.security.tokens import read_tokens

    rows = [{"name": each.name, "role": each.role.word, "made": each.made}
            for each in read_tokens(file)]
    if as_json:
        print_json({"tokens": rows})
        return
    print_table(["name", "role", "made"], [list(row.values()) for row in rows])
