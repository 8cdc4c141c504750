"""Input and outcome of a run by Slurm's rules, as the plain columns of its run folder."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from wattline.model.slurm_record import SlurmRecord
from wattline.shared_nodes.joule_budget import JouleBudget
from wattline.shared_nodes.machine import SharedMachine
from wattline.shared_nodes.outages import Outages
from wattline.shared_nodes.outcome import REASONS, Schedule
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.rules import Rules

_OUTCOME = (
    "eligible_s",
    "state",
    "reason",
    "partition",
    "requeues",
    "lost_energy_j",
    "suspended_s",
    "gap_job",
    "gap_from_s",
    "gap_to_s",
    "lost_run_job",
    "lost_run_start_s",
    "lost_run_end_s",
    "allocation_job",
    "allocation_gres",
    "left_gres",
    "never_up",
    "alone_w",
    "alone_s",
    "charged_period",
    "charged_j",
    "option",
)
"""Beside what jobs.parquet, events.parquet and stays.parquet have."""


def record_of(
    machine: SharedMachine,
    requests: Requests,
    rules: Rules,
    found: Schedule,
    *,
    outages: Outages | None = None,
    budget: JouleBudget | None = None,
) -> SlurmRecord:
    """All tables that are there: a site without reservations has none of them."""
    outcome = {name: getattr(found, name) for name in _OUTCOME}
    outcome["reason"] = np.array(REASONS)[outcome["reason"]]
    given: dict[str, Any] = {
        "nodes": machine.nodes,
        "partitions": machine.partitions,
        "qos": machine.qos,
        "qos_limits": machine.qos.limits,
        "associations": machine.associations,
        "association_limits": machine.associations.limits,
        "reservations": machine.reservations,
        "rules": rules,
        "priority": rules.priority,
        "jobs": requests,
        "dependencies": requests.dependencies,
        "options": requests.options,
        "outages": outages,
        "budget": budget,
    }
    tables = {name: _columns(part) for name, part in given.items() if part is not None}
    tables["licences"] = {"names": _array(machine.licence_names), "count": machine.licences}
    tables["outcome"] = {name: _array(values) for name, values in outcome.items()}
    return SlurmRecord(tables)


def _columns(part: Any) -> dict[str, Any]:
    return {
        field.name: _array(value)
        for field in fields(part)
        if (value := getattr(part, field.name)) is not None and not is_dataclass(value)
    }


def _array(value: Any) -> Any:
    """Texts stay texts, and pairs of them two columns, also where there are none."""
    return np.zeros(0, "<U1") if isinstance(value, tuple) and not value else np.asarray(value)
