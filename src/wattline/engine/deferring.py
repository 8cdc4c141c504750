"""Runs that put expected ends in order when somebody asks for them (`policies/releases.py`)."""

from __future__ import annotations

from wattline.engine.congestion import NoCongestion
from wattline.engine.truth import AsAsked
from wattline.engine.world import Nature
from wattline.policies.admission.block import Block
from wattline.policies.admission.none import NoLimit
from wattline.policies.admission.wait import Wait
from wattline.policies.backfill.easy import Easy
from wattline.policies.contract import Composition
from wattline.policies.order.fcfs import Fcfs
from wattline.policies.order.largest import Largest
from wattline.policies.order.sjf import Sjf
from wattline.policies.order.wfp import Wfp
from wattline.policies.state import State
from wattline.policies.traits import regulates

ORDERS = (Fcfs, Sjf, Largest, Wfp)
ADMISSIONS = (NoLimit, Block, Wait)


def defer(state: State, policy: Composition, nature: Nature) -> None:
    """Let this state put off what it can under this policy, from now on.

    Nothing but EASY reads the list there, and nobody pauses a job or changes its speed.
    """
    clock = state.clock[0]
    clock.deferred = 0
    clock.listed_s = clock.now_s
    clock.defers = int(
        isinstance(policy.backfill, Easy) and isinstance(policy.admission, ADMISSIONS)
        and isinstance(policy.order, ORDERS) and not regulates(policy.regulation)
        and isinstance(nature.answers, AsAsked) and isinstance(nature.network, NoCongestion))
