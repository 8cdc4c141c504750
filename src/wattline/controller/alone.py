"""One controller that acts per Slurm: two would start the same jobs."""

from __future__ import annotations

import errno
import os
import socket
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from wattline.model.errors import WattlineError, warn

USUAL_CONF = "/etc/slurm/slurm.conf"


@contextmanager
def alone_at(environment: Mapping[str, str]) -> Iterator[None]:
    """Be the only controller on this machine that acts on a Slurm, whatever its folder.

    A Slurm is told by its slurm.conf. The name of a socket without a file is the machine's: it
    needs no folder that all may write to, units with folders of their own see it, and it goes with
    the process. A controller on another machine, or with a copy of slurm.conf, is not seen.
    """
    conf = Path(environment.get("SLURM_CONF") or os.environ.get("SLURM_CONF") or USUAL_CONF)
    if sys.platform != "linux" or not conf.exists():
        yield
        return
    found = conf.stat()
    name = f"\0wattline-controller-{found.st_dev}-{found.st_ino}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as held:
        try:
            held.bind(name)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            pid, user = _holder(name)
            if user in (0, os.geteuid()):  # nobody else can keep a controller away by the name
                raise WattlineError(f"another controller (process {pid}) acts on the Slurm of "
                                    f"{conf}: two would start the same jobs and undo each "
                                    "other's licences") from None
            warn([f"process {pid} of another user holds the name by which controllers of one "
                  "Slurm see each other: a second one would not be noticed"])
        else:
            held.listen()
        yield


def _holder(name: str) -> tuple[int, int]:
    """Which process holds a name, and whose it is; -1 where it has just gone."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        try:
            asking.connect(name)
        except OSError:
            return -1, -1
        said = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, user, _ = struct.unpack("3i", said)
    return pid, user
