"""How closely a power is held against a cap: one slack for all who compare the two."""

from __future__ import annotations

from wattline.model.kernel import kernel

CAP_SLACK = 1e-9
"""Relative: watts of a machine are sums of many, whose last bits depend on the order in which jobs
came and went; a job that just fits must fit in any order, and who judges must allow what the policy
allowed. The independent checkers, the Petri nets and the plain twins have a slack of their own, so
that a mistake here would show there."""


@kernel
def fits(power_w: float, cap_w: float) -> bool:
    """Whether a power is within a cap; for kernels."""
    return power_w <= cap_w * (1.0 + CAP_SLACK)
