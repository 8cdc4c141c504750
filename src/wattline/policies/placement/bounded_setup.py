"""From views with bounds to the placement that keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from wattline.model.errors import InputError
from wattline.model.fields import FileName, Watts, Whole
from wattline.model.machine import MOST_NODES, Machine
from wattline.model.run import PowerBound
from wattline.policies.declaration import Declaration, Parameters
from wattline.policies.placement.bounds_in_views import bounds_in, bounds_of, placed
from wattline.policies.setting import Setting

if TYPE_CHECKING:
    from wattline.model.views import MachineView
    from wattline.policies.placement.bounded import Bounded


class BoundedParameters(Parameters):
    """Limits by entity (rack0, pdu1, site), or a file of views with bounds."""

    limits: dict[str, Annotated[Watts, Field(ge=0)]] | None = None
    views: FileName = ""
    view: str | tuple[str, ...] = ()
    """Which views of the file, one or a list; without it all that have bounds."""
    racks_per_pdu: Whole = Field(8, ge=1, le=MOST_NODES)


def bounded(views: MachineView | Sequence[MachineView], machine: Machine) -> Bounded:
    """Keep the bounds of views whose nodes are idle now."""
    return keeping(bounds_of(views, machine), machine)


def keeping(bounds: Sequence[PowerBound], machine: Machine) -> Bounded:
    """Keep these bounds."""
    from wattline.policies.placement.bounded import Bounded, BoundedMemory

    nodes = [bound.nodes for bound in bounds]
    node = np.concatenate([*nodes, np.zeros(0, dtype=np.int64)])
    place = np.repeat(np.arange(len(bounds)), [each.size for each in nodes])
    part = np.concatenate([*(np.ones(bound.nodes.size) if bound.share is None else bound.share
                             for bound in bounds), np.zeros(0)])
    order = np.argsort(node, kind="stable")
    first = np.searchsorted(node[order], np.arange(machine.node_count + 1)).astype(np.int64)
    room = np.array([bound.limit_w - bound.idle_w for bound in bounds], dtype=np.float64)
    memory = BoundedMemory.start(room_w=room.copy(), trial_w=room.copy())
    return Bounded(first, place[order].astype(np.int64), part[order], room, memory)


def _make(setting: Setting, given: BoundedParameters) -> Bounded:
    return keeping(_bounds(setting, given), setting.machine)


def kept_in(setting: Setting) -> Bounded | None:
    """The placement of this setting, where it is this one: for axes that ask what finds room."""
    chosen = setting.chosen.get("placement")
    if chosen is None or chosen.declaration is not BOUNDED:
        return None
    return _make(setting, chosen.given)


def _bounds(setting: Setting, given: BoundedParameters) -> tuple[PowerBound, ...]:
    """Found once, for whoever asks first."""
    machine = setting.machine
    if setting.made.bounds:
        return setting.made.bounds
    if setting.granularity == "core":
        raise InputError("policy.placement: bounded chooses nodes, not cores")
    if len(machine.groups) > 1:
        raise InputError("policy.placement: bounded spreads a job's power over its nodes equally, "
                         "which nodes of several classes do not; use one class of nodes")
    found = placed(chosen_views(machine, given), machine)
    setting.made.bounds = bounds_in(found, machine)
    setting.made.assumed += found.assumed
    return setting.made.bounds


def chosen_views(machine: Machine, given: BoundedParameters) -> list[MachineView]:
    """The views whose bounds are to be kept."""
    from wattline.model.views.build import power_view, read_views

    if given.views:
        found = read_views(Path(given.views))
        wanted = (given.view,) if isinstance(given.view, str) else given.view
        for name in wanted:
            if name not in found:
                raise InputError(f"{given.views} has no view '{name}'; it has {', '.join(found)}")
        chosen = [found[name] for name in wanted] or [v for v in found.values() if v.bounds]
        if not chosen:
            raise InputError(f"{given.views}: none of its views has bounds to keep")
        return chosen
    if not given.limits:
        raise InputError("policy.placement: bounded needs limits, like limits = {rack0 = '20kW'}")
    return [power_view(machine, racks_per_pdu=given.racks_per_pdu, limits_w=given.limits)]


BOUNDED = Declaration(
    "placement", "bounded", "Nodes whose rack, distribution unit and site have watts left.",
    _make, BoundedParameters, needs="limits or a file of views")
