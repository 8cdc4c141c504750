"""What somebody is ready to bear: more waiting, more energy, jobs that never run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral

from wattline.model.errors import InputError
from wattline.model.units import parse_duration, parse_energy, parse_fraction, plain_number


@dataclass(frozen=True)
class Figures:
    """What a run is judged by."""

    wait_s: float
    slowdown: float
    energy_j: float
    refused: int


@dataclass(frozen=True)
class Limits:
    """Each as `+10%` or `-5%` (of what it is without a cap) or absolute: `30min`, `5`,
    `2GWh`; numbers are seconds and joules.

    A limit that is not given does not count; but jobs that the cap never lets run do, unless
    `refused` says how many may be lost: every other figure looks better without them.

    >>> import wattline as wl
    >>> wl.Limits(wait="+10%", refused=0).wait
    '+10%'
    """

    wait: str | float | None = None
    slowdown: str | float | None = None
    energy: str | float | None = None
    refused: int | None = None

    def __post_init__(self) -> None:
        if self.wait is self.slowdown is self.energy is self.refused is None:
            raise InputError("say what can be borne: --wait, --slowdown, --energy or --refused, "
                             "like --wait +10%")
        if self.refused is not None and (
                not isinstance(self.refused, Integral) or self.refused < 0):
            raise InputError(f"--refused is {self.refused!r}, must be a whole number of jobs, at "
                             "least 0")
        self.resolve(Figures(1.0, 1.0, 1.0, 0))

    def resolve(self, free: Figures) -> Figures:
        """The limits in figures, beside those of the run without a cap."""
        unlimited = float("inf")
        return Figures(
            wait_s=unlimited if self.wait is None
            else _limit("--wait", self.wait, free.wait_s, parse_duration),
            slowdown=unlimited if self.slowdown is None
            else _limit("--slowdown", self.slowdown, free.slowdown, plain_number),
            energy_j=unlimited if self.energy is None
            else _limit("--energy", self.energy, free.energy_j, parse_energy),
            refused=free.refused + (self.refused or 0),
        )

    def given(self) -> Mapping[str, str | float]:
        """The limits that count, as they were written."""
        named = {"wait": self.wait, "slowdown": self.slowdown, "energy": self.energy}
        return {name: text for name, text in named.items() if text is not None} | {
            "refused": self.refused or 0}

    def described(self) -> Mapping[str, str]:
        """The same for people: a bare number with the unit that it is taken in."""
        return {name: f"{text} {UNITS[name]}" if name in UNITS and _is_number(str(text))
                else str(text) for name, text in self.given().items()}


UNITS = {"wait": "s", "energy": "J"}
"""Those of bare numbers."""


def broken(found: Figures, limit: Figures) -> tuple[str, ...]:
    """The limits that a run breaks; sums of floats are not compared to the last bit."""
    slack = 1.0 + 1e-9

    def kept(value: float, most: float) -> bool:
        return most == float("inf") or value <= most * slack  # without any job the value is nan

    good = {
        "wait": kept(found.wait_s, limit.wait_s),
        "slowdown": kept(found.slowdown, limit.slowdown),
        "energy": kept(found.energy_j, limit.energy_j),
        "refused": found.refused <= limit.refused,
    }
    return tuple(name for name, holds in good.items() if not holds)


def _limit(
    option: str, given: str | float, free: float, parse: Callable[[str], float]
) -> float:
    text = str(given).strip()
    if text.startswith(("+", "-")) and text.endswith("%"):
        sign = -1.0 if text.startswith("-") else 1.0
        try:
            return free * (1.0 + sign * parse_fraction(text[1:]))
        except InputError:
            raise InputError(f"{option}: '{text}' is no share; write it like +10%") from None
    if text.startswith("+"):  # read as a factor, +10 would allow eleven times as much
        like = f"{text}%" if _is_number(text) else "+10%"
        raise InputError(f"{option}: '{text}' has no percent sign; write {like} for so much more "
                         "than without a cap, or a limit without the +")
    if text.endswith("%"):
        raise InputError(f"{option}: write +{text}: so much more than without a cap; or -{text}")
    try:
        value = parse(text)
    except InputError as error:
        raise InputError(f"{option}: {error}") from None
    except ValueError:
        raise InputError(f"{option}: '{text}' is no number; write it like 5 or +10%") from None
    if not value >= 0:
        raise InputError(f"{option}: {text} must not be negative")
    return float(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
