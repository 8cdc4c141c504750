"""Gaussian beliefs about many configurations, and what a measurement does to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from wattline.model.signal import FloatArray


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the linear algebra on one thread: hundreds of small matrices, for which threads only
    wait for each other (35 s instead of 1 s for a fit on a busy machine of two cores)."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


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
