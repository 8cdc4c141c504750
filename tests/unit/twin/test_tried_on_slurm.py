"""The twin beside what a real Slurm did with small sites and a few submissions each.

Recorded with Slurm 22.05.8 on the test bed, one slurmd per node: jobs are sleeps, `-dt` is when
sbatch was called. The twin's loops are put where those of that slurmctld were, and a start may be
off by a tick and what a busy machine takes. Where the two differ, the record says why. Of the
trials of what jobs ask for, the record has their CPUs too, and limits where these matter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.support.shared_judged import findings
from tests.support.twin_sites import site

from wattline.model.units import fold_hosts
from wattline.scenario.twin.tables import effective_limits_s
from wattline.shared_nodes.simulate import simulate_shared

RECORDS = ("tried_on_slurm_22_05_8.json", "asked_of_slurm_22_05_8.json")
TRIALS = {trial["name"]: trial for record in RECORDS
          for trial in json.loads(Path(__file__).with_name(record).read_text())["trials"]}
LOOPS_S = 60.0
"""All loops of these sites come round in it."""
WITHIN_S = 4.0


def simulated(folder: Path, trial: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what the twin makes of each job, as the record has it."""
    found = site(folder, "\n".join(trial["events"]), "\n".join(trial["slurm_conf"]),
                 "\n".join(trial["sacctmgr"]) or None, reservation=trial.get("reservations", []))
    phase_s = -trial["begin_after_slurmctld_s"] % LOOPS_S
    run = simulate_shared(found.machine, found.made.requests, found.rules, phase_s=phase_s)
    assert findings(found.machine, found.made.requests, found.rules, run) == []
    names, jobs, limit_s = found.machine.nodes.names, {}, effective_limits_s(found)
    for row, job in enumerate(found.made.requests.job_ids):
        nodes = [names[node] for node in run.allocation_node[run.allocation_job == row]]
        ran = run.start_s[row] == run.start_s[row]
        jobs[f"j{job}"] = {
            "start_s": float(run.start_s[row]) if ran else None,
            "nodes": fold_hosts(sorted(nodes)) if ran else "",
            "partition": found.machine.partitions.names[run.partition[row]] if ran else "",
            "requeues": int(run.requeues[row]), "limit_s": float(limit_s[row]),
            "cpus": int(run.allocation_cpus[run.allocation_job == row].sum())}
    return jobs


def agrees(real: Mapping[str, Any], twin: Mapping[str, Any]) -> bool:
    if real["start_s"] is None or twin["start_s"] is None:
        return real["start_s"] is None and twin["start_s"] is None
    return (abs(real["start_s"] - twin["start_s"]) <= WITHIN_S
            and all(real[name] == twin[name] for name in (
                "nodes", "partition", "requeues", "cpus", "limit_s") if name in real))


@pytest.mark.parametrize("name", TRIALS)
def test_the_twin_does_what_slurm_did(tmp_path: Path, name: str) -> None:
    trial = TRIALS[name]
    twin = simulated(tmp_path, trial)
    assert twin.keys() == trial["jobs"].keys()
    differ = {job: (trial["jobs"][job], found) for job, found in twin.items()
              if not agrees(trial["jobs"][job], found)}
    assert differ.keys() == trial["differs"].keys(), differ
