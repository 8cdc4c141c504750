"""Machines and policies as objects, for Python: typed, completed by editors, checked when made.

Each takes its fields from where they are declared (a section of the scenario, the parameters of a
policy), so that nothing is said twice.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import field_validator

from wattline.model import machine
from wattline.model.cap_value import read_cap_value
from wattline.model.errors import InputError
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
from wattline.scenario.caps import NO_CAP, NOR
from wattline.scenario.model import Cap, MachineSection, NodeClassSection


class NodeClass(Given, NodeClassSection):
    """One kind of nodes: how many, their cores and powers. Fields of `[[machine.classes]]`.

    >>> import wattline as wl
    >>> wl.NodeClass(name="fat", count=8, cores=64, idle_w=200, active_w="1.2kW").active_w
    1200.0
    """


class Machine(Given, MachineSection):
    """The machine that jobs run on. Fields of `[machine]`; powers that are not given are assumed.

    >>> Machine(nodes=100, node_idle_w="90W", node_active_w=300).node_idle_w
    90.0
    >>> Machine(classes=[NodeClass(name="thin", count=64), NodeClass(name="fat", count=8)]).nodes
    >>> Machine(nodes=8.5)
    Traceback (most recent call last):
    wattline.model.errors.InputError: Machine: nodes: must be a whole number (it is 8.5)
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
            example = cls.__dict__.get("__doc__") or ""
            cls.__doc__ = f"{find(cls.AXIS, cls.NAME).summary}\n{example}"

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
    """A power policy with the cap that it keeps: watts, `"1.4MW"`, `"70%"` of rated power,
    `"70%peak"` or `"70%p99"` of the run without a cap, a file, or steps."""

    cap: Cap = None

    @field_validator("cap")
    @classmethod
    def _readable(cls, cap: Any) -> Any:
        if isinstance(cap, (str, float)) and cap != NO_CAP and not is_file(str(cap)):
            try:
                read_cap_value(cap, NOR)
            except InputError as error:
                raise ValueError(str(error)) from None
        return cap


class Configure(PolicyObject):
    """In which configuration a job runs."""

    AXIS = "configure"


class Placement(PolicyObject):
    """Which nodes a job gets. Those on a network are chosen by name, with `network__machine`."""

    AXIS = "placement"


class Fcfs(Order):
    """
    >>> import wattline as wl
    >>> wl.Fcfs().choice()
    {'name': 'fcfs'}
    """

    NAME = "fcfs"


class Sjf(Order):
    """
    >>> import wattline as wl
    >>> wl.Sjf().choice()
    {'name': 'sjf'}
    """

    NAME = "sjf"


class ClaimedOrder(Order):
    """
    >>> import wattline as wl
    >>> wl.ClaimedOrder().choice()
    {'name': 'claims'}
    """

    NAME = "claims"


class Largest(Order):
    """
    >>> import wattline as wl
    >>> wl.Largest().choice()
    {'name': 'largest'}
    """

    NAME = "largest"


class Wfp(Order, WfpParameters):
    """
    >>> import wattline as wl
    >>> wl.Wfp(exponent=2).choice()
    {'name': 'wfp', 'exponent': 2.0}
    """

    NAME = "wfp"


class Multifactor(Order, MultifactorParameters):
    """
    >>> import wattline as wl
    >>> wl.Multifactor(age=1000, size=500).choice()
    {'name': 'multifactor', 'age': 1000.0, 'size': 500.0}
    """

    NAME = "multifactor"


class EnergyShare(Order, EnergyShareParameters):
    """
    >>> import wattline as wl
    >>> wl.EnergyShare(shares="shares.toml", half_life="7d").choice()
    {'name': 'energy-share', 'shares': 'shares.toml', 'half_life': 604800.0}
    """

    NAME = "energy-share"


class NoBackfill(Backfill):
    """
    >>> import wattline as wl
    >>> wl.NoBackfill().choice()
    {'name': 'none'}
    """

    NAME = "none"


class Easy(Backfill):
    """
    >>> import wattline as wl
    >>> wl.Easy().choice()
    {'name': 'easy'}
    """

    NAME = "easy"


class Conservative(Backfill):
    """
    >>> import wattline as wl
    >>> wl.Conservative().choice()
    {'name': 'conservative'}
    """

    NAME = "conservative"


