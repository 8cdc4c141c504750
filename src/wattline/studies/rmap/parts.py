"""The parts of the study beside its schedules: what each asks, and its figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wattline.model.errors import InputError
from wattline.physics.configurations import ConfigurationTable
from wattline.studies.rmap.bounded import BOUNDS_W, bounded
from wattline.studies.rmap.combinations import BOUNDS, effects, try_all
from wattline.studies.rmap.oracle import model_against_oracle
from wattline.studies.rmap.partition import small_partition
from wattline.studies.rmap.set_up import CHOICES, USUAL, SetUp
from wattline.studies.rmap.single_jobs import (
    BOUND_OF_POWER,
    BOUND_OF_USERS,
    gains_of_users,
    power_of_jobs,
)
from wattline.studies.rmap.study import RmapSetting, notes_of, ready_tables
from wattline.studies.rmap.unseen import unseen

Tables = Mapping[str, ConfigurationTable]
Progress = Callable[[float], None]

PARTS = {
    "users": "How many jobs gain by each policy (table 5.4, figures 5.10 and 5.11).",
    "power": "The power of single jobs (figures 5.12 and 5.13).",
    "oracle": "Schedules from predicted tables beside those from measured ones (figure 5.6).",
    "bounds": "Every application under every bound (figures 3.4 and 3.5).",
    "partition": "A partition for small jobs.",
    "unseen": "Models of applications that their priors have not seen.",
    "combinations": "Every reading of the set-up beside the others.",
}


WITH_PUBLISHED = ("users", "power", "oracle", "bounds")
"""Parts that have published figures to stand beside; `published` means these."""


def run_part(
    part: str, tables: Tables, setting: RmapSetting, progress: Progress,
    loads: Sequence[float] = (0.35, 0.7, 1.4), of_packages: Tables | None = None,
    bound: float | None = None,
) -> dict[str, Any]:
    """The figures of one part, applications left out and what must be known of the tables.

    `of_packages` are the tables with the power of packages alone. Parts of one bound (ONE_BOUND)
    are of `bound` where it is given, and of the published one otherwise.
    """
    if part == "bounds":
        return {"left_out": {}, "notes": list(notes_of(tables)), **bounds_of(tables)}
    if part == "unseen":
        return {"notes": list(notes_of(tables)), **unseen(tables, setting.seeds, progress=progress)}
    if "fill" in UNUSED.get(part, ()):
        setting = replace(setting, set_up=replace(setting.set_up, fill=False))
    ready = ready_tables(tables, setting)
    found = _simulated(part, ready.tables, setting, progress, loads, of_packages, bound)
    return {"left_out": ready.left_out, "notes": list(ready.notes), **found}


def _simulated(
    part: str, tables: Tables, setting: RmapSetting, progress: Progress, loads: Sequence[float],
    of_packages: Tables | None, bound: float | None,
) -> dict[str, Any]:
    if part == "users":
        return gains_of_users(tables, setting, progress, bound=bound or BOUND_OF_USERS)
    if part == "power":
        return power_of_jobs(tables, setting, progress, bound=bound or BOUND_OF_POWER)
    if part == "oracle":
        return model_against_oracle(tables, setting, progress)
    if part == "partition":
        return small_partition(tables, setting, progress=progress)
    given = {"all": tables} | ({} if of_packages is None else {"pkg": of_packages})
    tried = list(try_all(given, replace(setting, bounds=BOUNDS), loads, progress))
    return {"bounds": list(BOUNDS), "loads": list(loads), "seeds": len(setting.seeds),
            "set_ups": [{"label": one.set_up.label, **one.as_dict()} for one in tried],
            "effects": effects(tried)}


def check_measured(part: str, paths: Sequence[Any]) -> None:
    """Refuse a part that says nothing of the shipped models, where no tables are given."""
    if part == "unseen" and not paths:
        raise InputError("the part 'unseen' leaves applications out of what models learn from: it "
                         "takes measured tables, and the shipped models are none")


UNUSED = {
    "oracle": ("fill",),
    "bounds": ("fill", "request", "holds", "backfill"),
    "unseen": ("fill", "request", "holds", "backfill"),
    "combinations": tuple(CHOICES),
}
"""Choices of the set-up that a part does not look at: an oracle is measured and not filled in, two
parts simulate nothing, and one runs every choice."""


ONE_BOUND = ("users", "power")
OWN_BOUNDS = {
    "bounds": "bounds in watts, the published ones",
    "unseen": "models and no bound",
    "combinations": "the five bounds of the publication",
}
"""What parts are of that do not ask for bounds."""


def check_bounds(part: str, bounds: Sequence[float]) -> None:
    """Refuse bounds, given as parts of the peak, that a part would pass over."""
    if bounds and part in OWN_BOUNDS:
        raise InputError(f"--part {part} is of {OWN_BOUNDS[part]}; leave out --bounds")
    if part in ONE_BOUND and len(bounds) > 1:
        raise InputError(f"--part {part} is of one bound, and --bounds has {len(bounds)} of them")


def unused_choices(part: str, set_up: SetUp) -> list[str]:
    """Which choices differ from the usual and would not change the part."""
    return [name for name in UNUSED.get(part, ())
            if getattr(set_up, name) != getattr(USUAL, name)]


def check_set_up(part: str, set_up: SetUp) -> None:
    """Refuse a choice that a part would pass over."""
    if part == "combinations" and unused_choices(part, set_up):
        raise InputError("--part combinations runs every set-up, so leave out --fill, --request, "
                         "--power, --holds and --backfill")
    if unused_choices(part, set_up):
        named = ", ".join(f"--{name}" for name in unused_choices(part, set_up))
        raise InputError(f"--part {part} does not depend on {named}; leave that out")


def bounds_of(tables: Tables) -> dict[str, Any]:
    """Figures 3.4 and 3.5, with the mean speedup at each bound over what was measured."""
    found = bounded(tables)
    means = {f"{bound_w:g}": _mean([one.speedup for one in found if one.bound_w == bound_w])
             for bound_w in BOUNDS_W}
    return {"mean_speedup": means, "rows": [one.as_dict() for one in found]}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
