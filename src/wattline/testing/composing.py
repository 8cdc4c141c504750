"""A composition of policies in which only one's own parts have to be named."""

from __future__ import annotations

from typing import Any

from wattline.policies.admission.none import NoLimit
from wattline.policies.backfill.easy import Easy
from wattline.policies.configuration.requested import Requested
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.placement.counted import Counted
from wattline.policies.regulation.none import NoRegulation

_REST = Composition(Fcfs(), Easy(), NoLimit(), Requested(), Counted(), NoRegulation())


def composed(**axes: Any) -> Composition:
    """First come, first served with EASY on counted nodes, but for the axes that are given."""
    return _REST._replace(**axes)
