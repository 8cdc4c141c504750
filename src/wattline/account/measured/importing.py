"""What a file is, by its content, and what it tells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wattline.account.measured.from_sacct import read_sacct
from wattline.account.measured.from_scontrol import read_scontrol
from wattline.account.measured.readers.options import SeriesOptions
from wattline.account.measured.readers.reading import read_series
from wattline.account.measured.records import Found
from wattline.model.errors import InputError
from wattline.model.reading import read_unpacked
from wattline.site.sacct_text import SEPARATOR


def read_source(
    path: str | Path, *, cluster: str = "", zone: str = "", columns: Sequence[str] = (),
    at: str = "",
) -> Found:
    """Read a file of any kind that the ledger takes."""
    data, _ = read_unpacked(path)
    head = data[:65536].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head:
        raise InputError(f"{path}: the file is empty")
    if head.startswith(b"NodeName=") or (head.startswith(b"{") and _is_of_nodes(data)):
        return read_scontrol(data, str(path), cluster=cluster, zone=zone, at=at)
    if (head.startswith(b"{") and b'"jobs"' in data) or columns or (
            SEPARATOR.encode() in head.partition(b"\n")[0]):
        return read_sacct(data, str(path), cluster=cluster, zone=zone, columns=columns)
    return read_series(path, SeriesOptions(cluster=cluster, zone=zone))


def _is_of_nodes(data: bytes) -> bool:
    """Whether a JSON object has nodes and no jobs, without reading all of it."""
    return b'"nodes"' in data and b'"jobs"' not in data
