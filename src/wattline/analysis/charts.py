"""What the charts of a page show, as data: enough for any screen, and bounded.

Series over time are reduced to spans with their exact mean, lowest and highest value; the page
reduces them further to the width that it has, and back to these when someone zooms in.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wattline.analysis import plots, series
from wattline.analysis.describe import unix_start_s
from wattline.analysis.drawing import COLOURS, span_of
from wattline.model.run import Run
from wattline.model.signal import FloatArray, Signal

_SPANS_IN_ALL, _MOST_SPANS, _LEAST_SPANS = 24_000, 4000, 400
_MOST_CAP_STEPS = 2000
SPANS_BY_SIZE = 1000
_DIGITS = 7


@dataclass(frozen=True)
class TimeAxis:
    """Times as the page counts them: Unix seconds, or seconds since the first submission."""

    start_s: float
    end_s: float
    unix_s: float | None

    @property
    def dated(self) -> bool:
        return self.unix_s is not None

    @property
    def range(self) -> list[float]:
        return [self.x(self.start_s), self.x(self.end_s)]

    def x(self, time_s: float) -> float:
        zero_s = -self.unix_s if self.unix_s is not None else self.start_s
        return round(time_s - zero_s, 3)


@dataclass(frozen=True)
class Chart:
    """A chart of the page by its name there, with what its script needs."""

    id: str
    title: str
    spec: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.id, "title": self.title, **self.spec}


def time_axis(runs: Mapping[str, Run]) -> TimeAxis:
    """The axis that all charts over time share; dates are those of the first run's log."""
    start_s, end_s = span_of(runs)
    return TimeAxis(start_s, end_s, unix_start_s(next(iter(runs.values()))))


