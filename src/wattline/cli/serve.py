"""`wattline serve`: the dashboard, on loopback unless it is secured."""

from __future__ import annotations

from pathlib import Path

import click

from wattline.cli.live_options import USUAL
from wattline.cli.output import progress


@click.command("serve", short_help="Serve the dashboard: the machine, its jobs, what if.")
@click.option("--demo", is_flag=True, help="A simulated machine, in real time or faster.")
@click.option("--run", "run", type=click.Path(path_type=Path), metavar="FOLDER",
              help="A run folder.")
@click.option("--live", is_flag=True, help="The machine whose controller runs now.")
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE",
              help=f"With --live: the controller's file. [default: {USUAL}]")
@click.option("--speed", type=click.FloatRange(min=0, max=1e6), metavar="X",
              help="Seconds of the machine per second. [default: 60 for --demo, 0 for --run]")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS",
              help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=8750, show_default=True)
def command(demo: bool, run: Path | None, live: bool, config: Path | None, speed: float | None,
            host: str, port: int) -> None:
    """Serve the dashboard and its API until Ctrl-C.

    Without --run and --live it is the demo.
    """
    from wattline.web.serving import open_source, serve
    from wattline.web.settings import Settings

    settings = Settings(host=host, port=port)
    with progress("opening"):
        source = open_source(demo=demo or (run is None and not live), run=run, live=live,
                             config=config, speed=speed)
    click.echo(f"wattline: http://{host}:{port}/ (Ctrl-C ends it)", err=True)
    serve(source, settings)
