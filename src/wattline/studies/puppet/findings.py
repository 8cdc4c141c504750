"""What the published study found, each claim held against our figures."""

from __future__ import annotations

from collections.abc import Callable

from wattline.studies.puppet import allocation_claims as allocation
from wattline.studies.puppet import dvfs_claims as dvfs
from wattline.studies.puppet.cases import Ratios, busy_parts
from wattline.studies.puppet.figures import DayCurve
from wattline.studies.puppet.verdicts import StudyFinding

CHECKS: tuple[Callable[[Ratios, tuple[int, ...], int], StudyFinding], ...] = (
    allocation.wait_beats_block, dvfs.dvfs_trade, dvfs.cubic_hurts_least, dvfs.tight_cap_edp,
    allocation.allocation_trade, allocation.wfp_robust, allocation.idle_and_load,
    allocation.busier_suffers_more, dvfs.tighter_more_use, dvfs.beta_and_edp,
    allocation.worse_when_tight, allocation.idle_and_order, allocation.minor_until_tight,
    allocation.comparable_unless_tight,
)


def findings(ratios: Ratios, curve: DayCurve, parts: int) -> list[StudyFinding]:
    """Every claim of the published study that these simulations can answer."""
    busy = busy_parts(ratios, parts)
    found = [check(ratios, busy, parts) for check in CHECKS]
    found.insert(7, allocation.under_the_cap(ratios, curve))
    return found
