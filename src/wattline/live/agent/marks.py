"""A reading on demand: a job's prolog and epilog tell the agent that runs on their node.

They write the job's name and a newline into a pipe, which a shell does without starting anything:
`printf '%s\\n' "$SLURM_JOB_ID" 1<> /var/lib/wattline-agent/mark`. The agent reads at once.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from wattline.live.transport.messages import MOST_JOB_BYTES
from wattline.model.errors import InputError, WattlineError

PIPE = "mark"


class Marks:
    """The agent's end of the pipe; only its own user may write to it."""

    def __init__(self, folder: Path) -> None:
        file = folder / PIPE
        try:
            if not file.exists() or not stat.S_ISFIFO(file.stat().st_mode):
                file.unlink(missing_ok=True)
                os.mkfifo(file, 0o600)
            # Open for writing too, so that it has no end when the last writer goes.
            self._pipe = os.open(file, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise WattlineError(f"{file} cannot be made: {error.strerror}") from None
        self._rest = b""

    def fileno(self) -> int:
        return self._pipe

    def jobs(self) -> Sequence[str]:
        """Those that were written since the last call; what is no job's name is left out."""
        try:
            data = self._rest + os.read(self._pipe, 65536)
        except BlockingIOError:
            return []
        *lines, rest = data.split(b"\n")
        self._rest = rest[:MOST_JOB_BYTES]
        names = [line.decode(errors="replace").strip() for line in lines]
        return [name for name in names if is_name(name)]

    def close(self) -> None:
        os.close(self._pipe)


def is_name(job: str) -> bool:
    return bool(job) and job.isprintable() and len(job.encode()) <= MOST_JOB_BYTES


def mark(folder: str | Path, job: str) -> None:
    """Tell the agent that holds this folder to take a reading now, for a job."""
    if not is_name(job):
        raise InputError(f"a job's name has from 1 to {MOST_JOB_BYTES} printable characters")
    file = Path(folder) / PIPE
    try:
        pipe = os.open(file, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        why = "nobody reads" if error.errno == errno.ENXIO else error.strerror
        raise WattlineError(f"no agent runs in {folder}: {file.name}: {why}") from None
    try:
        os.write(pipe, f"{job}\n".encode())
    except BlockingIOError:
        raise WattlineError(f"the agent of {folder} does not read its marks") from None
    finally:
        os.close(pipe)
