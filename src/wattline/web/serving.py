"""Serving from Python: a source by name, and uvicorn around the application."""

from __future__ import annotations

import math
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.model.errors import InputError, WattlineError
from wattline.model.progress import Advance, silent
from wattline.model.units import parse_duration
from wattline.web.settings import HEADER_S, STALE_AFTER_S, Settings

if TYPE_CHECKING:
    from wattline.web.beat import Beat
    from wattline.web.security.connections import LimitedListener
    from wattline.web.sources.shape import Source

SERVED = ("demo", "run", "live", "config", "speed", "at", "price", "carbon")
"""Options that say what is served; the others say how."""
DEMO_SPEED = 60.0


def serve(
    *, demo: bool = False, run: str | Path | None = None, live: bool = False,
    config: str | Path | None = None, speed: float | None = None, at: float | str | None = None,
    price: float | str | None = None, carbon: float | str | None = None,
    host: str = "127.0.0.1", port: int = 8750, tls_cert: str | Path | None = None,
    tls_key: str | Path | None = None, tokens: str | Path | None = None, proxy: str = "",
    user_header: str = "X-Remote-User", operators: Iterable[str] = (), names: Iterable[str] = (),
    journal: str | Path | None = None, stale: float | str = STALE_AFTER_S, warm: bool = True,
    say: Callable[[str], object] = lambda text: None, progress: Advance = silent,
) -> None:
    """Serve the dashboard and its API until Ctrl-C: the demo, a run folder, or the live machine.

    `speed` is how many seconds of the machine pass per second, `at` where a run stands; `price` and
    `carbon` are per kWh, or tables of them over time. Beyond loopback it needs TLS and `tokens`, or
    the address of a `proxy`; `operators` are users whom the proxy names, or of this machine where
    the live one is served on loopback. `journal` is where operators' actions are written, and
    `stale` after how long a source counts as silent. `say` hears where it listens and who may come.

    >>> import wattline as wl
    >>> try:
    ...     wl.serve(demo=True, host="0.0.0.0")
    ... except wl.InputError as error:
    ...     print(str(error)[:40])
    0.0.0.0 can be reached from outside, and
    """
    settings = Settings(
        host=host, port=port, certificate=_path(tls_cert), key=_path(tls_key),
        tokens=_path(tokens), proxy=proxy, user_header=user_header, operators=tuple(operators),
        names=tuple(names), stale_after_s=_seconds("stale", stale), warm=warm,
        journal=_path(journal), real=live)
    _uvicorn()
    from wattline.web.security.exposure import refuse_exposed, said_at_start

    refuse_exposed(settings)
    _refuse_files(settings, run, config, price, carbon)
    with closing(_listening(settings)) as listener:
        source = open_source(
            demo=demo, run=run, live=live, config=config, speed=speed,
            at_s=None if at is None else _seconds("at", at), price=price, carbon=carbon,
            stale_after_s=settings.stale_after_s)
        progress(1.0)
        settings = _with_journal(settings, source)
        from wattline.web.app import create_app

        app = create_app(source, settings)
        scheme = "https" if settings.certificate else "http"
        shown = f"[{host}]" if ":" in host else host
        say(f"{scheme}://{shown}:{listener.getsockname()[1]}/ (Ctrl-C ends it)")
        say(said_at_start(settings))
        server = limited_server(app, settings, listener)
        with suppress(KeyboardInterrupt):  # its usual end, not an interruption
            server.run([listener])


def limited_server(
    app: Any, settings: Settings, listener: LimitedListener, *, files: int | None = None,
    header_s: float = HEADER_S,
) -> Any:
    """A uvicorn server on this socket, with ceilings on connections and on the time of a header."""
    from wattline.web.security.connections import (
        ConnectionLimits,
        protocol_for,
        raise_file_limit,
    )
    from wattline.web.security.exposure import is_proxy

    uvicorn = _uvicorn()
    listener.limits = ConnectionLimits(
        raise_file_limit() if files is None else files, header_s=header_s,
        exempt=lambda address: is_proxy(settings, address))
    server = uvicorn.Server(uvicorn.Config(
        app, http=protocol_for(listener.limits), ws="none", log_level="warning",
        access_log=False, server_header=False, use_colors=False,
        proxy_headers=False,  # anybody on this machine could say to be the proxy
        timeout_graceful_shutdown=1, ssl_certfile=settings.certificate, ssl_keyfile=settings.key))
    server.shutdown = _letting_go(server.shutdown, app.state.beat)
    return server