class NoLimit(Power):
    """
    >>> import wattline as wl
    >>> wl.NoLimit().choice()
    {'name': 'none'}
    """

    NAME = "none"


class Block(Keeper):
    """
    >>> import wattline as wl
    >>> wl.Block(cap="70%").cap
    '70%'
    """

    NAME = "block"


class Wait(Keeper, WaitParameters):
    """
    >>> import wattline as wl
    >>> wl.Wait(cap="1.4MW", wait_s="1h").choice()
    {'name': 'wait', 'wait_s': 3600.0}
    """

    NAME = "wait"


class Dvfs(Keeper, DvfsParameters):
    """
    >>> import wattline as wl
    >>> wl.Dvfs(cap="70%").cap
    '70%'
    """

    NAME = "dvfs"


class Watts(Keeper):
    """
    >>> import wattline as wl
    >>> wl.Watts(cap=20e3).cap
    20000.0
    """

    NAME = "watts"


class Lending(Keeper):
    """
    >>> import wattline as wl
    >>> wl.Lending(cap=20e3).cap
    20000.0
    """

    NAME = "lending"


class Adaptive(Keeper, AdaptiveParameters):
    """
    >>> import wattline as wl
    >>> wl.Adaptive(cap="80%", strategy="shut").choice()
    {'name': 'adaptive', 'strategy': 'shut'}
    """

    NAME = "adaptive"


class Budget(Keeper, BudgetParameters):
    """
    >>> import wattline as wl
    >>> wl.Budget(energy="48kWh", period="1d").choice()
    {'name': 'budget', 'energy': 172800000.0, 'period': 86400.0}
    """

    NAME = "budget"


class Requested(Configure):
    """
    >>> import wattline as wl
    >>> wl.Requested().choice()
    {'name': 'requested'}
    """

    NAME = "requested"


class Traditional(Configure, MoldableParameters):
    """
    >>> import wattline as wl
    >>> wl.Traditional(table="runs.csv").choice()
    {'name': 'traditional', 'table': 'runs.csv'}
    """

    NAME = "traditional"


class Fixed(Configure, FixedParameters):
    """
    >>> import wattline as wl
    >>> wl.Fixed(table="runs.csv", cores=8, cap_w=60).choice()
    {'name': 'fixed', 'table': 'runs.csv', 'cores': 8, 'cap_w': 60.0}
    """

    NAME = "fixed"


class Naive(Configure, WeightedParameters):
    """
    >>> import wattline as wl
    >>> wl.Naive(table="runs.csv").choice()
    {'name': 'naive', 'table': 'runs.csv'}
    """

    NAME = "naive"


class AdaptiveConfiguration(Configure, WeightedParameters):
    """
    >>> import wattline as wl
    >>> wl.AdaptiveConfiguration(table="runs.csv").choice()
    {'name': 'adaptive', 'table': 'runs.csv'}
    """

    NAME = "adaptive"


class ClaimedConfiguration(Configure, ClaimsParameters):
    """
    >>> import wattline as wl
    >>> wl.ClaimedConfiguration(objective="edp").choice()
    {'name': 'claims', 'objective': 'edp'}
    """

    NAME = "claims"


class Counted(Placement):
    """
    >>> import wattline as wl
    >>> wl.Counted().choice()
    {'name': 'counted'}
    """

    NAME = "counted"


class FirstFit(Placement):
    """
    >>> import wattline as wl
    >>> wl.FirstFit().choice()
    {'name': 'first-fit'}
    """

    NAME = "first-fit"


class Varied(Placement, VariedParameters):
    """
    >>> import wattline as wl
    >>> wl.Varied(seed=1).choice()
    {'name': 'varied', 'seed': 1}
    """

    NAME = "varied"


class Bounded(Placement, BoundedParameters):
    """
    >>> import wattline as wl
    >>> wl.Bounded(limits={"rack0": "5kW"}).choice()
    {'name': 'bounded', 'limits': {'rack0': 5000.0}}
    """

    NAME = "bounded"


class ClaimedPlacement(Placement):
    """
    >>> import wattline as wl
    >>> wl.ClaimedPlacement().choice()
    {'name': 'claims'}
    """

    NAME = "claims"