def spans(runs: Mapping[str, Run]) -> int:
    """How many spans each series is reduced to: fewer of each where there are many runs."""
    return max(_LEAST_SPANS, min(_MOST_SPANS, _SPANS_IN_ALL // len(runs)))


def finest_s(runs: Mapping[str, Run]) -> float | None:
    """The length of the spans; None where every step of every series is there."""
    axis = time_axis(runs)
    if max(len(run.events) for run in runs.values()) <= spans(runs):
        return None
    return series.round_span_s(axis.end_s - axis.start_s, spans(runs))


def power(runs: Mapping[str, Run]) -> Chart:
    axis = time_axis(runs)
    named = [{**known, **_cap(cap_w, axis)} for known, cap_w in _caps(runs)]
    return _over_time("power", "Power over time", "power", runs, series.power_steps, caps=named)


def utilisation(runs: Mapping[str, Run]) -> Chart:
    return _over_time("utilisation", "Utilisation over time", "share", runs,
                      series.utilisation_steps, top=1.03)


def queue(runs: Mapping[str, Run]) -> Chart:
    return _over_time("queue", "Queue length over time", "count", runs, series.queue_steps)


def durations(runs: Mapping[str, Run]) -> Chart:
    curves = []
    for name, run in runs.items():
        share, power_w = series.duration_curve(series.power_steps(run))
        curves.append({"name": name, "x": _rounded(share), "y": _rounded(power_w)})
    caps = [{**known, "edge": [0, 1], "mean": [float(cap_w.value[0])]}
            for known, cap_w in _caps(runs) if np.unique(cap_w.value).size == 1]
    return Chart("power-duration", "For how much of the time power is how high", {
        "kind": "share", "quantity": "power", "dated": False, "range": [0, 1], "runs": curves,
        "caps": caps})


def waits(runs: Mapping[str, Run]) -> Chart:
    curves, longest_s = [], 60.0
    for name, run in runs.items():
        wait_s, share = series.wait_cdf(run)
        longest_s = max(longest_s, float(wait_s.max(initial=0.0)))
        curves.append({"name": name, "x": _rounded(wait_s), "y": _rounded(share)})
    return Chart("waits", "How long jobs wait", {
        "kind": "wait", "quantity": "share", "dated": False, "range": [1.0, longest_s * 1.1],
        "top": 1.02, "runs": curves})


def job_map(name: str, run: Run, found: series.JobMap, runs: Mapping[str, Run],
            users: Sequence[int]) -> Chart:
    """Which unit did what when, as a picture under axes."""
    axis = time_axis(runs)
    colour = plots.map_colours(run, found.job, users)
    palette = [*plots.OTHERS, *COLOURS[: plots.TOP_USERS]]
    named = [(COLOURS[rank].lower(), plots.user_name(run, user))
             for rank, user in enumerate(users)]
    if users and plots.shows_others(colour):
        named += [(shade, "other users") for shade in plots.OTHERS]
    return Chart(name, "Which job ran where", {
        "kind": "time", "form": "map", "quantity": "count", "dated": axis.dated,
        "top": found.units, "unit": plots.unit_word(run), "colours": named,
        "image": _image(colour, palette),
        "span": [axis.x(found.start_s), axis.x(found.end_s)]})


def use_by_size(name: str, run: Run, runs: Mapping[str, Run]) -> Chart:
    """Units in use over time, stacked by the size of the jobs, the largest jobs on top."""
    from matplotlib.colors import to_hex

    edge_s, layers = series.use_by_size(run, SPANS_BY_SIZE)
    axis = time_axis(runs)
    shades = zip(*(plots.size_shades(len(layers), dark=dark) for dark in (False, True)),
                 strict=True)
    edge, unit = _regular(edge_s, axis), plots.unit_word(run)
    piled = [{"name": f"jobs of {label} {unit if label == '1' else f'{unit}s'}",
              "colour": to_hex(light), "dark": to_hex(dark), "edge": edge, "mean": _rounded(units)}
             for (light, dark), (label, units) in zip(shades, layers, strict=True)]
    return Chart(name, "What the machine was used for", {
        "kind": "time", "form": "stack", "quantity": "count", "dated": axis.dated,
        "top": 1.04 * run.units, "runs": piled[::-1]})


def _over_time(name: str, title: str, quantity: str, runs: Mapping[str, Run],
               steps_of: Callable[[Run], series.Steps], **more: Any) -> Chart:
    axis = time_axis(runs)
    span_s = series.round_span_s(axis.end_s - axis.start_s, spans(runs))
    packed = [{"name": label, **_packed(series.band(steps_of(run), span_s), span_s, axis)}
              for label, run in runs.items()]
    return Chart(name, title, {"kind": "time", "quantity": quantity, "dated": axis.dated,
                               "runs": packed, **more})


def _packed(found: series.Band, span_s: float, axis: TimeAxis) -> dict[str, Any]:
    if found.high is found.mean:  # every step is there
        return {"edge": [axis.x(edge_s) for edge_s in found.edge_s.tolist()],
                "mean": _rounded(found.mean)}
    return {"edge": _regular(found.edge_s, axis, span_s), "mean": _rounded(found.mean),
            "low": _rounded(found.low), "high": _rounded(found.high)}


def _regular(edge_s: FloatArray, axis: TimeAxis, span_s: float | None = None) -> dict[str, float]:
    return {"from": axis.x(float(edge_s[0])), "to": axis.x(float(edge_s[-1])),
            "span": float(edge_s[1] - edge_s[0]) if span_s is None else span_s}


def _caps(runs: Mapping[str, Run]) -> list[tuple[dict[str, Any], Signal]]:
    """The caps that differ: each with its name, and the first run of those that it is of.

    One cap has a colour of its own; where there are several, each has that of its run.
    """
    found: list[tuple[Signal, dict[int, str]]] = []
    for number, (name, run) in enumerate(runs.items()):
        if run.cap_w is None:
            continue
        of = next((of for cap_w, of in found if _equal(run.cap_w, cap_w)), None)
        if of is None:
            found.append((run.cap_w, {number: name}))
        else:
            of[number] = name
    if len(found) == 1:
        return [({"name": "power cap"}, found[0][0])]
    return [({"name": f"cap of {', '.join(of.values())}", "run": next(iter(of))}, cap_w)
            for cap_w, of in found]


def _cap(cap_w: Signal, axis: TimeAxis) -> dict[str, Any]:
    """The cap as steps; where it changes too often for any screen, the lowest of each span."""
    inner = cap_w.time_s[(cap_w.time_s > axis.start_s) & (cap_w.time_s < axis.end_s)]
    edge_s = np.concatenate(([axis.start_s], inner, [axis.end_s]))
    steps = series.Steps(edge_s, cap_w.sample(edge_s[:-1]))
    if steps.value.size > _MOST_CAP_STEPS:
        span_s = series.round_span_s(axis.end_s - axis.start_s, _MOST_CAP_STEPS)
        found = series.band(steps, span_s)
        return {"edge": _regular(found.edge_s, axis, span_s), "mean": _rounded(found.low)}
    return {"edge": [axis.x(edge) for edge in steps.edge_s.tolist()],
            "mean": _rounded(steps.value)}


def _equal(one: Signal, other: Signal) -> bool:
    return np.array_equal(one.time_s, other.time_s) and np.array_equal(one.value, other.value)


def _rounded(values: FloatArray) -> list[float]:
    """Digits that no screen and no hover shows are not sent; whole numbers without a point."""
    return [int(value) if value.is_integer() else value
            for value in (float(f"{value:.{_DIGITS}g}") for value in values.tolist())]


def _image(colour: Any, palette: Sequence[str]) -> str:
    """A picture of palette colours, 0 transparent, as the address of an image."""
    from matplotlib.colors import to_rgb
    from PIL import Image

    picture = Image.fromarray(np.flipud(colour).astype(np.uint8))
    parts = [(0, 0, 0), *(tuple(round(255 * part) for part in to_rgb(shade)) for shade in palette)]
    picture.putpalette([part for shade in parts for part in shade])
    content = io.BytesIO()
    picture.save(content, format="PNG", transparency=0, optimize=True)
    return "data:image/png;base64," + base64.b64encode(content.getvalue()).decode()