def open_source(
    *, demo: bool = False, run: str | Path | None = None, live: bool = False,
    config: str | Path | None = None, speed: float | None = None, at_s: float | None = None,
    price: float | str | None = None, carbon: float | str | None = None,
    stale_after_s: float = STALE_AFTER_S,
) -> Source:
    """The source that is asked for; the demo where none is."""
    if speed is not None and not 0 <= speed < math.inf:
        raise InputError(f"speed is {speed}, must be a number from 0 on: seconds of the machine "
                         "per second")
    if sum((demo, run is not None, live)) > 1:
        raise InputError("the demo, a run folder and the live machine are served one at a time; "
                         "name one of them")
    if config is not None and not live:
        raise InputError("a controller's file is for the live machine: ask for that too")
    if at_s is not None and run is None:
        raise InputError("a time at which to stand is for a run folder")
    if run is not None:
        from wattline.web.sources.run_folder import open_run_folder

        return open_run_folder(run, speed=speed or 0.0, at_s=at_s, price=price, carbon=carbon)
    if not live:
        if price is not None or carbon is not None:
            raise InputError("the demo has a price and a carbon intensity of its own")
        from wattline.web.sources.demo import DemoSource

        return DemoSource(speed=DEMO_SPEED if speed is None else speed)
    if speed is not None:
        raise InputError("the live machine has the speed that it has: leave it out")
    from wattline.controller.speaking import USUAL_CONFIG
    from wattline.web.sources.live import LiveSource

    return LiveSource(config or USUAL_CONFIG, stale_after_s=stale_after_s,
                      price=price, carbon=carbon)


def _with_journal(settings: Settings, source: Source) -> Settings:
    """Actions on a live machine are written down, also where nobody said where."""
    folder = getattr(source, "folder", None)
    if settings.journal is not None or folder is None:
        return settings
    return replace(settings, journal=Path(folder) / "actions.jsonl")


def _letting_go(shutdown: Callable[..., Awaitable[None]], beat: Beat) -> Any:
    """The same shutdown, before which viewers are let go: streams of events have no end."""
    async def both(*given: Any, **named: Any) -> None:
        beat.end()
        await shutdown(*given, **named)

    return both


def _refuse_files(
    settings: Settings, run: str | Path | None, config: str | Path | None,
    price: float | str | None, carbon: float | str | None,
) -> None:
    """Whatever names a file is looked at before anything slow is done."""
    from wattline.traces.rates import carbon_from, price_from
    from wattline.web.act_journal import refuse_unwritable
    from wattline.web.security.tokens import read_tokens

    _check_tls(settings)
    if settings.tokens is not None:
        read_tokens(settings.tokens)
    if settings.journal is not None:
        refuse_unwritable(settings.journal)
    if run is not None and not Path(run).is_dir():
        raise InputError(f"there is no run folder {run}; `wattline simulate --out` writes one")
    if config is not None and not Path(config).is_file():
        raise InputError(f"there is no file {config}: name the controller's with --config")
    for given, reader in ((price, price_from), (carbon, carbon_from)):
        if given is not None:
            reader(str(given))


def _listening(settings: Settings) -> LimitedListener:
    """The port, taken before anything slow is done: one that is in use is found out at once."""
    from wattline.web.security.connections import LimitedListener

    try:
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        listener = LimitedListener(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.host.strip("[]"), settings.port))
        listener.listen(2048)
    except OSError as error:
        raise WattlineError(f"cannot listen on {settings.host}, port {settings.port}: "
                            f"{error.strerror or error}; choose another port") from None
    return listener


def _check_tls(settings: Settings) -> None:
    if (settings.certificate is None) != (settings.key is None):
        raise InputError("TLS needs both a certificate and its key")
    if settings.certificate is None or settings.key is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.certificate, settings.key)
    except (OSError, ssl.SSLError) as error:
        raise InputError(f"{settings.certificate} and {settings.key} are no certificate with its "
                         f"key: {error.strerror or error}") from None


def _uvicorn() -> Any:
    try:
        import fastapi  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise InputError(f"the server needs {error.name}: pip install 'wattline[web]'") from None
    return uvicorn


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given)


def _seconds(name: str, given: float | str) -> float:
    found = parse_duration(given) if isinstance(given, str) else float(given)
    if not found >= 0:
        raise InputError(f"{name} is {given}, must be a time from 0 s on")
    return found
