"""Machines and policies as objects, for Python: typed, completed by editors, checked when made.

Each takes its fields from where they are declared (a section of the scenario, the parameters of a
policy), so that nothing is said twice.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import field_validator

from wattline.model import machine
from wattline.model.errors import InputError
from wattline.model.fields import Number
from wattline.model.given import Given
from wattline.model.reading import is_file
from wattline.policies.admission.adaptive_setup import AdaptiveParameters
from wattline.policies.admission.admission_setup import DvfsParameters, WaitParameters
from wattline.policies.admission.budget_setup import BudgetParameters
from wattline.policies.configuration.claimed_setup import ClaimsParameters
from wattline.policies.configuration.moldable_setup import (
    FixedParameters,
    MoldableParameters,
    WeightedParameters,
)
from wattline.policies.order.energy_share_setup import EnergyShareParameters
from wattline.policies.order.order_setup import MultifactorParameters, WfpParameters
from wattline.policies.placement.bounded_setup import BoundedParameters
from wattline.policies.placement.varied_setup import VariedParameters
from wattline.policies.registry import find
from wattline.scenario.caps import NO_CAP, is_share
from wattline.scenario.model import CapPlan, CapStep, MachineSection, NodeClassSection


class NodeClass(Given, NodeClassSection):
    """One kind of nodes: how many, their cores and powers. Fields of `[[machine.classes]]`."""


class Machine(Given, MachineSection):
    """The machine that jobs run on. Fields of `[machine]`; powers that are not given are assumed.

    >>> Machine(nodes=100, node_idle_w="90W", node_active_w=300).node_idle_w
    90.0
    >>> Machine(classes=[NodeClass(name="thin", count=64), NodeClass(name="fat", count=8)]).nodes
    >>> Machine(nodes=0)
    Traceback (most recent call last):
    wattline.model.errors.InputError: Machine: nodes: must be at least 1 and at most 2e+07 (it is 0)
    """


def machine_fields(given: Given | machine.Machine | dict[str, Any]) -> dict[str, Any]:
    """A machine, also that of a run, as the fields of `[machine]`."""
    if isinstance(given, Given):
        return given.said()
    if isinstance(given, dict):
        return dict(given)
    classes = [{
        "name": group.node_class.name, "count": group.count, "cores": group.node_class.cores,
        "sockets": group.node_class.sockets, "idle_w": group.node_class.power_w_idle,
        "active_w": group.node_class.power_w_active, "off_w": group.node_class.power_w_off,
        "boot_s": group.node_class.boot_s, "boot_w": group.node_class.boot_power_w,
        "shutdown_s": group.node_class.shutdown_s, "shutdown_w": group.node_class.shutdown_power_w,
        "speed": group.node_class.speed, "nodes_per_rack": group.nodes_per_rack or None,
    } for group in given.groups]
    return {"name": given.name, "site": given.site, "classes": classes,
            "node_names": given.node_names or None}


class PolicyObject(Given):
    """A choice along an axis, with its parameters; `wattline policies` lists them."""

    AXIS: ClassVar[str] = ""
    NAME: ClassVar[str] = ""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        if cls.NAME:
            cls.__doc__ = find(cls.AXIS, cls.NAME).summary

    def choice(self) -> dict[str, Any]:
        """As a scenario writes it: the name, and the parameters that were given."""
        own = find(self.AXIS, self.NAME).parameters.model_fields
        return {"name": self.NAME,
                **{field: value for field, value in self.said().items() if field in own}}


class Order(PolicyObject):
    """In which order jobs are served."""

    AXIS = "order"


class Backfill(PolicyObject):
    """Which jobs may go ahead of others."""

    AXIS = "backfill"


class Power(PolicyObject):
    """How a power cap is kept."""

    AXIS = "power"


class Keeper(Power):
    """A power policy with the cap that it keeps: watts, `"1.4MW"`, a part of the peak such as 0.7
    or `"70%"`, a file, or steps."""

    cap: Number | str | tuple[CapStep, ...] | CapPlan | None = None

    @field_validator("cap")
    @classmethod
    def _readable(cls, cap: Any) -> Any:
        if isinstance(cap, str) and cap != NO_CAP and not is_file(cap):
            try:
                is_share(cap)
            except InputError as error:
                raise ValueError(str(error).removeprefix("power.cap: ")) from None
        return cap


class Configure(PolicyObject):
    """In which configuration a job runs."""

    AXIS = "configure"


class Placement(PolicyObject):
    """Which nodes a job gets. Those on a network are chosen by name, with `network__machine`."""

    AXIS = "placement"


class Fcfs(Order):
    NAME = "fcfs"


class Sjf(Order):
    NAME = "sjf"


class ClaimedOrder(Order):
    NAME = "claims"


class Largest(Order):
    NAME = "largest"


class Wfp(Order, WfpParameters):
    NAME = "wfp"


class Multifactor(Order, MultifactorParameters):
    NAME = "multifactor"


class EnergyShare(Order, EnergyShareParameters):
    NAME = "energy-share"


class NoBackfill(Backfill):
    NAME = "none"


class Easy(Backfill):
    NAME = "easy"


class Conservative(Backfill):
    NAME = "conservative"


class NoLimit(Power):
    NAME = "none"


class Block(Keeper):
    NAME = "block"


class Wait(Keeper, WaitParameters):
    NAME = "wait"


class Dvfs(Keeper, DvfsParameters):
    NAME = "dvfs"


class Watts(Keeper):
    NAME = "watts"


class Lending(Keeper):
    NAME = "lending"


class Adaptive(Keeper, AdaptiveParameters):
    NAME = "adaptive"


class Budget(Keeper, BudgetParameters):
    NAME = "budget"


class Requested(Configure):
    NAME = "requested"


class Traditional(Configure, MoldableParameters):
    NAME = "traditional"


class Fixed(Configure, FixedParameters):
    NAME = "fixed"


class Naive(Configure, WeightedParameters):
    NAME = "naive"


class AdaptiveConfiguration(Configure, WeightedParameters):
    NAME = "adaptive"


class ClaimedConfiguration(Configure, ClaimsParameters):
    NAME = "claims"


class Counted(Placement):
    NAME = "counted"


class FirstFit(Placement):
    NAME = "first-fit"


class Varied(Placement, VariedParameters):
    NAME = "varied"


class Bounded(Placement, BoundedParameters):
    NAME = "bounded"


class ClaimedPlacement(Placement):
    NAME = "claims"
