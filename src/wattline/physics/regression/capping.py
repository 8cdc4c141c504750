"""The default model: a processor has a demand for power, a cap limits it, and that costs time.

The published polynomial must bend to follow what is really a corner: below its demand a cap is
felt, above it nothing changes, and without a cap the clock rises (turbo). Here the corner, the
uncapped mode and the fully used node are terms of their own, so that a dozen measurements are
enough. Time has a second part, an overhead that neither cores nor watts make shorter and that may
grow with the nodes. Priors keep every coefficient near what processors do unless the measurements
object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from wattline.model.errors import InputError
from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.regression.base import Grid, Model, Prediction
from wattline.physics.regression.laplace import (
    Curve,
    Gaussian,
    Measured,
    Posterior,
    Sizes,
)
from wattline.physics.regression.terms import (
    NO_OVERHEAD,
    OVERHEAD,
    POWER_PRIORS,
    SHIPPED,
    SPREAD,
    TIME_PRIORS,
    Frame,
    Layout,
    Prior,
    Priors,
    log_time,
)

_BY_SHARE = ("its power seems to be that of its nodes times the part of their cores in use; partly "
             "used nodes draw more")
_UNUSUAL = 3.0
"""By how much the measurements must speak for what is rare (in logarithms of the odds)."""
_UNUSUAL_OF_RANKS = 1.0
"""The same for ranks that fill one socket before the next: some libraries of MPI do it unasked."""
_CORRECTIONS = (1e-6, 0.01, 0.03, 0.1, 0.3)
_NOISES = (0.01, 0.02, 0.04, 0.08)
_MIDDLING = (1, 1)
_BESIDE = ((-1, 0), (1, 0), (0, -1), (0, 1))
_FIRST = Sizes(1e-6, 0.03)
"""Sizes at which the search for the likeliest coefficients begins: no corrections."""
_ROUGHLY = 1e-3
"""A search ends where a step lowers the misfit by less than this part of it."""
_HOPELESS = 50.0
"""A layout this much less likely than another (in logarithms) under one belief is given up."""
_NEGLIGIBLE = 0.02
"""A belief this much less likely than the best one is left out of the average."""


class Belief(NamedTuple):
    """One choice of prior; the evidence weighs them."""

    top: str
    """`none`: the highest cap is a cap like the others; `usual`: turbo as processors have it;
    `wide`: the uncapped mode may behave in any way."""
    bend: float
    """By which factor the priors of curvatures are widened."""
    overhead: bool
    """Whether time has a part that neither cores nor watts make shorter."""
    correction_sd: float = 0.0
    noise_sd: float = 0.0

    def log_prior(self) -> float:
        """Simple choices are a little likelier than elaborate ones."""
        odds = {"usual": 0.0, "none": -1.0, "wide": -1.0}[self.top] - (self.bend > 1.0)
        odds -= self.overhead
        noise = np.log(self.noise_sd / 0.02)
        correction = np.log(max(self.correction_sd, 0.003) / 0.015) / 2.0
        return float(odds - 0.5 * (noise**2 + correction**2))


@dataclass(frozen=True, eq=False)
class FittedPart:
    """The coefficients under one belief, and how likely this belief is."""

    weight: float
    coefficients: FloatArray
    covariance: FloatArray
    corrections: FloatArray
    spread: float
    """Standard deviation of what the coefficients do not explain, from left-out predictions."""

    def as_dict(self, priors: tuple[Prior, ...]) -> dict[str, Any]:
        names = [prior.name for prior in priors]
        return {
            "weight": self.weight,
            "coefficients": dict(zip(names, self.coefficients.tolist(), strict=True)),
            "covariance": self.covariance.tolist(),
            "corrections": self.corrections.tolist(),
            "spread": self.spread,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], priors: tuple[Prior, ...]) -> FittedPart:
        return cls(
            float(stored["weight"]),
            np.array([float(stored["coefficients"][prior.name]) for prior in priors]),
            np.asarray(stored["covariance"], dtype=np.float64),
            np.asarray(stored["corrections"], dtype=np.float64),
            float(stored["spread"]),
        )


@dataclass(frozen=True, eq=False)
class FittedHalf:
    """The fitted half of a model: that of power, or that of time.

    Under each belief the coefficients mean different things, so it is predictions that are
    averaged. Coefficients between those of two beliefs may fit nothing at all.
    """

    parts: tuple[FittedPart, ...]

    @property
    def coefficients(self) -> FloatArray:
        """Their means over the beliefs."""
        return self._mean([part.coefficients for part in self.parts])

    @property
    def covariance(self) -> FloatArray:
        """That of the coefficients over all beliefs."""
        middle = self.coefficients
        return self._mean([part.covariance + np.outer(part.coefficients - middle,
                                                      part.coefficients - middle)
                           for part in self.parts])

    def predict(self, curve: Curve, corrections: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Logarithms, and their standard deviations."""
        values, variances = [], []
        for part in self.parts:
            value, slope = curve(part.coefficients)
            values.append(value + corrections @ part.corrections)
            variances.append(np.einsum("ij,ij->i", slope @ part.covariance, slope)
                             + part.spread**2)
        mean = self._mean(values)
        variance = self._mean(variances) + self._mean([(value - mean)**2 for value in values])
        return mean, np.sqrt(np.maximum(variance, 0.0))

    def _mean(self, values: Sequence[FloatArray]) -> FloatArray:
        mean: FloatArray = np.einsum("i,i...->...", [part.weight for part in self.parts],
                                     np.array(values))
        return mean

    def as_list(self, priors: tuple[Prior, ...]) -> list[dict[str, Any]]:
        return [part.as_dict(priors) for part in self.parts]

    @classmethod
    def from_list(
        cls, stored: Sequence[Mapping[str, Any]], priors: tuple[Prior, ...]
    ) -> FittedHalf:
        if not stored:
            raise ValueError("it has no coefficients")
        return cls(tuple(FittedPart.from_dict(one, priors) for one in stored))


