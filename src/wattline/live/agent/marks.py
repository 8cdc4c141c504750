"""A reading on demand: a job's prolog and epilog tell the agent that runs on their node.

They read the node's counters themselves, append a line to the file `marks`, and wake the agent by
its pipe; a shell does all that without starting anything (`SCRIPT`). So the joules of a short job
are right however busy the agent is, and no mark is lost while it is away. A name alone, written
into the pipe, is a mark too: the agent reads at once.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wattline.live.agent.state import boot_id
from wattline.live.transport.messages import MOST_JOB_BYTES
from wattline.model.errors import InputError, WattlineError

PIPE, NOTED, COUNTERS = "mark", "marks", "counters"
BEGIN, END = "begin", "end"
LARGEST_BYTES = 1 << 20
"""A longer file of marks is begun anew, once all of it was read."""
LAST_WRITER_S = 5.0
"""So long one that had opened the old file may take to write."""

SCRIPT = """case "$SLURM_SCRIPT_CONTEXT" in *epilog*) what=end ;; *) what=begin ;; esac
read -r up idle < /proc/uptime
shown=
while read -r file; do
  read -r value rest < "$file" && shown="$shown $value"
done < "$agent/counters"
printf '%s %s %s%s\\n' "$what" "$SLURM_JOB_ID" "$up" "$shown" >> "$agent/marks"
printf '\\n' 1<> "$agent/mark"
"""
"""What prolog and epilog do, in a shell; `agent` is the agent's folder."""


@dataclass(frozen=True)
class Mark:
    """A job that begins or ends on a node, when, and what the counters showed then."""

    job: str
    """`begin 4711` or `end 4711`."""
    steady_s: float
    """When it was, by the clock that nobody sets."""
    shown: tuple[float, ...] = ()
    """In the order of the file `counters`; empty where nobody read them."""


class Marks:
    """The agent's end of pipe and file; only its own user may write to them."""

    def __init__(self, folder: Path, counters: Sequence[Path] = ()) -> None:
        """`counters` are the files that show what the node has drawn."""
        file = folder / PIPE
        self._folder, self._file = folder, folder / NOTED
        self._old, self._read = folder / f"{NOTED}.old", folder / f"{NOTED}.read"
        self._old_until_s = 0.0
        try:
            if not file.exists() or not stat.S_ISFIFO(file.stat().st_mode):
                file.unlink(missing_ok=True)
                os.mkfifo(file, 0o600)
            # Open for writing too, so that it has no end when the last writer goes.
            self._pipe = os.open(file, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            self._file.touch(0o600)
            _write_whole(folder / COUNTERS, "".join(f"{each}\n" for each in counters))
        except OSError as error:
            raise WattlineError(f"{file} cannot be made: {error.strerror}") from None
        self._rest = b""
        self._boot = boot_id()
        self._offset = self._taken_up()

    def fileno(self) -> int:
        return self._pipe

    def jobs(self) -> Sequence[str]:
        """Names that were written into the pipe since the last call; what is none is left out."""
        try:
            data = self._rest + os.read(self._pipe, 65536)
        except BlockingIOError:
            return []
        *lines, rest = data.split(b"\n")
        self._rest = rest[:MOST_JOB_BYTES]
        names = [line.decode(errors="replace").strip() for line in lines]
        return [name for name in names if is_name(name)]

    def noted(self) -> Sequence[Mark]:
        """Marks in the file that `done` was not told of; what cannot be read is left out."""
        file = self._old if self._old.exists() else self._file
        try:
            with file.open("rb") as opened:
                opened.seek(self._offset)
                whole, end, _ = opened.read().rpartition(b"\n")
        except OSError:
            return []
        self._next = self._offset + len(whole) + len(end)
        booted_s = time.monotonic() - _uptime_s()
        found = [_mark(line, booted_s) for line in whole.decode(errors="replace").splitlines()]
        return [mark for mark in found if mark is not None]

    def done(self) -> None:
        """What `noted` gave is on disk elsewhere."""
        if self._next != self._offset:
            self._keep(self._next)
        if self._old.exists():
            if time.monotonic() >= self._old_until_s:
                self._old.unlink()
                self._file.touch(0o600)
                self._keep(0)
        elif self._offset > LARGEST_BYTES:
            self._file.rename(self._old)
            self._old_until_s = time.monotonic() + LAST_WRITER_S

    def close(self) -> None:
        os.close(self._pipe)

    def _taken_up(self) -> int:
        """How far an earlier process has come; marks from before a boot have no time any more."""
        self._next = 0
        there = self._old if self._old.exists() else self._file
        with suppress(OSError, ValueError):
            boot, _, offset = self._read.read_text(encoding="ascii").partition(" ")
            self._next = int(offset) if boot == self._boot else there.stat().st_size
        return self._next

    def _keep(self, offset: int) -> None:
        self._offset = self._next = offset
        with suppress(OSError):  # on a full disk some marks come twice, which does no harm
            _write_whole(self._read, f"{self._boot} {offset}")


def _mark(line: str, booted_s: float) -> Mark | None:
    try:
        what, job, up_s, *shown = line.split()
        found = Mark(f"{what} {job}", booted_s + float(up_s), tuple(map(float, shown)))
    except ValueError:
        return None
    return found if what in (BEGIN, END) and is_name(found.job) else None


def _uptime_s() -> float:
    """As the shell reads it."""
    return float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])


def _write_whole(file: Path, text: str) -> None:
    made = file.with_name(f".{file.name}")
    made.write_text(text, encoding="utf-8")
    made.replace(file)


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
