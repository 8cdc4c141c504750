"""Say once that kernels are being compiled, so that nobody takes the wait for a hang."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click


@contextmanager
def compiled_once(what: str, takes: str) -> Iterator[None]:
    """Announce a first run on stderr; it is remembered until the sources change."""
    from wattline.model.kernel import PLAIN, cache_folder

    mark = cache_folder() / f"compiled-{what.replace(' ', '-')}"
    new = not PLAIN and not mark.exists()
    if new:
        click.echo(f"wattline: compiling {what}; this happens once and takes {takes}", err=True)
    yield
    if new:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
