"""All set-ups of the evaluation beside one another: what each reading does to the gains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from wattline.analysis.intervals import half_interval
from wattline.model.errors import InputError
from wattline.model.progress import silent
from wattline.physics.configurations import ConfigurationTable
from wattline.studies.rmap.filling import fill_tables
from wattline.studies.rmap.report import Claim, improvement
from wattline.studies.rmap.set_up import CHOICES, SetUp, all_set_ups
from wattline.studies.rmap.study import RmapSetting, split_tables, study

COMPARED = (
    Claim(("large",), "adaptive_0", "traditional", 0.143, "large, against traditional"),
    Claim(("large",), "adaptive_0", "naive", 0.217, "large, against naive"),
    Claim(("random1", "random2"), "adaptive_0", "naive", 0.3607, "random, against naive"),
    Claim(("large",), "adaptive_0", "adaptive_unbounded", 0.338, "large, against unbounded"),
)
BOUNDS = (0.44, 0.54, 0.68, 0.82, 1.0)
"""The five of section 5.4.1."""
POLICIES = ("traditional", "naive", "adaptive_0", "adaptive_unbounded")


@dataclass(frozen=True)
class Tried:
    """What one set-up under one load gave."""

    set_up: SetUp
    load: float
    gains: Mapping[str, tuple[float, float]]
    """By comparison: the mean, and half its 95 % interval."""
    wait_share: float
    """Part of the turnaround that is wait, of adaptive jobs of all traces."""
    refused: str = ""
    """Why the set-up cannot be run."""

    def as_dict(self) -> dict[str, Any]:
        return {**self.set_up.as_dict(), "load": self.load, "refused": self.refused or None,
                "wait_share": self.wait_share,
                "gains": {name: {"mean": mean, "interval_95": width}
                          for name, (mean, width) in self.gains.items()}}


Tables = Mapping[str, ConfigurationTable]


def try_all(
    tables: Mapping[str, Tables], setting: RmapSetting, loads: Sequence[float],
    progress: Callable[[float], None] = silent,
) -> Iterator[Tried]:
    """Every set-up under every load; `tables` are by the power that is counted, `all` and `pkg`."""
    cases = list(product(all_set_ups("pkg" in tables), loads))
    usable = {power: split_tables(each, setting.nodes)[0] for power, each in tables.items()}
    filled = {power: fill_tables(each, setting.nodes) for power, each in usable.items()}
    for done, (set_up, load) in enumerate(cases):
        yield try_one((filled if set_up.fill else usable)[set_up.power], replace(
            setting, set_up=set_up, load=load, policies=POLICIES,
            traces=("large", "random1", "random2")))
        progress((done + 1) / len(cases))


def try_one(tables: Tables, setting: RmapSetting) -> Tried:
    try:
        result = study(tables, setting)
    except InputError as error:
        return Tried(setting.set_up, setting.load, {}, float("nan"), str(error))
    gains = {}
    for claim in COMPARED:
        found = improvement(result, claim.traces, claim.policy, claim.against).mean(axis=0)
        gains[claim.text] = float(found.mean()), half_interval(found)
    at = list(setting.policies).index("adaptive_0")
    of_adaptive = result.figures[:, :, at].reshape(-1, result.figures.shape[-1]).sum(axis=0)
    return Tried(setting.set_up, setting.load, gains, float(of_adaptive[1] / of_adaptive[0]))


def effects(found: Sequence[Tried]) -> dict[str, dict[str, float]]:
    """How much each choice adds to each gain, mean over all set-ups that differ in it alone."""
    ran = {(one.set_up, one.load): one for one in found if not one.refused}
    added: dict[str, dict[str, float]] = {}
    for name, (usual, other) in CHOICES.items():
        changes: dict[str, list[float]] = {claim.text: [] for claim in COMPARED}
        for (set_up, load), one in ran.items():
            partner = ran.get((replace(set_up, **{name: other}), load))  # type: ignore[arg-type]
            if getattr(set_up, name) == usual and partner is not None:
                for text, values in changes.items():
                    values.append(partner.gains[text][0] - one.gains[text][0])
        added[name] = {text: float(np.mean(values)) for text, values in changes.items() if values}
    return added
