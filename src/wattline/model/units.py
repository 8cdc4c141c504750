"""What a person types and reads: `1.4MW`, `90m`, `01:30:00`, `3.2kWh`, `n[001-004]`.

Files hold SI numbers; these functions stand at the edge, where people type and read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from wattline.model.errors import InputError

_NUMBER = r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
_SCALE = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_TIME_S = {"": 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0,
           "w": 604800.0}

FACTORS: dict[str, dict[str, float]] = {
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0, "d": 86400.0},
    "power": {"W": 1.0, "mW": 1e-3, "kW": 1e3, "MW": 1e6},
    "energy": {"J": 1.0, "mJ": 1e-3, "kJ": 1e3, "MJ": 1e6, "Wh": 3600.0, "kWh": 3.6e6,
               "MWh": 3.6e9},
    "frequency": {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9},
    "count": {"": 1.0},
}
"""Size of one unit of a cell in seconds, watts, joules, hertz."""

_SPELLINGS = {"sec": "s", "secs": "s", "second": "s", "seconds": "s", "msec": "ms", "millis": "ms",
              "milliseconds": "ms", "usec": "us", "microseconds": "us", "minute": "min",
              "minutes": "min", "mins": "min", "hour": "h", "hours": "h", "hrs": "h", "days": "d",
              "watt": "W", "watts": "W", "kilowatt": "kW", "kilowatts": "kW", "joule": "J",
              "joules": "J"}
"""Words that heads of columns have for units."""


def whole_number(text: str) -> int:
    """Digits and nothing else; ValueError otherwise.

    `int` would also take `300_1` for 3001, blanks, signs and the digits of other scripts.
    """
    if not re.fullmatch(r"[0-9]+", text):
        raise ValueError(text)
    return int(text)


def plain_number(text: str) -> float:
    """A number as people write it, blanks around it allowed; ValueError otherwise.

    `float` would also take `1_5` for 15 and the digits of other scripts.
    """
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


def parse_power(text: str) -> float:
    """Watts from `1400000`, `1.4MW`, `380 W`."""
    return _scaled(text, "W", "a power like 3500, 3500W or 1.4MW")


def parse_energy(text: str) -> float:
    """Joules from `3600`, `3.6MJ`, `3.2kWh`."""
    if text.strip().endswith("Wh"):
        return 3600.0 * _scaled(text, "Wh", "an energy like 3.2kWh")
    return _scaled(text, "J", "an energy like 3600, 3.6MJ or 3.2kWh")


def parse_duration(text: str) -> float:
    """Seconds from `90`, `90m`, `1.5h`, `01:30:00`, `2-12:00:00`."""
    cleaned = text.strip()
    clock = re.fullmatch(r"(?:(\d{1,9})-)?(\d{1,9}):(\d{2})(?::(\d{2}(?:\.\d+)?))?", cleaned,
                         re.ASCII)
    if clock:
        days, first, second, third = clock.groups()
        # Slurm reads two fields as minutes and seconds, or as hours and minutes after days.
        if third is None and days is None:
            return int(first) * 60 + float(second)
        return int(days or 0) * 86400 + int(first) * 3600 + int(second) * 60 + float(third or 0)
    match = re.fullmatch(_NUMBER + r"\s*([a-z]*)", cleaned)
    if not match or match[2] not in _TIME_S:
        raise InputError(f"'{text}' is not a time; write it like 90, 90m, 1.5h or 01:30:00")
    return _finite(float(match[1]) * _TIME_S[match[2]], text)


def says_no_cap(text: str) -> bool:
    """Whether somebody wrote `none` for a cap; `INFINITE` is Slurm's word for the same."""
    return text.strip().lower() in ("none", "infinite")


def parse_fraction(text: str) -> float:
    """A ratio from `0.1` or `10%`."""
    match = re.fullmatch(_NUMBER + r"\s*(%?)", text.strip())
    if not match:
        raise InputError(f"'{text}' is not a fraction; write it like 0.1 or 10%")
    return _finite(float(match[1]) / (100.0 if match[2] else 1.0), text)


MOST_HOSTS = 1_000_000


def watts_of(given: float | str) -> float:
    """Watts as a number, or as people write them."""
    return parse_power(given) if isinstance(given, str) else float(given)


def unit_in_name(name: str) -> tuple[str, str]:
    """Return the unit that the head of a column ends in, and the quantity it is of, or two blanks.

    `Power_kW`, `Elapsed [ms]` and `runtime_hours` end in a unit. Case is minded only where it tells
    units apart: `mW` is not `MW`.

    >>> unit_in_name("Power_kW"), unit_in_name("Elapsed [ms]"), unit_in_name("GPUs")
    (('kW', 'power'), ('ms', 'time'), ('', ''))
    """
    ending = re.search(r"[^A-Za-z0-9]([A-Za-z]+)[)\]]?$", name.strip())
    if not ending:
        return "", ""
    word = _SPELLINGS.get(ending[1].casefold(), ending[1])
    units = [(unit, kind) for kind, factors in FACTORS.items() for unit in factors if unit]
    same = [one for one in units if one[0] == word]
    alike = same or [one for one in units if one[0].casefold() == word.casefold()]
    if not alike:
        return "", ""
    return alike[0] if len(alike) == 1 else (ending[1], alike[0][1])


def part_of(given: float | str) -> float:
    """A part of something as a number, or as people write it."""
    return parse_fraction(given) if isinstance(given, str) else float(given)


