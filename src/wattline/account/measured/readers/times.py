"""Times of samples as files have them: Unix times, or dates with or without a zone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.local_time import FORWARD, TWICE, in_order, zone_of
from wattline.model.signal import FloatArray

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
            return self._local(_seconds(column), groups)
        return _seconds(column.dt.tz_convert("UTC").dt.tz_localize(None))

    def _local(self, clock_s: FloatArray, groups: Any) -> FloatArray:
        zone = zone_of(self.zone)
        if zone.note() not in self.remarks:
            self.remarks.append(zone.note())
        found = np.empty_like(clock_s)
        parts = [np.arange(clock_s.size)] if groups is None else (
            groups.reset_index(drop=True).groupby(groups.to_numpy(), sort=False).indices.values())
        for rows in parts:
            found[rows], guessed, shifted = in_order(clock_s[rows], zone.info)
            for reason, count in ((TWICE, guessed), (FORWARD, shifted)):
                if count:
                    self.mended[reason] = self.mended.get(reason, 0) + count
        return found


def _seconds(column: Any) -> FloatArray:
    """Seconds from 1970 of dates without a zone."""
    return np.asarray(column.astype("datetime64[ns]").astype("int64") / NS, dtype=np.float64)


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
