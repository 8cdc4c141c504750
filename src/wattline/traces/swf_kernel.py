"""Bulk conversion of the job lines of an SWF file to numbers, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from wattline.model.kernel import kernel

_POWERS = 10.0 ** np.arange(16)
MAX_DIGITS = 15
"""So many digits are exact in a double, and so is their quotient by a power of ten."""

_NEWLINE, _SEMICOLON, _MINUS, _POINT = 10, 59, 45, 46


@kernel
def _is_space(char: int) -> bool:
    return char == 32 or 9 <= char <= 13


@kernel
def _parse_number(data: Any, at: int) -> tuple[float, int, bool]:
    """The number at `at`, where it ends, and whether it is one of the plain kind."""
    size = data.size
    negative = data[at] == _MINUS
    if negative:
        at += 1
    number = 0
    digits = 0
    decimals = 0
    point = False
    while at < size and digits <= MAX_DIGITS:
        char = data[at]
        if 48 <= char <= 57:
            number = number * 10 + (int(char) - 48)
            digits += 1
            decimals += point
        elif char == _POINT and not point:
            point = True
        else:
            break
        at += 1
    if digits == 0 or digits > MAX_DIGITS or (at < size and not _is_space(data[at])):
        return 0.0, at, False
    value = number / _POWERS[decimals]
    return (-value if negative else value), at, True


@kernel
def _parse_line(data: Any, at: int, values: Any, row: int) -> tuple[int, bool]:
    """Fill one column of `values` from the text at `at`; where it stopped, whether it is full."""
    field = 0
    while field < values.shape[0]:
        while at < data.size and data[at] != _NEWLINE and _is_space(data[at]):
            at += 1
        if at >= data.size or data[at] == _NEWLINE:
            return at, False
        value, at, plain = _parse_number(data, at)
        if not plain:
            return at, False
        values[field, row] = value
        field += 1
    return at, True


@kernel
def parse_lines(data: Any, values: Any, line: Any, offset: Any, good: Any) -> int:
    """Fill `values[field, row]` for each job line; returns the number of job lines.

    A row of plain numbers is `good`. Anything else (exponents, words, too few fields, very long
    numbers) is left to the caller, who finds the line's text at `offset[row]`.
    """
    at: Any = np.int64(0)  # a Python 0 would have the kernels below compiled twice
    row: Any = np.int64(0)
    line_number = 0
    while at < data.size:
        line_number += 1
        while at < data.size and data[at] != _NEWLINE and _is_space(data[at]):
            at += 1
        if at < data.size and data[at] != _NEWLINE and data[at] != _SEMICOLON:
            line[row] = line_number
            offset[row] = at
            at, good[row] = _parse_line(data, at, values, row)
            row += 1
        while at < data.size and data[at] != _NEWLINE:
            at += 1
        at += 1
    return int(row)
