"""Power caps as a person writes them, and the watts that they are. Nothing else reads one.

    1.4MW, 65 W, 1400000   watts
    70%                    of the rated power of the machine: all nodes at their highest power
    70%peak                of the highest power of the same jobs without a cap
    70%p99                 of the power that they exceed for 1 % of the time (p1 to p99)

A bare number up to 100 may be meant as watts, as a fraction or as per cent, and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.model.machine import MOST_POWER_W
from wattline.model.signal import FloatArray, Signal
from wattline.model.units import format_power, parse_fraction, parse_power, unit_hint

MOST_UNCLEAR = 100.0
"""A bare number up to here is no plausible power of a machine, and might be a fraction or per
cent."""

WATTS, RATED, PEAK = "watts", "rated", "peak"
_PERCENTILE = re.compile(r"p([1-9][0-9]?)")

HOW = "write per cent of rated power (70%), of the peak without a cap (70%peak), or watts (1.4MW)"

Uncapped = Callable[[float], float]
"""The watts that the same jobs without a cap exceed for all but so many per cent of the time; for
100 their peak. It takes a run."""


@dataclass(frozen=True)
class CapValue:
    """A cap as it is written."""

    text: str
    number: float
    """Watts, or a fraction of what `of` names."""
    of: str = WATTS
    """`watts`, `rated`, `peak`, or a percentile like `p99`."""

    @property
    def of_uncapped_run(self) -> bool:
        """True where a run without a cap has to say what it is in watts."""
        return self.of not in (WATTS, RATED)

    @property
    def reference(self) -> str:
        """Power that it is a percentage of, in words."""
        if self.of == PEAK:
            return "the peak without a cap"
        return "rated power" if self.of == RATED else (
            f"the {self.of[1:]}th percentile of power without a cap")

    def watts(self, rated_w: float, uncapped_w: Uncapped | None = None) -> float:
        """The cap in watts; one of an uncapped run is refused where there can be none."""
        if self.of == WATTS:
            return self.number
        if self.of == RATED:
            return round(self.number * rated_w, 6)  # 70 % of 22,400 W is 15,680 W
        if uncapped_w is None:
            raise InputError(f"'{self.text}' is of {self.reference}, and there is no such run "
                             f"here; write per cent of rated power "
                             f"({format_power(rated_w)}), or watts")
        return self.number * uncapped_w(100.0 if self.of == PEAK else float(self.of[1:]))


def read_cap_value(given: float | str, nor: str = "") -> CapValue:
    """Read a cap as people write it; `none` and files are for the caller to know.

    `nor` is what else it might have been and is not, for the message.
    """
    text = given.strip() if isinstance(given, str) else f"{given:.15g}"
    number, percent, of = text.partition("%")
    if percent:
        return _percentage(text, parse_fraction(number + percent), of.strip())
    try:
        watts = parse_power(given) if isinstance(given, str) else float(given)
    except InputError:
        raise InputError(f"'{text}' is neither watts nor per cent{nor}; {HOW}{unit_hint(text)}"
                         ) from None
    bare = not isinstance(given, str) or text[-1] in "0123456789."
    if bare and 0 < watts <= MOST_UNCLEAR:
        raise InputError(f"{text} may be a fraction, per cent or watts; " + _spelled(watts))
    if not 0 < watts <= MOST_POWER_W:
        raise InputError(f"{text} must be a positive number of watts, up to {MOST_POWER_W:g}, per "
                         "cent like 70%, or none, for no cap")
    return CapValue(text, watts)


def is_cap_value(given: object) -> bool:
    """Say whether a value reads as a cap, so that it is no name of a file."""
    if not isinstance(given, (str, int, float)):
        return False
    try:
        read_cap_value(given)
    except InputError:
        return False
    return True


def _percentage(text: str, fraction: float, of: str) -> CapValue:
    if of not in ("", PEAK, RATED) and not _PERCENTILE.fullmatch(of):
        raise InputError(f"'{text}': per cent are of rated power (70%), of the peak without a cap "
                         "(70%peak) or of a percentile of its power (70%p99)")
    if not 0 < fraction <= 1:
        raise InputError(f"{text} must be above 0 % and at most 100 %")
    return CapValue(text, fraction, of or RATED)


def _spelled(number: float) -> str:
    percent = f"{100 * number:g}" if number <= 1 else f"{number:g}"
    return (f"write {percent}% of rated power, {percent}%peak of the peak without a cap, or "
            f"{number:g}W")


def cap_field(power_w: float) -> float | str:
    """Watts as the field of a scenario takes them, however few they are."""
    return float(power_w) if power_w > MOST_UNCLEAR else f"{float(power_w)!r} W"


@dataclass(frozen=True)
class CapInWatts:
    """A cap of a run as it was written and as it was understood."""

    given: str
    of: str
    """`watts`, `rated`, `peak`, a percentile, or `steps` of a list, a plan or a file."""
    watts: float
    """The highest, where it changes over time."""
    watts_min: float
    rated_w: float
    watched: bool = False
    """Power is only measured against it."""

    @classmethod
    def of_fields(
        cls, power: Mapping[str, Any], cap_w: Signal | None, rated_w: float
    ) -> CapInWatts | None:
        """The cap of a scenario's `[power]` fields, which is these watts; None without one."""
        given = power.get("cap")
        watched = given in (None, "none")
        given = power.get("watch_cap") if watched else given
        if cap_w is None or given is None:
            return None
        low_w, high_w = float(cap_w.value.min()), float(cap_w.value.max())
        steps = not is_cap_value(given)
        text, of = ((given if isinstance(given, str) else "steps", "steps") if steps
                    else (read_cap_value(given).text, read_cap_value(given).of))
        return cls(text, of, high_w, low_w, rated_w, watched)

    @property
    def reference_w(self) -> float | None:
        """Power that a percentage is of; None where the cap is given in watts or steps."""
        if self.of in (WATTS, "steps"):
            return None
        return self.rated_w if self.of == RATED else self.watts / read_cap_value(self.given).number

    @property
    def line(self) -> str:
        """One line for the head of an answer."""
        said = "power is measured against a cap of " if self.watched else "cap "
        said += format_power(self.watts) if self.watts_min == self.watts else (
            f"{format_power(self.watts_min)} to {format_power(self.watts)}")
        parts = []
        if self.of not in (WATTS, RATED, "steps") and self.reference_w is not None:
            value = read_cap_value(self.given)
            parts.append(f"{100 * value.number:.4g} % of {value.reference} "
                         f"({format_power(self.reference_w)})")
        if self.rated_w > 0:
            shares = dict.fromkeys(f"{100 * watts / self.rated_w:.3g} %"
                                   for watts in (self.watts_min, self.watts))
            parts.append(f"{' to '.join(shares)} of rated power ({format_power(self.rated_w)})")
        return f"{said}: {', '.join(parts)}" if parts else said

    def to_dict(self) -> dict[str, Any]:
        return {"given": self.given, "of": self.of, "reference_w": self.reference_w,
                "watts": self.watts, "watts_min": self.watts_min, "rated_w": self.rated_w}


def percentile_w(power_w: FloatArray, length_s: FloatArray, percent: float) -> float:
    """The least of these powers that is exceeded for at most the rest of the time."""
    length_s = np.maximum(length_s, 0.0)
    order = np.argsort(power_w, kind="stable")
    passed_s = np.cumsum(length_s[order])
    if not passed_s.size or passed_s[-1] <= 0:
        return float(power_w.max(initial=0.0))
    place = int(np.searchsorted(passed_s, percent / 100.0 * passed_s[-1] * (1.0 - 1e-12)))
    return float(power_w[order[min(place, len(order) - 1)]])
