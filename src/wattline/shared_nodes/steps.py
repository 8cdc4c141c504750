"""Steps in time: from each time on a value, until the next; as two columns, in order."""

from __future__ import annotations

from typing import Any

from wattline.model.kernel import kernel_part


@kernel_part
def first_from(times_s: Any, time_s: float) -> int:
    """The first step that begins at a time or after it; past all where there is none."""
    low, high = 0, len(times_s)
    while low < high:
        middle = (low + high) // 2
        if times_s[middle] < time_s:
            low = middle + 1
        else:
            high = middle
    return low


@kernel_part
def last_until(times_s: Any, time_s: float) -> int:
    """The last step that has begun at a time, which is not before the first."""
    low, high = 0, len(times_s)
    while low + 1 < high:
        middle = (low + high) // 2
        if times_s[middle] <= time_s:
            low = middle
        else:
            high = middle
    return low


@kernel_part
def open_place(column: Any) -> None:
    """Move all but the last value by one to the back, over the last."""
    for place in range(len(column) - 1, 0, -1):
        column[place] = column[place - 1]


@kernel_part
def any_below(values: Any, least: float) -> bool:
    """Without a way out of the loop, so that several are compared at once."""
    found = False
    for place in range(len(values)):
        found |= values[place] < least
    return bool(found)


@kernel_part
def behind_last_below(values: Any, least: float) -> int:
    """The place behind the last value that is too small; 0: none is, which is usual."""
    behind = len(values) if any_below(values, least) else 0
    while behind > 0 and values[behind - 1] >= least:
        behind -= 1
    return behind
