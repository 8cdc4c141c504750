"""Runs on shared nodes put before the judge of run folders, from the arrays of the simulation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wattline.model.run import PowerBound
from wattline.model.signal import Signal
from wattline.model.slurm_record import SlurmRecord
from wattline.results.verify._base import Finding
from wattline.results.verify.shared._case import Case, case_from
from wattline.results.verify.shared.rules import verdicts
from wattline.scenario.twin.record import record_of
from wattline.shared_nodes.bound_sums import stays_of


def findings(
    machine: Any, requests: Any, rules: Any, found: Any, cap: Signal | None = None, **more: Any
) -> list[str]:
    """A sentence for each rule that is broken, as `wattline verify` says it."""
    return [sentence for _, sentence in coded(machine, requests, rules, found, cap, **more)]


def coded(
    machine: Any, requests: Any, rules: Any, found: Any, cap: Signal | None = None, **more: Any
) -> list[tuple[str, str]]:
    """The same, each with the code of its rule."""
    case = case_made(machine, requests, rules, found, cap, **more)
    return [(code, str(each)) for code, each in verdicts(case) if isinstance(each, Finding)]


def case_made(
    machine: Any,
    requests: Any,
    rules: Any,
    found: Any,
    cap: Signal | None = None,
    *,
    bounds: Sequence[PowerBound] = (),
    outages: Any = None,
    budget: Any = None,
) -> Case:
    """The case, once written and read as in a run folder."""
    record = record_of(machine, requests, rules, found, outages=outages, budget=budget)
    return case_from(
        SlurmRecord.from_bytes(record.to_bytes()),
        stays_of(found),
        job_id=np.arange(1, 1 + len(found.start_s)),
        start_s=found.start_s,
        end_s=found.end_s,
        energy_j=found.energy_j,
        log_s=found.event_time_s,
        log_w=found.event_power_w,
        cap=cap,
        bounds=tuple(bounds),
    )
