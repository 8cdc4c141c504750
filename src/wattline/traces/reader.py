"""One door for all formats: `read` finds out what a file is and cleans what it holds."""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import Literal

from wattline.model.errors import InputError
from wattline.model.reading import first_bytes, is_file
from wattline.traces import swf
from wattline.traces.cleaning import Size, clean
from wattline.traces.files import inner_name, read_bytes
from wattline.traces.raw import RawJobs
from wattline.traces.trace import Trace

Unit = Literal["nodes", "cores"]
FORMATS = ("swf", "sacct", "sacct-json", "csv", "parquet")

SUFFIXES = {".swf": "swf", ".parquet": "parquet", ".pq": "parquet", ".json": "sacct-json",
             ".csv": "csv"}

_SWF_HEADER = re.compile(rb";\s*[A-Za-z]+:\s")


def read(
    path: str | Path,
    *,
    format: str | None = None,
    column_map: str | Path | None = None,
    strict: bool = False,
    size: Size = "requested",
    unit: Unit = "nodes",
    machine_procs: int | None = None,
    zone: str = "",
) -> Trace:
    """Read a job log; the format is found by the file's name and content unless it is given.

    `size` says which size counts where the log has two, `unit` what a Slurm log's sizes are,
    `machine_procs` how large the machine is, so that larger jobs are dropped. Times without an
    offset are of `zone` ("Europe/Berlin", "local"), UTC without it.

    >>> import wattline as wl
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     wl.write(wl.generate("lublin", seed=1, jobs=50, nodes=32), f"{folder}/log.swf.gz")
    ...     trace = wl.read(f"{folder}/log.swf.gz")
    >>> len(trace)
    50
    """
    path = Path(path)
    if format is not None and format not in FORMATS:
        raise InputError(f"there is no format '{format}'; there are {', '.join(FORMATS)}")
    if size not in ("requested", "allocated"):
        raise InputError(f"size is '{size}', must be 'requested' or 'allocated'")
    if unit not in ("nodes", "cores"):
        raise InputError(f"unit is '{unit}', must be 'nodes' or 'cores'")
    if str(path) == "-":
        raise InputError("'-' is no file; what another program prints is read as /dev/stdin")
    data = read_bytes(path).removeprefix(codecs.BOM_UTF8)  # some tools begin a text with it
    format = format or sniff(data, path, column_map is not None)
    raw = _parse(data, path, format, column_map, unit, zone)
    del data  # A large log is held only once at a time.
    return clean(raw, str(path), strict=strict, size=size, machine_procs=machine_procs)


def is_log(path: str | Path) -> bool:
    """Whether a file is a job log: by its name, or because it begins as SWF or sacct's output,
    also compressed under another name."""
    if Path(inner_name(Path(path))).suffix in SUFFIXES:
        return True
    if not is_file(path):  # a pipe can be read once
        return False
    try:
        first = first_bytes(path)[:4096].split(b"\n", 1)[0]
    except InputError:
        return False
    return first.startswith(b";") or b"JobID" in first.split(b"|")[:40]


def sniff(data: bytes, path: Path, mapped: bool = False) -> str:
    """The format of a file, by its content where that is telling, else by its name."""
    if data.startswith(b"PAR1"):
        return "parquet"
    first = data[:65536].lstrip().split(b"\n", 1)[0]
    if first.startswith(b"{"):
        return "sacct-json"
    named = SUFFIXES.get(Path(inner_name(path)).suffix)
    if mapped and named != "swf" and not _SWF_HEADER.match(first):
        return "csv"
    if first.count(b"|") >= 2 and not first.startswith(b";"):
        return "sacct"
    otherwise = "csv" if b"," in first and not first.startswith(b";") else "swf"
    return named or otherwise


def _parse(
    data: bytes, path: Path, format: str, column_map: str | Path | None, unit: Unit,
    zone: str,
) -> RawJobs:
    source = str(path)
    if format != "parquet" and b"\0" in data:
        raise InputError(f"{source}: is binary data, not a job log")
    # Only the reader that is needed is loaded: a simulation of an SWF log is to start at once.
    if format in ("csv", "parquet"):
        from wattline.traces import columnar
        from wattline.traces.column_map import load_map

        chosen = None if column_map is None else load_map(column_map)
        return columnar.parse(data, source, chosen, parquet=format == "parquet", zone=zone)
    if column_map is not None:
        raise InputError(f"{source}: a column map is for CSV and Parquet tables, not for {format}")
    if format == "swf":
        return swf.parse(data, source)
    from wattline.traces import slurm

    if format == "sacct":
        return slurm.parse_text(data, source, unit, zone)
    return slurm.parse_json(data, source, unit, zone)
