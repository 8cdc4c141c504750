"""Regulation signals: read from a file, generated with given statistics, described."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from wattline.model.errors import InputError
from wattline.model.reading import read_unpacked
from wattline.model.signal import FloatArray, Signal
from wattline.model.units import plain_number

MOST_STEPS = 10_000_000
"""Of a signal that is generated: more than a year in steps of four seconds."""
GAP_FACTOR = 1.5
"""A step longer than this many usual steps is a gap."""


@dataclass(frozen=True)
class Statistics:
    """What describes a signal: the inputs of `generate` are fields of it."""

    mean: float
    std: float
    correlation_s: float
    """Time after which the autocorrelation has fallen to 1/e."""
    step_s: float
    mileage_per_h: float
    """Sum of all movements, up and down, in an hour."""

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


def load_signal(path: str | Path) -> Signal:
    """Read a CSV `t_s,<value>` (also .gz, .xz): values in [-1, 1], no gaps."""
    path = Path(path)
    try:
        times, values = _columns(path)
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: not a readable CSV file ({error})") from None
    if not times:
        raise InputError(f"{path}: the signal has no rows")
    if len(times) == 1:
        raise InputError(f"{path}: the signal has one row, which does not say how long it holds")
    steps = np.diff(times)
    usual_s = float(np.median(steps))
    wide = np.flatnonzero(steps > GAP_FACTOR * usual_s)
    if wide.size:
        row = int(wide[0])
        raise InputError(
            f"{path}:{row + 3}: gap of {steps[row]:.6g} s after t_s = {times[row]:.6g}; the "
            f"signal steps every {usual_s:.6g} s"
        )
    return Signal(np.array(times), np.array(values), "reserve")


def _columns(path: Path) -> tuple[list[float], list[float]]:
    times: list[float] = []
    values: list[float] = []
    text = read_unpacked(path)[0].decode("utf-8-sig")
    rows = csv.reader(io.StringIO(text, newline=""))
    header = next(rows, [])
    if len(header) != 2 or header[0].strip() != "t_s":
        raise InputError(f"{path}:1: this is not the header of a signal, 't_s,value'")
    for line, row in enumerate(rows, start=2):
        if not row:
            continue
        time_s, value = _numbers(path, line, row)
        if not -1.0 <= value <= 1.0:
            excess = abs(value) - 1.0
            raise InputError(
                f"{path}:{line}: the signal is {value:.6g}, {excess:.6g} outside [-1, 1]; it is a "
                "part of the reserve, or of a frequency the deviation from the nominal one in Hz"
            )
        if times and time_s <= times[-1]:
            raise InputError(
                f"{path}:{line}: t_s is {time_s:.6g} after {times[-1]:.6g}; times must increase"
            )
        times.append(time_s)
        values.append(value)
    return times, values


def _numbers(path: Path, line: int, row: list[str]) -> tuple[float, float]:
    if len(row) != 2 or not row[1].strip():
        raise InputError(f"{path}:{line}: gap: expected a time and a value, not '{','.join(row)}'")
    try:
        time_s, value = plain_number(row[0]), plain_number(row[1])
    except ValueError:
        raise InputError(f"{path}:{line}: '{','.join(row)}' are not two numbers") from None
    if not (math.isfinite(time_s) and math.isfinite(value)):
        raise InputError(f"{path}:{line}: gap: '{','.join(row)}' is not finite")
    return time_s, value


def statistics(signal: Signal) -> Statistics:
    """Measure a signal that steps regularly."""
    step_s = float(np.median(np.diff(signal.time_s))) if signal.time_s.size > 1 else 1.0
    end_s = float(signal.time_s[-1]) + step_s
    times = np.arange(signal.time_s[0], end_s, step_s)
    value = signal.sample(times)
    hours = times.size * step_s / 3600.0
    return Statistics(
        mean=float(value.mean()),
        std=float(value.std()),
        correlation_s=_correlation_s(value, step_s),
        step_s=step_s,
        mileage_per_h=float(np.abs(np.diff(value)).sum()) / hours,
    )


def _correlation_s(value: FloatArray, step_s: float) -> float:
    centred = value - value.mean()
    variance = float(centred @ centred) / value.size
    if variance == 0 or value.size < 3:
        return 0.0
    previous = 1.0
    for lag in range(1, value.size // 2):
        now = float(centred[lag:] @ centred[:-lag]) / (value.size - lag) / variance
        if now < math.exp(-1):
            # Between the two lags, along the straight line.
            part = (previous - math.exp(-1)) / (previous - now)
            return (lag - 1 + part) * step_s
        previous = now
    return value.size * step_s / 2


def generate(
    rng: np.random.Generator,
    duration_s: float,
    *,
    std: float = 0.40,
    mean: float = 0.0,
    correlation_s: float = 150.0,
    step_s: float = 4.0,
) -> Signal:
    """A signal with these statistics: an autoregressive normal process, clipped to [-1, 1].

    The process is made wider than asked for by as much as the clipping takes away, so that the
    statistics hold for what comes out.
    """
    if not 0 <= std < 1:
        raise InputError(f"signal std is {std}, must be in [0, 1)")
    if not -1 <= mean <= 1 or mean * mean + std * std >= 1:
        raise InputError(f"no signal in [-1, 1] has mean {mean} and std {std}")
    if step_s <= 0 or duration_s <= 0 or correlation_s < 0:
        raise InputError("a signal needs a positive duration and step and no negative correlation")
    if not duration_s / step_s <= MOST_STEPS:
        raise InputError(f"a signal of {duration_s:g} s has more than {MOST_STEPS:,} steps of "
                         f"{step_s:g} s; make it shorter or its steps longer")
    count = math.ceil(duration_s / step_s)
    keep = math.exp(-step_s / correlation_s) if correlation_s > 0 else 0.0
    noise = rng.standard_normal(count)
    level: FloatArray = np.empty(count)
    state = noise[0]
    for i in range(count):
        if i:
            state = keep * state + math.sqrt(1 - keep * keep) * noise[i]
        level[i] = state
    centre, width = _unclipped(mean, std)
    value = np.clip(centre + width * level, -1.0, 1.0)
    return Signal(step_s * np.arange(count, dtype=np.float64), np.asarray(value), "reserve")


def _unclipped(mean: float, std: float) -> tuple[float, float]:
    """Mean and std of the normal whose clip to [-1, 1] has this mean and std."""
    centre, width = mean, std
    if std == 0:
        return centre, width
    for _ in range(200):
        got_mean, got_std = _clipped_moments(centre, width)
        centre += mean - got_mean
        width *= std / got_std
        if abs(got_mean - mean) + abs(got_std - std) < 1e-12:
            break
    return centre, width


def _clipped_moments(centre: float, width: float) -> tuple[float, float]:
    low, high = (-1 - centre) / width, (1 - centre) / width
    below, above = _cdf(low), 1 - _cdf(high)
    inside = 1 - below - above
    first = centre * inside + width * (_pdf(low) - _pdf(high))
    mean = first + above - below
    second = (
        (centre * centre + width * width) * inside
        + 2 * centre * width * (_pdf(low) - _pdf(high))
        + width * width * (low * _pdf(low) - high * _pdf(high))
    )
    return mean, math.sqrt(max(second + above + below - mean * mean, 1e-300))


def _pdf(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def _cdf(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))


def window(signal: Signal, start_s: float, duration_s: float) -> Signal:
    """The part [start_s, start_s + duration_s) of a signal, with time starting at 0."""
    last_s = float(signal.time_s[-1])
    if start_s < signal.time_s[0] or start_s + duration_s > last_s + _usual_step_s(signal) + 1e-9:
        raise InputError(
            f"the signal covers {signal.time_s[0]:.6g} to {last_s:.6g} s; "
            f"{start_s:.6g} to {start_s + duration_s:.6g} s is not inside"
        )
    inner = (signal.time_s > start_s) & (signal.time_s < start_s + duration_s)
    times = np.concatenate(([start_s], signal.time_s[inner]))
    return Signal(times - start_s, signal.sample(times), signal.unit)


def hours(signal: Signal, duration_s: float = 3600.0) -> Iterator[Signal]:
    """The whole windows of this length that a signal holds, each starting at 0."""
    start_s = float(signal.time_s[0])
    if signal.time_s.size == 1:  # a constant, which holds for ever
        yield window(signal, start_s, duration_s)
        return
    end_s = float(signal.time_s[-1]) + _usual_step_s(signal)
    while start_s + duration_s <= end_s + 1e-9:
        yield window(signal, start_s, duration_s)
        start_s += duration_s


def _usual_step_s(signal: Signal) -> float:
    return float(np.median(np.diff(signal.time_s))) if signal.time_s.size > 1 else math.inf
