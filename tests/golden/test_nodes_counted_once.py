"""Limits on the nodes of a user and of a QOS, as a real Slurm kept them.

Recorded on Slurm 22.05.8 (`wattline testbed replay`), four nodes of 4 CPUs: a node counts once for
all jobs of the user or of the QOS, and who has a node already gets it before another.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.shared_judged import findings
from tests.support.twin_sites import site
from wattline.shared_nodes.outcome import Schedule
from wattline.shared_nodes.simulate import simulate_shared

CONF = """ClusterName=tiny
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,batch_sched_delay=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/basic
AccountingStorageEnforce=associations,limits,qos
NodeName=n[1-4] CPUs=4 RealMemory=8000
PartitionName=all Nodes=n[1-4] Default=YES MaxTime=60
"""
ASSOC = """modify QOS set normal Priority=0
add QOS Name=two MaxTRESPerUser=node=2
add QOS Name=all GrpTRES=node=2
add account name=lab Fairshare=10
add user name=ann DefaultAccount=lab
add user name=bob DefaultAccount=lab
modify user set qoslevel="normal,two,all"
"""
RUN = """\
0 14 ann 2 two -> 1 n1
2 25 bob 3 normal -> 2 n2
4 14 ann 1 two -> 4 n1
6 14 ann 4 two -> 6 n1,n3
8 4 ann 2 two -> 15 n1
9 4 ann 1 two -> 9 n3
30 12 ann 2 all -> 30 n1
32 12 bob 2 all -> 32 n1
34 12 bob 4 all -> 34 n2
36 4 bob 1 all -> 42 n1
"""
"""Time of submission, how long it ran, user, tasks, QOS; when it started, and its nodes."""
ROWS = [row.split() for row in RUN.splitlines()]


def _simulated(folder: Path) -> tuple[Schedule, list[str], list[str]]:
    log = "".join(
        f"-dt {at} -e submit_batch_job | -sim-walltime {ran} --uid={user} -A lab -t 1 -n {tasks} "
        f"-q {qos} x.job\n" for at, ran, user, tasks, qos, *_ in ROWS)
    made = site(folder, log, CONF, ASSOC)
    assert made.lists.not_modelled == ()
    asked = made.made.requests
    found = simulate_shared(made.machine, asked, made.rules)
    nodes = [",".join(made.machine.nodes.names[node]
                      for node in sorted(found.allocation_node[found.allocation_job == job]))
             for job in range(len(ROWS))]
    # As if another limit had been kept: one node fewer.
    limits = made.machine.qos.limits
    fewer = replace(made.machine, qos=replace(made.machine.qos, limits=replace(
        limits, user_tres=np.where(limits.user_tres == 2, 1, limits.user_tres))))
    return found, nodes, [*findings(made.machine, asked, made.rules, found), "but",
                          *findings(fewer, asked, made.rules, found)]


def test_a_node_counts_once_for_all_jobs_on_it(tmp_path: Path) -> None:
    found, nodes, said = _simulated(tmp_path)
    assert nodes == [row[-1] for row in ROWS]
    assert found.start_s == pytest.approx([float(row[-2]) for row in ROWS], abs=1.5)
    assert said == ["but", "QOS two of user ann has 2 nodes when job 4 starts, and may have 1"]
