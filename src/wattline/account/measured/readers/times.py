"""Times of samples as files have them: Unix times, or dates with or without a zone."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray

LOCALTIME = Path("/etc/localtime")
NS = 1e9
_SCALES = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""Above these a number is in nanoseconds, microseconds, milliseconds: no meter is that old."""


@dataclass
class Times:
    """How times of one file are read, and what had to be said of them."""

    zone: str = ""
    mended: dict[str, int] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def read(self, column: Any, where: str, groups: Any = None) -> FloatArray:
        """Unix seconds of a column; `groups` tells whose times follow each other in order."""
        import pandas as pd

        if pd.api.types.is_numeric_dtype(column):
            return unix_s(column.to_numpy(dtype=np.float64), where)
        if not pd.api.types.is_datetime64_any_dtype(column):
            number = pd.to_numeric(column, errors="coerce")
            if number.notna().all():
                return unix_s(number.to_numpy(dtype=np.float64), where)
            column = _dates(column.astype(str).str.strip(), where)
        if column.dt.tz is None:
            column = self._local(column, groups)
        since = column.dt.tz_convert("UTC").dt.tz_localize(None).astype("datetime64[ns]")
        return np.asarray(since.astype("int64") / NS, dtype=np.float64)

    def _local(self, column: Any, groups: Any) -> Any:
        import pandas as pd

        zone = self._zone()
        if groups is None:
            groups = pd.Series(0, index=column.index)
        parts = [self._one(part, zone) for _, part in column.groupby(groups, sort=False)]
        return pd.concat(parts).reindex(column.index)

    def _one(self, column: Any, zone: Any) -> Any:
        """Of an hour that comes twice the order of the samples tells which it is, where it can."""
        forward = column.dt.tz_localize(zone, ambiguous="NaT", nonexistent="shift_forward")
        twice = forward.isna()
        gone = column.dt.tz_localize(zone, ambiguous="NaT", nonexistent="NaT").isna() & ~twice
        self._mend("local times that do not exist, moved forward", int(gone.sum()))
        if not twice.any():
            return forward
        try:
            return column.dt.tz_localize(zone, ambiguous="infer", nonexistent="shift_forward")
        except ValueError:
            self._mend("local times of an hour that comes twice, read as the earlier",
                       int(twice.sum()))
            earlier = np.ones(column.size, dtype=np.bool_)
            return column.dt.tz_localize(zone, ambiguous=earlier, nonexistent="shift_forward")

    def _mend(self, reason: str, count: int) -> None:
        if count:
            self.mended[reason] = self.mended.get(reason, 0) + count

    def _zone(self) -> ZoneInfo:
        """The zone of local times, and a remark on it."""
        name = self.zone or os.environ.get("TZ", "").lstrip(":")
        remark = f"times without a zone are read as those of {name or 'this machine'}"
        if not self.zone:
            remark += "; --zone says another"
        if remark not in self.remarks:
            self.remarks.append(remark)
        try:
            if name or not LOCALTIME.is_file():
                return ZoneInfo(name or "UTC")
        except (OSError, ValueError, KeyError):
            raise InputError(f"'{name}' is no time zone; write it like Europe/Berlin") from None
        with LOCALTIME.open("rb") as stream:
            return ZoneInfo.from_file(stream)


def unix_s(number: FloatArray, where: str) -> FloatArray:
    """Seconds, from seconds, milliseconds, microseconds or nanoseconds."""
    if not np.isfinite(number).all() or not number.size:
        raise InputError(f"{where}: a sample has no time")
    least = float(np.abs(number).min())
    for above, scale in _SCALES:
        if least > above:
            return number / scale
    return number


def _dates(text: Any, where: str) -> Any:
    import pandas as pd

    try:
        return pd.to_datetime(text, format="ISO8601")
    except ValueError:
        pass
    try:  # zones that change with daylight saving
        return pd.to_datetime(text, format="ISO8601", utc=True)
    except ValueError:
        dates = pd.to_datetime(text, format="ISO8601", utc=True, errors="coerce")
        odd = text[dates.isna()].iloc[0] if dates.isna().any() else text.iloc[0]
        raise InputError(f"{where}: a time cannot be read: {str(odd)[:40]!r}; right are Unix "
                         "seconds or 2026-10-25T02:00:00+01:00") from None
