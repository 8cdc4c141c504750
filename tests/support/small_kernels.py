"""Kernels that compile in no time, for tests of what happens when kernels are compiled."""

from __future__ import annotations

from wattline.model.kernel import kernel


@kernel
def double(value: float) -> float:
    return 2.0 * value


@kernel
def triple(value: float) -> float:
    return 3.0 * value
