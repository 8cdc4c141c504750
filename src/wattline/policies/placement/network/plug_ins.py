"""Placements that know the network, as plug-ins of the allocator: one type each."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import counters_read, give_back, occupied, place
from wattline.policies.placement.network import kernels
from wattline.policies.placement.network.by_key import by_key
from wattline.policies.placement.network.fabric import Fabric, occupy, return_nodes, take_chosen
from wattline.policies.placement.network.placements import PLACEMENTS, Placing
from wattline.policies.state import State
from wattline.policies.traits import routers_read


class ByFreeNodes(NamedTuple):
    """Base of the placements that look at free nodes alone; each has a type of its own."""

    fabric: Fabric

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


class Nedd(NamedTuple):
    """Quiet routers for jobs that are sensitive to congestion, busy ones for the others."""

    fabric: Fabric

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


class ByTraffic(NamedTuple):
    """Routers by traffic: the quietest first (sign 1) or the busiest (sign -1)."""

    fabric: Fabric
    sign: float

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


class ByStalls(NamedTuple):
    """Routers with the fewest stalls first."""

    fabric: Fabric

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


def plug_in(name: str, fabric: Fabric) -> Any:
    """The allocator's placement of this name."""
    placing = PLACEMENTS[name]
    if placing.rule == ByTraffic.__name__:
        return ByTraffic(fabric, placing.sign)
    return globals()[placing.rule](fabric)


def _declare(placing: Placing) -> None:
    """Make the type of a placement that looks at free nodes alone, and register its kernel."""
    rule = type(placing.rule, (ByFreeNodes,), {
        "__doc__": placing.help, "__module__": __name__, "__slots__": ()})
    globals()[placing.rule] = rule  # where it is found again when it is unpickled
    choose = getattr(kernels, placing.kernel)

    @kernel
    def _place(st: State, placement: Any, job: int) -> bool:
        fabric = placement.fabric
        if st.live[job].units > st.clock[0].free:
            return False
        choose(fabric, st.node_free, st.live[job].units, fabric)
        return take_chosen(st, fabric, job)

    implement(place, rule)(_place)


for _row in {row.rule: row for row in PLACEMENTS.values() if row.kernel}.values():
    _declare(_row)


@implement(place, Nedd)
@kernel
def _place_nedd(st: State, placement: Nedd, job: int) -> bool:
    fabric = placement.fabric
    if st.live[job].units > st.clock[0].free:
        return False
    sign = 1.0 if fabric.job_sensitive[job] else -1.0
    by_key(fabric, st.node_free, st.live[job].units, fabric, fabric.traffic, sign)
    return take_chosen(st, fabric, job)


@implement(place, ByTraffic)
@kernel
def _place_by_traffic(st: State, placement: ByTraffic, job: int) -> bool:
    fabric = placement.fabric
    if st.live[job].units > st.clock[0].free:
        return False
    by_key(fabric, st.node_free, st.live[job].units, fabric, fabric.traffic,
           placement.sign)
    return take_chosen(st, fabric, job)


@implement(place, ByStalls)
@kernel
def _place_by_stalls(st: State, placement: ByStalls, job: int) -> bool:
    fabric = placement.fabric
    if st.live[job].units > st.clock[0].free:
        return False
    by_key(fabric, st.node_free, st.live[job].units, fabric, fabric.stalls, 1.0)
    return take_chosen(st, fabric, job)


@kernel
def _give_back(st: State, placement: Any, job: int) -> None:
    return_nodes(st, placement.fabric, job)


@kernel
def _occupied(st: State, placement: Any, job: int) -> None:
    occupy(st, placement.fabric, job)


@kernel
def _counters_read(st: State, placement: Any, router: int, stalls: float) -> None:
    placement.fabric.stalls[router] = stalls


def _routers_read(placement: Any) -> int:
    return len(placement.fabric.stalls)


for _rule in dict.fromkeys(row.rule for row in PLACEMENTS.values()):
    _every = globals()[_rule]
    implement(give_back, _every)(_give_back)
    implement(occupied, _every)(_occupied)
    implement(counters_read, _every)(_counters_read)
    routers_read.register(_every, _routers_read)
