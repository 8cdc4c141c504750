"""How commands speak: JSON for programs, aligned tables for people, progress on a terminal."""

from __future__ import annotations

import json
import math
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from wattline.cli.visible import own_stream, visible
from wattline.model.progress import Advance

if TYPE_CHECKING:
    from wattline.analysis.summary import ComparedFigure

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")

SPOKEN_EACH_S = 20.0
"""How often what takes minutes says in a pipe how far it is."""


def print_json(value: Any, indent: int | None = 2) -> None:
    """Print as JSON, without `indent` in one line; NaN and infinity become null."""
    click.echo(json.dumps(_plain(value), indent=indent))


def print_table(headers: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Print aligned columns, numbers to the right."""
    rows = [list(row) for row in rows]
    cells = [[_cell(value) for value in row] for row in rows]
    numeric = [
        bool(rows) and all(row[i] is None or isinstance(row[i], (int, float)) for row in rows)
        for i in range(len(headers))
    ]
    widths = [max(len(h), *(len(r[i]) for r in cells), 0) for i, h in enumerate(headers)]
    if title:
        click.echo(title)
    for line in [list(headers), ["-" * w for w in widths], *cells]:
        padded = (
            text.rjust(w) if right else text.ljust(w)
            for text, w, right in zip(line, widths, numeric, strict=True)
        )
        click.echo("  ".join(padded).rstrip())


def print_comparison(names: Sequence[str], rows: Sequence[ComparedFigure]) -> None:
    """Print runs side by side, below one another where a terminal is too narrow for all."""
    from wattline.analysis.summary import comparison

    headers, lines = comparison(names, rows)
    blocks = list(folded(headers, lines, terminal_width()))
    for number, columns in enumerate(blocks):
        if number:
            click.echo()
        print_table([headers[i] for i in columns], [[line[i] for i in columns] for line in lines])


def terminal_width() -> int | None:
    """Columns of the terminal; None in a pipe or a file, where lines may be as long as they are."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def folded(headers: Sequence[str], lines: Sequence[Sequence[str]],
           width: int | None) -> Iterator[list[int]]:
    """Columns of a comparison in blocks that fit: each with figure and unit, then whole runs."""
    wide = [2 + max(len(row[i]) for row in (headers, *lines)) for i in range(len(headers))]
    begin = wide[0] + wide[1] - 2
    block, used = [0, 1], begin
    for run in [[2], *([i, i + 1] for i in range(3, len(headers), 2))]:
        taken = sum(wide[i] for i in run)
        if width is not None and len(block) > 2 and used + taken > width:
            yield block
            block, used = [0, 1], begin
        block += run
        used += taken
    yield block


def share_text(share: float) -> str:
    """`12.3%`; a share of nothing is `-`."""
    return "-" if math.isnan(share) else f"{share:z.1%}"


@contextmanager
def progress(
    title: str, remaining: bool = False, *, spoken: bool = False
) -> Iterator[Advance]:
    """A progress bar on a terminal, nothing in a pipe; also with how long it will still take.

    What takes minutes may be `spoken`: in a pipe a line from time to time then says how far it is.
    """
    if not sys.stderr.isatty():
        yield _spoken(title) if spoken else lambda fraction: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}", markup=False), BarColumn(),
               TaskProgressColumn("{task.percentage:>5.1f}%"),
               TimeElapsedColumn(),
               *((TextColumn("left"), TimeRemainingColumn()) if remaining else ()))
    console = Console(file=own_stream(sys.stderr))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(visible(title), total=1.0)
        yield lambda fraction: bar.update(task, completed=fraction)


def _spoken(title: str) -> Advance:
    began_s = said_s = time.monotonic()

    def advance(fraction: float) -> None:
        nonlocal said_s
        now_s = time.monotonic()
        if now_s - said_s >= SPOKEN_EACH_S:
            said_s = now_s
            # The first per cent may take minutes: its tenths say that something goes on.
            done = f"{fraction:.0%}" if fraction >= 0.1 else f"{fraction:.1%}"
            click.echo(f"wattline: {title}, {done}, {now_s - began_s:.0f} s so far",
                       err=True)

    return advance


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        # From here on four digits would be written with an exponent.
        return f"{value:,.4g}" if abs(value) < 9999.5 else f"{value:,.0f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return visible(str(value))
