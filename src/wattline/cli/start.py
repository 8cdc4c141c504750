"""The first that runs and the last: what is said of Ctrl-C while modules load, and a quick end."""

from __future__ import annotations

import atexit
import os
import signal
import sys

INTERRUPTED = "interrupted; nothing half-written was kept"


def main() -> None:
    """Entry point of the command `wattline`."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)
    status: list[int] = []
    atexit.register(end_at_once, status)  # the first that is registered is the last that is called
    # It would look for plug-ins in all that is installed; a command has no use for them.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    _open_closed()
    from wattline.cli.main import main as run

    try:
        run()
    except SystemExit as end:
        if isinstance(end.code, int):
            status.append(end.code)
        raise


def _open_closed() -> None:
    """A stream that the caller closed (`>&-`) is none at all: what is written to it goes nowhere,
    and is not taken for an error by whoever writes."""
    was_open = sys.stdout is not None
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    if not was_open:
        sys.stderr.write("wattline: standard output is closed, so no figures are printed\n")


def leave(number: int, frame: object) -> None:
    """End at once: an exception would be turned into others by modules that are half loaded."""
    os.write(2, f"wattline: {INTERRUPTED}\n".encode())
    os._exit(130)


def end_at_once(status: list[int]) -> None:
    """Let the system take the memory: undoing all modules took a fifth of a short command's time.

    Whatever asked to be called at the end was called before. After a failure that nobody expected
    there is no status, and where the output can't be written Python has its say as always.
    """
    if not status:
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit(status[0])
