"""Linear regression with Gaussian priors, in the form that suits few points and many features.

A site measures ten configurations and asks about a hundred. Least squares cannot do that; with a
prior on every coefficient (what we expect before measuring, and how surely) the same algebra can,
and it says how sure it is. The evidence, the probability of the measurements under the prior,
compares priors: those that explain the measurements without being needlessly wide win.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from wattline.model.signal import FloatArray


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the linear algebra on one thread: hundreds of small matrices, for which threads only
    wait for each other (35 s instead of 1 s for a fit on a busy machine of two cores)."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is known of the coefficients after the measurements."""

    mean: FloatArray
    covariance: FloatArray
    left_out: FloatArray
    """For each measurement the error of the prediction made from all the others."""


@dataclass(frozen=True, eq=False)
class Problem:
    """`target = features @ coefficients + noise`, to be weighed under many priors.

    The products of the features that all priors share are made once. The algebra is done in the
    space of the measurements or in that of the coefficients, whichever is smaller.
    """

    features: FloatArray
    target: FloatArray
    _gram: FloatArray

    @classmethod
    def of(cls, features: FloatArray, target: FloatArray) -> Problem:
        return cls(features, target, features.T @ features)

    def log_evidence(self, mean: FloatArray, sd: FloatArray, noise_sd: float) -> float:
        """Log probability of the measurements under a prior, but for a constant."""
        surprise = self.target - self.features @ mean
        scaled = self.features * sd
        count, width = scaled.shape
        if count <= width:
            lower = np.linalg.cholesky(scaled @ scaled.T + noise_sd**2 * np.eye(count))
            white = np.linalg.solve(lower, surprise)
            return -0.5 * float(white @ white) - float(np.log(np.diag(lower)).sum())
        lower = np.linalg.cholesky(self._precision(sd, noise_sd))
        white = np.linalg.solve(lower, scaled.T @ surprise) / noise_sd**2
        misfit: float = float(surprise @ surprise) / noise_sd**2 - float(white @ white)
        spread: float = float(np.log(np.diag(lower)).sum()) + count * float(np.log(noise_sd))
        return -0.5 * misfit - spread

    def posterior(self, mean: FloatArray, sd: FloatArray, noise_sd: float) -> Posterior:
        surprise = self.target - self.features @ mean
        scaled = self.features * sd
        inverse = np.linalg.inv(self._precision(sd, noise_sd))
        shift = inverse @ (scaled.T @ surprise) / noise_sd**2
        # How much a measurement pulls its own prediction; the rest is what the others say.
        own = np.einsum("ij,ij->i", scaled @ inverse, scaled) / noise_sd**2
        return Posterior(
            mean=mean + sd * shift,
            covariance=inverse * np.outer(sd, sd),
            left_out=(surprise - scaled @ shift) / np.maximum(1.0 - own, 1e-9),
        )

    def _precision(self, sd: FloatArray, noise_sd: float) -> FloatArray:
        precision: FloatArray = self._gram * np.outer(sd, sd) / noise_sd**2
        precision[np.diag_indices_from(precision)] += 1.0
        return precision


def variance_saved(factor: FloatArray, noise_sd: float) -> FloatArray:
    """For each row, how much its measurement would lower the sum of all variances."""
    known = factor @ (factor.T @ factor)
    saved: FloatArray = np.einsum("ij,ij->i", known, factor) / (
        np.einsum("ij,ij->i", factor, factor) + noise_sd**2
    )
    return saved


def condition(factor: FloatArray, row: int, noise_sd: float) -> FloatArray:
    """The square root of the covariance after a measurement of one row (Potter's form)."""
    direction = factor[row]
    total = float(direction @ direction) + noise_sd**2
    shrink = 1.0 / (total + noise_sd * np.sqrt(total))
    conditioned: FloatArray = factor - shrink * np.outer(factor @ direction, direction)
    return conditioned
