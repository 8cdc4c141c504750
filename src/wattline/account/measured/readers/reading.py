"""One way in for all files of power: what a file is shows in its content."""

from __future__ import annotations

from pathlib import Path

from wattline.account.measured.readers.clustercockpit import (
    is_archive,
    parse_json,
    read_archive,
)
from wattline.account.measured.readers.hdf5 import read_hdf5
from wattline.account.measured.readers.options import SeriesOptions
from wattline.account.measured.readers.tables import RIGHT, read_csv, read_parquet
from wattline.account.measured.records import Found
from wattline.model.errors import InputError
from wattline.model.reading import read_unpacked

_HDF5, _PARQUET = b"\x89HDF\r\n\x1a\n", b"PAR1"


def read_series(path: str | Path, options: SeriesOptions | None = None) -> Found:
    """The power series of a file: CSV, Parquet, a ClusterCockpit job or a Slurm profile."""
    given = options or SeriesOptions()
    data, _ = read_unpacked(path)
    if data.startswith(_HDF5):
        return read_hdf5(Path(path), given)
    if data.startswith(_PARQUET):
        return read_parquet(data, str(path), given)
    if data.lstrip()[:1] in (b"{", b"["):
        value = parse_json(data, str(path))
        if not is_archive(value):
            raise InputError(f"{path}: no job of a ClusterCockpit archive, which is the JSON with "
                             "power that is known")
        return read_archive(Path(path), value, given)
    if b"\0" in data[:4096]:
        raise InputError(f"{path}: no series of power; {RIGHT}")
    return read_csv(data, str(path), given)
