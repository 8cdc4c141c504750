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
from wattline.studies.rmap.single_jobs import gains_of_users, power_of_jobs
from wattline.studies.rmap.study import RmapSetting
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
) -> dict[str, Any]:
    """The figures of one part; `of_packages` are the tables with the power of packages alone."""
    if part == "users":
        return gains_of_users(tables, setting, progress)
    if part == "power":
        return power_of_jobs(tables, setting, progress)
    if part == "oracle":
        return model_against_oracle(tables, setting, progress)
    if part == "partition":
        return small_partition(tables, setting, progress=progress)
    if part == "bounds":
        return bounds_of(tables)
    if part == "unseen":
        return unseen(tables, setting.seeds, progress=progress)
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
