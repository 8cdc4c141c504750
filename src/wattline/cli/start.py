"""The first that runs: Ctrl-C while modules load is answered in one line, as it is later."""

from __future__ import annotations

import os
import signal

INTERRUPTED = "interrupted; nothing half-written was kept"


def main() -> None:
    """Entry point of the command `wattline`."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)
    from wattline.cli.main import main as run

    run()


def leave(number: int, frame: object) -> None:
    """End at once: an exception would be turned into others by modules that are half loaded."""
    os.write(2, f"wattline: {INTERRUPTED}\n".encode())
    os._exit(130)
