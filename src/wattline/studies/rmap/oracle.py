"""How far schedules made from predicted configurations are from those of measured ones (5.6.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wattline.model.progress import silent
from wattline.model.signal import FloatArray
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.regression import fit_and_check
from wattline.policies.configuration.offers import make_offers
from wattline.studies.rmap.study import RmapSetting, peak_w_per_node, run_one, usable_tables
from wattline.studies.rmap.workloads import make_trace

POLICIES = ("traditional", "naive", "adaptive_0")
SHOWN = ("traditional", "adaptive_0")
"""Policies of which the document says how far the model is off."""
SHARE = 0.1
"""Part of the measurements that the models are trained on."""


def model_against_oracle(
    tables: Mapping[str, ConfigurationTable], setting: RmapSetting,
    progress: Callable[[float], None] = silent, trace: str = "random1", kind: str = "auto",
) -> dict[str, Any]:
    """Figure 5.6: mean turnaround with predicted tables beside that with measured ones.

    As published, a predicted table stands for both: times are those that jobs take, powers those
    that count as available. What users ask for is measured in both cases.
    """
    measured = usable_tables(tables, setting.nodes)
    predicted = {name: _predicted(table, kind) for name, table in measured.items()}
    off: dict[str, list[list[float]]] = {policy: [] for policy in POLICIES}
    for done, seed in enumerate(setting.seeds):
        jobs = make_trace(trace, list(measured.values()), setting.nodes, seed, jobs=setting.jobs,
                          load=setting.load, request=setting.set_up.request)
        offers = [make_offers(jobs, each) for each in (measured, predicted)]
        for policy in POLICIES:
            by_bound = []
            for bound in setting.bounds:
                bound_w = bound * setting.nodes * peak_w_per_node(measured)
                true_s, model_s = (float(np.mean(run_one(
                    jobs, each, setting.nodes, bound_w, policy, setting.set_up).schedule.end_s
                    - jobs.submit_s)) for each in offers)
                by_bound.append(model_s / true_s - 1.0)
            off[policy].append(by_bound)
        progress((done + 1) / len(setting.seeds))
    return {"trace": trace, "trained_on": SHARE, "seeds": len(setting.seeds),
            "policies": {policy: errors(np.array(each)) for policy, each in off.items()},
            "largest_by_trace": largest_by_trace(off)}


def errors(off: FloatArray) -> dict[str, float]:
    """What errors by seed and bound come to.

    Errors of single traces with both signs cancel in `largest_bias`, the error of the mean over
    traces at the worst bound; in `largest_of_means` they do not.
    """
    return {"mean_error": float(np.abs(off).mean()),
            "largest_of_means": float(np.abs(off).mean(axis=0).max()),
            "largest_bias": float(np.abs(off.mean(axis=0)).max()),
            "largest": float(np.abs(off).max())}


def largest_by_trace(off: Mapping[str, Sequence[Sequence[float]]]) -> list[float]:
    """The largest error at any bound, of each trace: what the figure shows of the one it has."""
    found: list[float] = np.abs([off[policy] for policy in SHOWN]).max(axis=(0, 2)).tolist()
    return found


def _predicted(table: ConfigurationTable, kind: str) -> ConfigurationTable:
    """The same rows as a model trained on a tenth of them says they are."""
    said = fit_and_check(table, share=SHARE, kind=kind).model.predict_points(table.points())
    return replace(table, time_s=said.time_s, power_w=said.power_w, source="predicted", runs=None)
