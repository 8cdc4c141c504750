"""Step functions from files: a time and a value per line, with or without a header."""

from __future__ import annotations

from pathlib import Path

from wattline.model.errors import InputError
from wattline.model.signal import Signal
from wattline.model.units import plain_number
from wattline.traces.files import read_bytes


def read_signal(path: Path | str, *, unit: str = "") -> Signal:
    """Read `seconds,value` lines (also `;` or blanks between them); a first line may be a header.

    Each value holds from its time on. Times must rise; gaps and text are errors that name the line.
    """
    lines = read_bytes(Path(path)).decode("utf-8", "replace").splitlines()
    steps: list[tuple[float, float]] = []
    header_allowed = True
    for number, line in enumerate(lines, 1):
        text = line.split("#")[0].strip()
        if not text:
            continue
        parts = text.replace(";", ",").replace("\t", ",").split(",")
        if len(parts) == 1:
            parts = text.split()
        try:
            time_s, value = (plain_number(part) for part in parts[:2])
        except ValueError:
            if header_allowed:
                header_allowed = False
                continue
            # The line is not shown: the file may be another than its author meant.
            raise InputError(f"{path}:{number}: expected 'seconds,value'") from None
        header_allowed = False
        if steps and time_s <= steps[-1][0]:
            raise InputError(f"{path}:{number}: times must rise, {time_s:g} s comes too late")
        steps.append((time_s, value))
    if not steps:
        raise InputError(f"{path}: no 'seconds,value' lines in it")
    return Signal.from_steps(steps, unit)
