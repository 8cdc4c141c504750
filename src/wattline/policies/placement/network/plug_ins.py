"""Placements that know the network, as plug-ins of the allocator: one type each."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from wattline.model.kernel import implement, kernel
from wattline.policies.contract import counters_read, give_back, occupied, place
from wattline.policies.placement.network import kernels
from wattline.policies.placement.network.by_key import by_key
from wattline.policies.placement.network.fabric import Fabric, occupy, return_nodes, take_chosen
from wattline.policies.placement.network.placements import PLACEMENTS
from wattline.policies.state import State
from wattline.policies.traits import routers_read


class Simple(NamedTuple):
    """Free nodes in label order."""

    fabric: Fabric

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


class SlurmRouters(NamedTuple):
    """Slurm's rule for dragonflies."""

    fabric: Fabric

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


class RandomGroups(NamedTuple):
    """RDG: groups drawn at random."""

    fabric: Fabric

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


class RandomNodes(NamedTuple):
    """RDN: nodes drawn at random."""

    fabric: Fabric

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


class RandomRouters(NamedTuple):
    """RDR: routers drawn at random."""

    fabric: Fabric

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


class NodesInTurn(NamedTuple):
    """RRN: nodes from the groups in turn."""

    fabric: Fabric

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


class RoutersInTurn(NamedTuple):
    """RRR: routers from the groups in turn."""

    fabric: Fabric

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


class LevelSpread(NamedTuple):
    """Spread in the smallest level that the job fits in."""

    fabric: Fabric

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


class Jokanovic(NamedTuple):
    """Small jobs from one end, large ones from the other."""

    fabric: Fabric

    @property
    def axis(self) -> Literal["placement"]:
        return "placement"


class FewerRouters(NamedTuple):
    """Routers with the most idle nodes first."""

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


def _chooses(rule: type, choose: Any) -> None:
    """Register a kernel that chooses by free nodes alone as a placement."""

    @kernel
    def _place(st: State, placement: Any, job: int) -> bool:
        fabric = placement.fabric
        if st.live[job].units > st.clock[0].free:
            return False
        choose(fabric, st.node_free, st.live[job].units, fabric)
        return take_chosen(st, fabric, job)

    implement(place, rule)(_place)


for _rule, _chooser in {row.rule: row.kernel for row in PLACEMENTS.values() if row.kernel}.items():
    _chooses(globals()[_rule], getattr(kernels, _chooser))


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