def parse_hosts(text: str) -> list[str]:
    """Host names from `n[001-004,007],login1` or `r[1-2]n[01-16]`, in the order they are written.

    A number keeps the width of the first of its range, so `n01` and `n1` are two hosts.
    """
    if not re.fullmatch(r"(?:[^\[\]]|\[[^\[\]]*\])*", text):
        raise InputError(f"'{text}' is not a host list; write it like n[001-004],login1")
    parts = [part.strip() for part in re.findall(r"(?:[^,\[\]]|\[[^\]]*\])+", text)]
    hosts: list[str] = []
    for part in filter(None, parts):
        hosts.extend(_expand(part))
        if len(hosts) > MOST_HOSTS:
            raise InputError(f"a host list names more than {MOST_HOSTS:,} hosts")
    if not hosts:
        raise InputError(f"'{text}' is not a host list; write it like n[001-004],login1")
    return hosts


def fold_hosts(names: Iterable[str]) -> str:
    """The shortest list in brackets that `parse_hosts` reads as these names, in this order."""
    folded: list[tuple[str, str, list[tuple[str, str]]]] = []
    for name in names:
        # The last number, and of a long one its last digits: `parse_hosts` reads up to nine.
        before, digits, after = re.fullmatch(r"(.*?)([0-9]{0,9})([^0-9]*)", name, re.S).groups()  # type: ignore[union-attr]
        if not folded or folded[-1][:2] != (before, after) or not digits:
            folded.append((before, after, [(digits, digits)]))
            continue
        runs = folded[-1][2]
        first, last = runs[-1]
        if last and str(int(last) + 1).zfill(len(first)) == digits:
            runs[-1] = (first, digits)
        else:
            runs.append((digits, digits))
    return ",".join(_folded(*each) for each in folded)


def _folded(before: str, after: str, runs: list[tuple[str, str]]) -> str:
    if len(runs) == 1 and runs[0][0] == runs[0][1]:
        return before + runs[0][0] + after
    parts = [first if first == last else f"{first}-{last}" for first, last in runs]
    return f"{before}[{','.join(parts)}]{after}"


def format_hosts(prefix: str, runs: Iterable[tuple[int, int]]) -> str:
    """`n[1-3,7]` from runs of neighbours, each with its first and last number."""
    parts = [f"{first}-{last}" if last > first else f"{first}" for first, last in runs]
    alone = len(parts) == 1 and "-" not in parts[0]
    return f"{prefix}{parts[0]}" if alone else f"{prefix}[{','.join(parts)}]" if parts else ""


def counted(number: int, noun: str) -> str:
    """`1 job`, `2,000 jobs`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def format_power(power_w: float) -> str:
    return _with_prefix(power_w, "W")


def format_energy(energy_j: float) -> str:
    return _with_prefix(energy_j / 3600.0, "Wh")


def joules_text(energy_j: float) -> str:
    """`5,760,000 J (1.6 kWh)`: as bills and as logs have it."""
    return f"{energy_j:,.0f} J ({format_energy(energy_j)})"


def format_duration(time_s: float) -> str:
    """`1d 02:03:04` above a minute, seconds below it."""
    if time_s < 0:
        return "-" + format_duration(-time_s)
    if time_s < 60:
        return f"{time_s:.3g} s"
    minutes, seconds = divmod(round(time_s), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return (f"{days}d " if days else "") + f"{hours:02d}:{minutes:02d}:{seconds:02d}"


def format_span(time_s: float) -> str:
    """Return a length of time in hours, or in minutes below one: 4 h, 30 min."""
    return f"{time_s / 3600:g} h" if time_s >= 3600 else f"{time_s / 60:g} min"


def _scaled(text: str, unit: str, example: str) -> float:
    match = re.fullmatch(_NUMBER + r"\s*([kMGT]?)(?:" + unit + ")?", text.strip())
    if not match:
        raise InputError(f"'{text}' is not understood; write {example}{unit_hint(text, unit)}")
    return _finite(float(match[1]) * _SCALE[match[2]], text)


def _finite(value: float, text: str) -> float:
    """Refuse `1e400`, which a float holds as infinite: no cap, where a cap was written."""
    if math.isinf(value):
        raise InputError(f"'{text}' is too large a number")
    return value


def unit_hint(text: str, unit: str = "W") -> str:
    """`; did you mean 2kW?` for `2kw`: a hint and no more, because m is not M."""
    found = re.fullmatch(_NUMBER + r"\s*([kMGT]?)" + unit, text.strip(), re.IGNORECASE)
    if not found:
        return ""
    prefix = "k" if found[2] in "kK" and found[2] else found[2].upper()
    meant = f"{found[1]}{prefix}{unit}"
    return "" if meant == text.strip() else f"; did you mean {meant}?"


def _with_prefix(value: float, unit: str) -> str:
    for prefix, scale in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= scale:
            return f"{value / scale:.4g} {prefix}{unit}"
    return f"{value:.4g} {unit}"


def _expand(part: str) -> list[str]:
    match = re.search(r"\[([^\]]*)\]", part)
    if not match:
        return [part.strip()]
    names = []
    for item in match[1].split(","):
        span = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", item.strip())
        if not span:
            raise InputError(f"'{part}' is not a host list; write it like n[001-004]")
        low, high = span[1], span[2] or span[1]
        if int(high) < int(low):
            raise InputError(f"'{part}' counts down from {low} to {high}; write it like n[001-004]")
        for number in range(int(low), int(high) + 1):
            middle = str(number).zfill(len(low))
            names.extend(_expand(part[: match.start()] + middle + part[match.end() :]))
            if len(names) > MOST_HOSTS:
                raise InputError(f"'{part}' names more than {MOST_HOSTS:,} hosts")
    return names
