"""How far a workload on a test bed is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from wattline.cli.visible import own_stream, visible
from wattline.controller.testbed.progress import BedProgress, Tell

EACH_S = 10.0


@contextmanager
def saying_how_far(*, quiet: bool) -> Iterator[Tell]:
    """`quiet` holds in a pipe alone: who sits at a terminal sees the bar."""
    if not sys.stderr.isatty():
        yield (lambda at: None) if quiet else Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(bar_width=20), TimeElapsedColumn(),
               TextColumn("{task.description}", markup=False))
    console = Console(file=own_stream(sys.stderr))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda at: bar.update(task, completed=at.fraction, description=visible(at.sentence))


class Lines:
    """A line for each stage, and every ten seconds while jobs run."""

    def __init__(self) -> None:
        self._stage, self._said_s = "", 0.0

    def __call__(self, at: BedProgress) -> None:
        now_s = time.monotonic()
        if at.stage != self._stage or now_s - self._said_s >= EACH_S:
            self._stage, self._said_s = at.stage, now_s
            click.echo(f"wattline: {at.sentence}", err=True)
