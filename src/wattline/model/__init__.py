"""What things are."""

from collections.abc import Callable

COMPILING = ("compiling; this happens once, and takes some 10 to 40 seconds for each new "
             "combination of policies")
COMPILING_PART = ("compiling; this happens once, and takes some seconds, of networks up "
                  "to half a minute")
COMPILING_SHARED = ("compiling the rules of machines with shared nodes; this happens once for all "
                    "twins, and takes a minute or two")


def _log(line: str) -> None:
    """To whoever calls from Python: a script or a notebook shows warnings of loggers by itself."""
    import logging

    logging.getLogger("wattline").warning("wattline: %s", line)


before_compiling: list[Callable[[str], None]] = [_log]
"""Told what is compiled, and forgotten, when a process is about to compile for long.

They are kept here, apart from the kernels, so that a command can leave a word for a user who will
have to wait without loading the compiler itself.
"""

while_compiling: list[Callable[[str], None]] = [_log]
"""Told how long compiling takes, while it does; commands on a terminal have a bar instead."""

when_nothing_is_kept: list[Callable[[str], None]] = [_log]
"""Told why, and forgotten, when what is compiled or computed cannot be kept for the next time."""

compiling_beside: list[int] = []
"""Processes that this one began, and that outlive it: they compile for the next time."""

before_running_plain: list[Callable[[], None]] = []
"""Called, and forgotten, when a run goes on uncompiled while another process compiles."""