@dataclass(frozen=True, eq=False)
class CappingModel(Model):
    """Time and power from the demand, the limit of the cap, and small corrections."""

    application: str
    grid: Grid
    trained_on: int
    sockets: int
    power: FittedHalf
    time: FittedHalf
    layout: Layout = SPREAD
    kind: str = "capping"
    note: str = ""

    def predict_points(self, points: FloatArray) -> Prediction:
        frame = Frame(self.grid, self.sockets, self.layout)
        corrections = frame.corrections(points)
        at = frame.at(points)
        log_power, power_sd = self.power.predict(at.socket_power, corrections)
        terms = at.of_time(self.power.coefficients)
        log_s, time_sd = self.time.predict(lambda time: log_time(terms, time), corrections)
        return Prediction(np.exp(log_s), np.exp(log_power) * frame.counted(points), time_sd,
                          power_sd)

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind, "grid": self.grid.as_dict(), "trained_on": self.trained_on,
            "sockets": self.sockets, "layout": self.layout._asdict(),
            "power": self.power.as_list(POWER_PRIORS), "time": self.time.as_list(TIME_PRIORS),
        }

    @classmethod
    def from_dict(cls, application: str, grid: Grid, stored: Mapping[str, Any]) -> CappingModel:
        return cls(application, grid, int(stored["trained_on"]), int(stored["sockets"]),
                   FittedHalf.from_list(stored["power"], POWER_PRIORS),
                   FittedHalf.from_list(stored["time"], TIME_PRIORS),
                   Layout(**stored["layout"]),
                   note=str(stored.get("note", "")))


def fit_capping(
    table: ConfigurationTable, grid: Grid, sockets: int = 2, priors: Priors = SHIPPED
) -> CappingModel:
    """Fit the capping model to every row of a table; `grid` is what it may be asked about."""
    if not grid.is_classic:
        raise InputError(f"the capping model knows nodes, cores and a cap for each socket; "
                         f"'{table.application}' is set by {', '.join(grid.names)}: use smooth")
    powers = _fit_powers(table, grid, sockets, priors.power)
    fits = [_with_time(table, Frame(grid, sockets, layout), evidence, power, priors.time)
            for layout, (evidence, power) in powers.items()]
    _, layout, power, time = max(fits, key=lambda one: one[0])
    note = "; ".join(filter(None, (table.note, _BY_SHARE if layout.by_share else "")))
    return CappingModel(table.application, grid, len(table), sockets, power, time, layout,
                        note=note)


def _fit_powers(
    table: ConfigurationTable, grid: Grid, sockets: int, priors: tuple[Prior, ...]
) -> dict[Layout, tuple[float, FittedHalf]]:
    """Power with ranks on all sockets or on as few as hold them, each counted in the likelier way.

    A layout that is hopeless under the first belief is not weighed under the others.
    """
    first, *others = _shapes(overhead=False)
    weighers = {layout: _power_weigher(table, Frame(grid, sockets, layout), priors)
                for layout in (Layout(packed, by_share) for packed, by_share
                               in product((False, True), repeat=2))}
    found = {layout: weigher(first) for layout, weigher in weighers.items()}
    best = max(map(_total, found.values()))
    kept: dict[bool, tuple[float, Layout, FittedHalf]] = {}
    for layout, weighed in found.items():
        if _total(weighed) < best - _HOPELESS:
            continue
        every = [*weighed, *(one for belief in others for one in weighers[layout](belief))]
        evidence = _total(every) - _UNUSUAL * layout.by_share
        if layout.packed not in kept or evidence > kept[layout.packed][0]:
            kept[layout.packed] = evidence, layout, _likely(every)
    return {layout: (evidence, power) for evidence, layout, power in kept.values()}


def _power_weigher(
    table: ConfigurationTable, frame: Frame, priors: tuple[Prior, ...]
) -> Callable[[Belief], list[Weighed]]:
    points = table.points()
    measured = Measured.of(np.log(table.power_w / frame.counted(points)),
                           frame.corrections(points))
    curve = frame.at(points).socket_power
    return lambda belief: _weigh(
        curve, measured, Gaussian(*prior_arrays(priors, belief, width=4.0)), belief)


