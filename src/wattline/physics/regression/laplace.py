"""The likeliest coefficients of a curve, and how sure they are (Laplace's approximation).

    target = curve(coefficients) + features @ corrections + noise

The curve bends with its coefficients, so it is followed to the very point that is predicted from:
a straight line drawn at another point may fit the measurements there and be wrong by any factor in
the curve. The corrections are linear and Gaussian, so they are integrated out exactly; what is
searched are the few coefficients of the curve. The evidence, the probability of the measurements
under a prior, compares priors: those that explain the measurements without being needlessly wide
win.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from wattline.model.signal import FloatArray

Curve = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""From coefficients to the predicted logarithms and how they change with each coefficient."""

_STEPS = 60
_REACHED = 1e-4
"""A step that could make the measurements only so much likelier (in logarithms) is the last."""
_NO_VARIANCE = 1e-10


class Sizes(NamedTuple):
    """Standard deviations of the corrections and of the noise."""

    correction_sd: float
    noise_sd: float


class Gaussian(NamedTuple):
    """Belief in each coefficient of a curve: mean and standard deviation."""

    mean: FloatArray
    sd: FloatArray


@dataclass(frozen=True, eq=False)
class Posterior:
    """Knowledge of the coefficients after the measurements."""

    log_evidence: float
    """But for a constant."""
    mean: FloatArray
    covariance: FloatArray
    corrections: FloatArray
    left_out: FloatArray
    """For each measurement the error of the prediction made from all the others."""
    explained: FloatArray
    """For each measurement its variance that comes from that of the coefficients."""


@dataclass(frozen=True, eq=False)
class Measured:
    """Measurements with the features of their corrections, ready to be weighed under many priors.

    The covariance of corrections and noise has the same eigenvectors whatever their sizes are, so
    they are found once.
    """

    target: FloatArray
    features: FloatArray
    _vectors: FloatArray
    _values: FloatArray

    @classmethod
    def of(cls, target: FloatArray, features: FloatArray) -> Measured:
        vectors, scale, _ = np.linalg.svd(features, full_matrices=False)
        held = scale**2 > _NO_VARIANCE
        return cls(target, features, vectors[:, held], scale[held] ** 2)

    def search(
        self, curve: Curve, prior: Gaussian, sizes: Sizes, start: FloatArray, within: float = 0.0
    ) -> FloatArray:
        """The likeliest coefficients, found by Levenberg and Marquardt's steps from a start.

        It ends where a step lowers the misfit by less than a part `within` of it.
        """
        at, damping = start, 1e-3
        normal, pull, misfit = self._normal(*curve(at), sizes)
        stiffness = np.diag(1.0 / prior.sd**2)
        reached = misfit + _surprise(at, prior)
        for _ in range(_STEPS):
            curvature = normal + stiffness
            downhill = pull - (at - prior.mean) / prior.sd**2
            step = np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), downhill)
            tried_normal, tried_pull, misfit = self._normal(*curve(at + step), sizes)
            if (tried := misfit + _surprise(at + step, prior)) < reached:
                gained = reached - tried
                at, normal, pull, reached = at + step, tried_normal, tried_pull, tried
                damping = max(damping / 5.0, 1e-9)
                if gained < within * reached:
                    break
            else:
                damping *= 10.0
            if float(downhill @ step) < _REACHED:
                break
        return at

    def posterior(
        self, curve: Curve, prior: Gaussian, sizes: Sizes, at: FloatArray
    ) -> Posterior:
        """All that is known at the likeliest coefficients."""
        value, slope = curve(at)
        normal, _, misfit = self._normal(value, slope, sizes)
        scaled = np.eye(len(at)) + normal * np.outer(prior.sd, prior.sd)
        covariance = np.linalg.inv(scaled) * np.outer(prior.sd, prior.sd)
        covariance = (covariance + covariance.T) / 2.0
        variance = sizes.noise_sd**2 + sizes.correction_sd**2 * self._values
        rest = len(self.target) - len(self._values)
        volume = (float(np.log(variance).sum()) + 2.0 * rest * float(np.log(sizes.noise_sd))
                  + float(np.linalg.slogdet(scaled)[1]))
        weights = self._solve(self.target - value, sizes)
        # How much each measurement would differ if it were not known: from the diagonal of the
        # inverse of the covariance of all measurements together.
        beside = self._solve(slope, sizes)
        alone = (1.0 - (self._vectors**2) @ self._share(sizes)) / sizes.noise_sd**2
        alone = alone - np.einsum("ij,ij->i", beside @ covariance, beside)
        return Posterior(
            log_evidence=-0.5 * (misfit + _surprise(at, prior) + volume),
            mean=at,
            covariance=covariance,
            corrections=sizes.correction_sd**2 * (self.features.T @ weights),
            left_out=weights / np.maximum(alone, 1e-9),
            explained=np.einsum("ij,ij->i", slope @ covariance, slope),
        )

    def _normal(
        self, value: FloatArray, slope: FloatArray, sizes: Sizes
    ) -> tuple[FloatArray, FloatArray, float]:
        """The curvature, the slope and the size of the misfit, weighed by corrections and noise."""
        both = np.column_stack([slope, self.target - value])
        turned = self._vectors.T @ both
        product = (both.T @ both - turned.T @ (turned * self._share(sizes)[:, None])
                   ) / sizes.noise_sd**2
        return product[:-1, :-1], product[:-1, -1], float(product[-1, -1])

    def _solve(self, columns: FloatArray, sizes: Sizes) -> FloatArray:
        """The inverse of the covariance of corrections and noise, times these columns."""
        turned = self._vectors.T @ columns
        solved: FloatArray = (
            columns - self._vectors @ (turned.T * self._share(sizes)).T) / sizes.noise_sd**2
        return solved

    def _share(self, sizes: Sizes) -> FloatArray:
        """Along each eigenvector the part of the variance that is of corrections."""
        corrected = sizes.correction_sd**2 * self._values
        share: FloatArray = corrected / (corrected + sizes.noise_sd**2)
        return share


def _surprise(at: FloatArray, prior: Gaussian) -> float:
    away = (at - prior.mean) / prior.sd
    return float(away @ away)
