"""Orders about the mode of a controller: what follows from another one, and the change itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from wattline.controller.modes import DECIDE, ModeKeeper
from wattline.controller.orders import OrderOutcome
from wattline.controller.passing import turns_of

if TYPE_CHECKING:
    from wattline.controller.controller import Controller

SET_MODE = "set_mode"
STARTS = {"decide": "the controller starts jobs",
          "guard": "Slurm starts jobs, under watts as licences"}


def set_mode(
    controller: Controller, modes: ModeKeeper, fields: Mapping[str, Any], now_s: float
) -> OrderOutcome:
    """Let another start jobs from the next cycle on."""
    name = modes.check(fields.get("mode"), controller.slurm.commands)
    if name == modes.now.name:
        said, remarks = f"{name} mode holds already", list[str]()
    else:
        said, remarks = f"{name} mode from now on: {STARTS[name]}", follows(controller, modes, name)
        modes.turns = turns_of(controller.books)
    modes.change(name, now_s)
    return OrderOutcome(True, said, {**modes.standing(), "remarks": [*remarks, *_kept(modes)]})


def preview_mode(
    controller: Controller, modes: ModeKeeper, fields: Mapping[str, Any], now_s: float
) -> OrderOutcome:
    """What would follow from another mode; nothing is changed."""
    name = modes.check(fields.get("mode"), controller.slurm.commands)
    if name == modes.now.name:
        return OrderOutcome(True, f"{name} mode holds already", {**modes.standing(), "remarks": []})
    return OrderOutcome(True, STARTS[name],
                        {**modes.standing(), "remarks": follows(controller, modes, name)})


def follows(controller: Controller, modes: ModeKeeper, name: str) -> list[str]:
    """What another mode means for jobs that wait, and for those to come."""
    mark = modes.site.mark
    marked = f"with the mark '{mark}'" if mark else "with or without a mark"
    said = [] if controller.act else ["the controller is a dry run: no job is passed on or held"]
    said.append("jobs that run go on; the cap and what is reserved stay as they are")
    if name == DECIDE:
        said.append(f"waiting jobs {marked} that are held for the controller: "
                    f"{len(modes.released()):,}")
        if modes.others():
            said.append(f"waiting jobs that stay Slurm's, which starts them as before: "
                        f"{len(modes.others()):,}")
        said.append(f"only jobs that are submitted held {marked} are the controller's: "
                    "job_submit.lua must hold them (mode = \"decide\" at its top)")
        return said
    said.append("waiting jobs that go to Slurm with their watts as licences, whatever when_stopped "
                f"says: {len(modes.held()):,}")
    said.append(f"jobs that are submitted held {marked} go to Slurm too; job_submit.lua need not "
                "hold them any more (mode = \"guard\" at its top)")
    return said


def _kept(modes: ModeKeeper) -> list[str]:
    if modes.folder is None:
        return ["a dry run remembers no mode"]
    if modes.given and modes.given != modes.now.name:
        return [f"it was started with --mode {modes.given}: started so again, it is in "
                f"{modes.given} mode"]
    if modes.now.ordered:
        return [f"it holds over restarts, until {modes.site.mode} mode is ordered again"]
    return []


ModeOrder = Callable[["Controller", ModeKeeper, Mapping[str, Any], float], OrderOutcome]
MODE_ORDERS: Mapping[str, ModeOrder] = {SET_MODE: set_mode, "preview_mode": preview_mode}
