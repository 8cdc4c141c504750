"""A site of 217 nodes with four QOS and GPUs: runs whole, and breaks no rule of its own files."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest
from tests.shared_data import shared
from tests.support.slurm_checker import Held, Ran, broken_rules
from tests.support.slurm_files import read_conf, read_events, read_submit_limits

from wattline.model.errors import WattlineWarning
from wattline.scenario.twin.planning import twin_plan
from wattline.shared_nodes.outcome import REFUSED
from wattline.shared_nodes.simulate import simulate_shared
from wattline.twin.make import make_twin


@pytest.mark.long
def test_a_week_of_a_medium_site_loses_no_job_and_breaks_no_rule() -> None:
    site = shared("slurm_sites/medium/slurm.conf").parent
    events, assoc = site / "workload_week.events.xz", site / "sacctmgr_priority100.script"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WattlineWarning)
        twin = make_twin(site / "slurm.conf", events=events, gres=site / "gres.conf",
                         topology=site / "topology.conf", assoc=assoc)
    made = twin_plan(twin.scenario).site
    assert made is not None
    requests, nodes = made.made.requests, made.machine.nodes
    found = simulate_shared(made.machine, requests, made.rules)
    conf = read_conf(site / "slurm.conf")
    asked = read_events(events, conf)
    names = [job.name for job in asked]
    assert [str(int(name.rpartition("_")[2])) for name in names] == list(requests.job_ids)
    devices = found.allocation_gres.sum(axis=1)
    held = [Held(names[job], nodes.names[node], int(cpus), int(memory), int(gpus))
            for job, node, cpus, memory, gpus in zip(
                found.allocation_job, found.allocation_node, found.allocation_cpus,
                found.allocation_memory_mb, devices, strict=True)]
    ran = {names[row]: Ran(float(found.start_s[row]), float(found.end_s[row]))
           for row in np.flatnonzero(np.isfinite(found.start_s))}
    refused = [names[row] for row in np.flatnonzero(found.state == REFUSED)]
    said = broken_rules(conf, asked, ran, held, read_submit_limits(assoc), refused)
    assert said == [], (len(said), Counter(line.split(" ", 1)[1] for line in said), said[:5])
