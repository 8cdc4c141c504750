"""The first that runs and the last: what is said of Ctrl-C while modules load, and a quick end."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from importlib import import_module
from types import ModuleType

PLUG_INS = "pydantic.plugin._loader"
INTERRUPTED = "interrupted; nothing half-written was kept"


def main() -> None:
    """Entry point of the command `wattline`."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)
    status: list[int] = []
    atexit.register(end_at_once, status)  # the first that is registered is the last that is called
    do_without_plug_ins()
    from wattline.cli.main import main as run

    try:
        run()
    except SystemExit as end:
        if isinstance(end.code, int):
            status.append(end.code)
        raise


def do_without_plug_ins() -> None:
    """Let pydantic not look for plug-ins in all that is installed: a command has no use for them.

    What would look takes longer to load than to be told so. An empty module is in its place, whose
    other names, should pydantic ask for any, are those of the real one.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    if os.environ["PYDANTIC_DISABLE_PLUGINS"] != "__all__" or PLUG_INS in sys.modules:
        return
    empty = ModuleType(PLUG_INS)

    def real(name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        sys.modules.pop(PLUG_INS, None)
        return getattr(import_module(PLUG_INS), name)

    vars(empty).update(get_plugins=tuple, __getattr__=real)
    sys.modules[PLUG_INS] = empty


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
