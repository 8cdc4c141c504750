"""Serving from Python: a source by name, and uvicorn around the application."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wattline.model.errors import InputError
from wattline.web.settings import Settings

if TYPE_CHECKING:
    from wattline.web.sources.run_joules import Rates
    from wattline.web.sources.shape import Source


def open_source(
    *, demo: bool = False, run: str | Path | None = None, live: bool = False,
    config: str | Path | None = None, speed: float | None = None, at_s: float | None = None,
    rates: Rates | None = None,
) -> Source:
    """The source that is asked for: exactly one of the demo, a run folder, the live machine."""
    if sum((demo, run is not None, live)) != 1:
        raise InputError("give one of: the demo, a run folder, the live machine")
    if demo:
        from wattline.web.sources.demo import DemoSource

        return DemoSource(speed=60.0 if speed is None else speed)
    if run is not None:
        from wattline.web.sources.run_folder import open_run_folder

        return open_run_folder(run, speed=speed or 0.0, at_s=at_s, rates=rates)
    raise InputError("only the demo and runs can be served")


def serve(source: Source, settings: Settings | None = None) -> None:
    """Serve a source until Ctrl-C."""
    try:
        import uvicorn

        from wattline.web.app import create_app
    except ImportError as error:
        raise InputError(f"the server needs {error.name}: pip install 'wattline[web]'") from None
    found = settings or Settings()
    uvicorn.run(create_app(source, found), host=found.host, port=found.port, log_level="warning",
                timeout_graceful_shutdown=1, server_header=False, access_log=False)
