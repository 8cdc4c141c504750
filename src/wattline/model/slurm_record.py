"""Input and outcome of a run by Slurm's rules, as plain columns by name.

A run folder keeps it beside the tables that every run has, so that the run can be judged by the
site's own files without the code that made it. `slurm.npz` has an array `TABLE.COLUMN` for each.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wattline.model.errors import InputError

Column = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class SlurmRecord:
    """Tables of the site (nodes, partitions, QOS, associations, ...), of the requests and of what
    became of them; rows refer to each other by number, -1 stands for none."""

    tables: Mapping[str, Mapping[str, Column]]

    def to_bytes(self) -> bytes:
        """The same bytes for the same record."""
        columns = {
            f"{table}.{name}": np.asarray(values)
            for table, named in self.tables.items()
            for name, values in named.items()
        }
        with io.BytesIO() as file:
            np.savez_compressed(file, **columns)  # type: ignore[arg-type]
            return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> SlurmRecord:
        """Read what `to_bytes` gave; anything else is an InputError."""
        tables: dict[str, dict[str, Column]] = {}
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as found:
                for key in found.files:
                    table, _, name = key.partition(".")
                    tables.setdefault(table, {})[name] = found[key]
        except (OSError, ValueError, EOFError) as error:
            raise InputError(f"slurm.npz cannot be read ({error})") from error
        return cls(tables)