def _with_time(
    table: ConfigurationTable, frame: Frame, evidence: float, power: FittedHalf,
    priors: tuple[Prior, ...],
) -> tuple[float, Layout, FittedHalf, FittedHalf]:
    """Time on top of power, with the evidence for both."""
    points = table.points()
    time_evidence, time = _fit_time(frame, points, np.log(table.time_s), power.coefficients, priors)
    surprise = frame.layout.packed * (_UNUSUAL_OF_RANKS if table.of_ranks else _UNUSUAL)
    return evidence + time_evidence - surprise, frame.layout, power, time


def prior_arrays(
    priors: tuple[Prior, ...], belief: Belief, width: float
) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations under a belief; `width` widens the uncapped mode."""
    mean = np.array([prior.mean for prior in priors])
    sd = np.array([prior.sd for prior in priors])
    for place, prior in enumerate(priors):
        if prior.group == "bend":
            sd[place] *= belief.bend
        elif prior.group == "top" and belief.top == "wide":
            sd[place] *= width
        elif prior.group == "top" and belief.top == "none":
            mean[place], sd[place] = 0.0, 1e-6
        elif prior.name == "overhead" and not belief.overhead:
            mean[place], sd[place] = NO_OVERHEAD, 1e-6
    return mean, sd


class Weighed(NamedTuple):
    """Findings from the measurements under one belief."""

    log_probability: float
    posterior: Posterior
    refined: Callable[[], Posterior]
    """The same with a search to its very end, which is worth the time where it is likely."""


def _fit_time(
    frame: Frame, points: FloatArray, target: FloatArray, power: FloatArray,
    priors: tuple[Prior, ...],
) -> tuple[float, FittedHalf]:
    terms = frame.at(points).of_time(power)
    measured = Measured.of(target, frame.corrections(points))
    found: list[Weighed] = []
    for belief in (*_shapes(overhead=False), *_shapes(overhead=True)):
        mean, sd = prior_arrays(priors, belief, width=5.0)
        # The scale of the times is the application's own, so the level starts at their middle.
        mean[0] = np.median(target - terms[:, 1:] @ mean[1:OVERHEAD])
        found += _weigh(lambda at: log_time(terms, at), measured, Gaussian(mean, sd), belief)
    return _total(found), _likely(found)


def _shapes(overhead: bool) -> Iterator[Belief]:
    for top, bend in product(("usual", "none", "wide"), (1.0, 3.0)):
        yield Belief(top, bend, overhead)


def _weigh(curve: Curve, measured: Measured, prior: Gaussian, belief: Belief) -> list[Weighed]:
    """The probability of the likely sizes of corrections and noise.

    From a middling size it goes to likelier ones beside it until there is none. The likeliest
    coefficients of one size are where the search for those of the next begins.
    """
    def weighed(place: tuple[int, int], start: FloatArray) -> Weighed:
        sizes = Sizes(_CORRECTIONS[place[0]], _NOISES[place[1]])
        at = measured.search(curve, prior, sizes, start, _ROUGHLY)
        posterior = measured.posterior(curve, prior, sizes, at)
        return Weighed(
            posterior.log_evidence + belief._replace(**sizes._asdict()).log_prior(), posterior,
            lambda: measured.posterior(curve, prior, sizes,
                                       measured.search(curve, prior, sizes, at)))

    place = _MIDDLING
    found = {place: weighed(place, measured.search(curve, prior, _FIRST, prior.mean, _ROUGHLY))}
    while True:
        best = found[place]
        beside = [(place[0] + down, place[1] + right) for down, right in _BESIDE]
        found |= {one: weighed(one, best.posterior.mean) for one in beside
                  if one not in found and 0 <= one[0] < len(_CORRECTIONS)
                  and 0 <= one[1] < len(_NOISES)}
        likeliest = max(found, key=lambda one: found[one].log_probability)
        if likeliest == place:
            return list(found.values())
        place = likeliest


def _total(found: list[Weighed]) -> float:
    return float(np.logaddexp.reduce([one.log_probability for one in found]))


def _likely(found: list[Weighed]) -> FittedHalf:
    """The fits of all beliefs that are likely, each with its probability as its weight."""
    best = max(one.log_probability for one in found)
    chance = np.exp([one.log_probability - best for one in found])
    kept = np.flatnonzero(chance > _NEGLIGIBLE)
    weights = chance[kept] / chance[kept].sum()
    return FittedHalf(tuple(_part(float(weight), found[place].refined())
                            for weight, place in zip(weights, kept, strict=True)))


def _part(weight: float, posterior: Posterior) -> FittedPart:
    # Errors of left-out predictions are the honest size of what is still unknown.
    unexplained = float(np.mean(posterior.left_out**2) - np.mean(posterior.explained))
    return FittedPart(weight, posterior.mean, posterior.covariance, posterior.corrections,
                      float(np.sqrt(max(unexplained, 1e-4))))
