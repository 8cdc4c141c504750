"""One way to run a job, with what it costs, and how well that is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattline.model.signal import Signal

if TYPE_CHECKING:
    import pandas as pd

BASES = ("measured", "claimed", "predicted")
MEASURES = {"energy": "energy_j", "time": "time_s", "edp": "edp_js", "cost": "cost",
            "carbon": "carbon_g"}
"""What an option can be the best by, and where that stands."""


@dataclass(frozen=True)
class JobOption:
    """A node class, a number of nodes and threads, a cap and a frequency: time and joules."""

    time_s: float
    energy_j: float
    """Of all nodes of the job."""
    basis: str
    """`measured`: runs of a table; `claimed`: a claim that rests on runs; `predicted`: a model."""
    source: str
    """Where the figures come from."""
    node_class: str = ""
    nodes: int = 1
    threads: str = ""
    """On each node."""
    cap_w: float = math.inf
    """Of each processor package; infinite for none."""
    frequency_ghz: float = math.nan
    """NaN where it is left to the machine."""
    time_error: float = math.nan
    """Relative, one standard deviation; NaN where nobody knows."""
    energy_error: float = math.nan
    runs: int = 0
    """How many runs it rests on; 0 for a prediction."""
    cost: float = math.nan
    carbon_g: float = math.nan
    others: str = ""
    """What else is set, in words: GPUs and their cap."""

    @property
    def power_w(self) -> float:
        return self.energy_j / self.time_s

    @property
    def edp_js(self) -> float:
        """Energy times delay."""
        return self.energy_j * self.time_s

    @property
    def label(self) -> str:
        """The setting in words."""
        parts = [self.node_class] if self.node_class else []
        parts.append(f"{self.nodes} node" + ("" if self.nodes == 1 else "s"))
        parts += [f"{self.threads} threads"] if self.threads else []
        parts += [self.others] if self.others else []
        parts += [f"cap {self.cap_w:g} W"] if math.isfinite(self.cap_w) else []
        parts += [f"{self.frequency_ghz:g} GHz"] if math.isfinite(self.frequency_ghz) else []
        return ", ".join(parts)

    def priced(self, price: Signal | None, carbon: Signal | None) -> JobOption:
        """With money and grams, of a job that starts at second 0 of the rates."""
        return replace(self, cost=self._times(price), carbon_g=self._times(carbon))

    def _times(self, rate: Signal | None) -> float:
        return math.nan if rate is None else self.power_w * rate.integral(0.0, self.time_s)

    def as_dict(self) -> dict[str, Any]:
        return {**vars(self), "power_w": self.power_w, "edp_js": self.edp_js}


@dataclass(frozen=True)
class Known:
    """What the sources know of an application."""

    options: tuple[JobOption, ...]
    notes: tuple[str, ...] = ()
    """What must be known of these figures: a sentence each."""


@dataclass(frozen=True, repr=False)
class JobAdvice:
    """All options of a job, those that nothing beats, and the best by each measure.

    >>> import wattline as wl
    >>> found = wl.advise_job("CG.A")
    >>> found.options[found.best["time"]].node_class
    'xeon'
    """

    application: str
    options: tuple[JobOption, ...]
    front: tuple[int, ...]
    """Options that no other beats in both time and energy, the fastest first."""
    best: Mapping[str, int]
    """By `energy`, `time`, `edp`, `cost`, `carbon`: which option."""
    notes: tuple[str, ...] = ()
    currency: str | None = None

    @property
    def remarks(self) -> tuple[str, ...]:
        """What must be known of these figures: the notes, under the name that all answers use."""
        return self.notes

    def to_dict(self) -> dict[str, Any]:
        return {
            "application": self.application, "currency": self.currency,
            "best": {name: {"option": at, **self.options[at].as_dict()}
                     for name, at in self.best.items()},
            "front": list(self.front),
            "options": [option.as_dict() for option in self.options],
            "notes": list(self.notes),
        }

    def to_pandas(self) -> pd.DataFrame:
        """A row per option."""
        import pandas as pd

        return pd.DataFrame([option.as_dict() for option in self.options])

    def __repr__(self) -> str:
        best = ", ".join(f"{name}: {self.options[at].label}" for name, at in self.best.items())
        return f"JobAdvice({self.application!r}: {len(self.options)} options; best by {best})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(each.label)}</td><td>{each.time_s:.4g}</td>"
            f"<td>{each.energy_j:.4g}</td><td>{escape(each.basis)}</td></tr>"
            for each in self.options)
        return ("<table><thead><tr><th>option</th><th>time s</th><th>energy J</th><th>known by</th>"
                f"</tr></thead><tbody>{rows}</tbody></table>")

    def plot(self, path: str | Path) -> Path:
        """Draw time over energy; PNG, SVG or PDF by the name."""
        from wattline.advice.job_plot import draw_job

        return draw_job(self, Path(path))


def pareto_front(options: Sequence[JobOption]) -> tuple[int, ...]:
    """Options than which no other is as fast and as thrifty and better in one, fastest first."""
    order = sorted(range(len(options)), key=lambda at: (options[at].time_s, options[at].energy_j))
    found: list[int] = []
    for at in order:
        if not found or options[at].energy_j < options[found[-1]].energy_j:
            found.append(at)
    return tuple(found)


def best_of(options: Sequence[JobOption]) -> dict[str, int]:
    """The best by each measure that is known; of equals the faster one."""
    found = {}
    for name, attribute in MEASURES.items():
        values = [(getattr(option, attribute), option.time_s) for option in options]
        if not any(math.isnan(value) for value, _ in values):
            found[name] = values.index(min(values))
    return found
