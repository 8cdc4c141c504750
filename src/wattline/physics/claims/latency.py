"""A cap that takes effect late: what a claim under it becomes."""

from __future__ import annotations

import math
from dataclasses import replace

from wattline.model.errors import InputError
from wattline.physics.claims.book import ClaimBook
from wattline.physics.claims.claim import Claim


def with_cap_latency(book: ClaimBook, cap_latency_s: float) -> ClaimBook:
    """The same claims where every cap holds only from so many seconds after the start on.

    Until then a run goes on as without a cap, by the claim of the same class and setting
    without one; a claim that has no such stays as it is. A run that is over before is uncapped.
    """
    if not 0 <= cap_latency_s < math.inf:
        raise InputError(f"cap_latency_s is {cap_latency_s:g}, must be from 0 s on and finite")
    return ClaimBook(_late(book, claim, cap_latency_s) for claim in book)


def _late(book: ClaimBook, claim: Claim, latency_s: float) -> Claim:
    if not claim.setting.capped:
        return claim
    uncapped = replace(claim.setting, cap_w=math.inf, gpu_cap_w=math.inf)
    free = book.find(claim.application, claim.node_class, uncapped)
    if free is None:
        return claim
    part = min(latency_s / free.time_s, 1.0)
    return replace(claim, time_s=part * free.time_s + (1 - part) * claim.time_s,
                   energy_j=part * free.energy_j + (1 - part) * claim.energy_j)
