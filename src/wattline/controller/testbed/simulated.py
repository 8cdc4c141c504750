"""The same submissions, simulated: how far a real Slurm is from what the policy would have done.

Jobs are submitted when Slurm took them and run for as long as they did there, so that what differs
is Slurm's own delay: it starts jobs at its ticks, and the controller looks at it now and then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wattline.controller.testbed.layout import NodePower
from wattline.controller.testbed.running import BedRun
from wattline.controller.testbed.workload import BedJob
from wattline.model.jobs import JobTable
from wattline.scenario.api import simulate
from wattline.scenario.objects import Machine


@dataclass(frozen=True)
class BesideSimulation:
    """Starts on the bed less those of the simulation, and both makespans."""

    late_s_median: float
    late_s_worst: float
    """The largest, early or late."""
    makespan_s: float
    """Of the simulation."""


def beside_simulation(
    run: BedRun, jobs: list[BedJob], nodes: int, power: NodePower, cap_w: float,
    policies: Mapping[str, Any], scenario: str | Path | None = None,
) -> BesideSimulation:
    """Simulate what was seen on a bed, and compare the starts."""
    asked = {job.number: job for job in jobs}
    seen = sorted(run.seen, key=lambda job: (job.submit_s, job.number))
    first_s = seen[0].submit_s if seen else 0.0
    table = JobTable.build(
        job_id=[job.number for job in seen], submit_s=[job.submit_s - first_s for job in seen],
        run_s=[job.end_s - job.start_s for job in seen],
        requested_s=[asked[job.number].limit_s for job in seen],
        procs=[asked[job.number].nodes for job in seen],
        power_w=[float(asked[job.number].watts) for job in seen])
    machine = Machine(nodes=nodes, node_idle_w=power.idle_w, node_active_w=power.active_w)
    simulated = simulate(scenario, trace=table, machine=machine, cap=cap_w, **policies)
    starts = {int(number): float(at_s) + first_s for number, at_s in
              zip(simulated.jobs.job_id, simulated.schedule.start_s, strict=True)}
    late_s = np.array([job.start_s - starts[job.number] for job in seen])
    return BesideSimulation(float(np.median(late_s)), float(late_s[np.abs(late_s).argmax()]),
                            float(np.nanmax(simulated.schedule.end_s)) + first_s)
