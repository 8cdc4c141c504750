"""The rules of contracts with the grid, declared: each is made for the contract's control desk."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from pydantic import StrictBool

from wattline.policies.declaration import REGULATION, Declaration, Parameters

NEEDS = "a contract (`[contract]`)"


class ContractParameters(Parameters):
    """What every rule of a contract may do beyond starting jobs and capping them."""

    preempt: StrictBool = False
    feedback: StrictBool = False
    sleep: StrictBool = False


class QosCapParameters(ContractParameters):
    """Caps first, and servers kept for wide jobs that are due."""

    reserve: StrictBool = True


def _of_desk(module: str, name: str) -> Callable[[Any, Any], Any]:
    def make(desk: Any, given: Any) -> Any:
        return getattr(import_module(f"wattline.policies.{module}"), name)(desk)

    return make


AQA = Declaration(
    REGULATION, "aqa", "Types share the servers that the target feeds; weights adapt.",
    _of_desk("regulation.sharing", "Sharing"), parameters=ContractParameters,
    needs=NEEDS)
QOSG = Declaration(
    REGULATION, "qosg", "The same with weights from a guarantee; another bid.",
    _of_desk("regulation.sharing", "Sharing"), parameters=ContractParameters,
    needs=NEEDS)
QOSCAP = Declaration(
    REGULATION, "qoscap", "Caps first: jobs with time to spare lend their power to the target.",
    _of_desk("regulation.qoscap", "QosCap"), parameters=QosCapParameters,
    needs=NEEDS)
ENERGYQARE = Declaration(
    REGULATION, "energyqare", "Follow the target or serve the jobs, whichever is worse off now.",
    _of_desk("regulation.energyqare", "EnergyQare"), parameters=ContractParameters,
    needs=NEEDS)
TRACKING = Declaration(
    REGULATION, "tracking", "Follow the target, whatever becomes of the jobs.",
    _of_desk("regulation.tracking", "Tracking"), parameters=ContractParameters,
    needs=NEEDS)
