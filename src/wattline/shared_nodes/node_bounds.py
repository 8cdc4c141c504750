"""How many nodes a job may have in a partition.

slurm.conf: MinNodes and MaxNodes of a partition; sacctmgr: MaxTRES=node= of a QOS, MaxNodes of an
association, GrpTRES=node= of both, MaxTRESPerUser=node= and MaxTRESPerAccount=node=. They hold for
what a job gets: one that does not say how many nodes it wants has at least the partition's fewest,
and never more than the least of these limits. A range of nodes (-N 1-4) begins at the partition's
fewest and ends at a limit of sacctmgr's; one that goes beyond the partition's most breaks it.
"""

from __future__ import annotations

import numpy as np

from wattline.shared_nodes.machine import NO_LIMIT, IntArray, SharedMachine
from wattline.shared_nodes.memberships import most_nodes_of_a_job
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.rules import Rules

OVER_JOB_LIMIT, TOO_MANY_NODES, OVER_GROUP_LIMIT = 8, 11, 16
"""Rows of REASONS in outcome.py."""


def most_asked(requests: Requests) -> IntArray:
    """The most nodes that jobs say they want; NO_LIMIT where they leave it open."""
    said = np.where(requests.max_nodes > 0, requests.max_nodes, requests.min_nodes)
    return np.where(said > 0, said, NO_LIMIT)


def node_bounds(
    machine: SharedMachine, requests: Requests, rules: Rules, sizes: dict[str, IntArray],
    job: IntArray, partition: IntArray,
) -> dict[str, IntArray]:
    """Fewest and most nodes of these jobs, each in one partition, and which limit made it fewer."""
    parts = machine.partitions
    fewest = np.maximum(sizes["min_nodes"][job], parts.min_nodes[partition])
    useful = np.minimum(most_asked(requests)[job], np.maximum(sizes["max_nodes"][job], fewest))
    of_part = np.minimum(parts.max_nodes[partition], len(machine.nodes.names))
    of_job = of_group = np.full(len(job), NO_LIMIT)
    if rules.enforce_limits:
        of_job, of_group = most_nodes_of_a_job(machine, parts.qos[partition], requests.qos[job],
                                               requests.association[job])
    most = np.minimum(np.minimum(useful, of_part), of_group)
    capped_by = np.where(parts.max_nodes[partition] < useful, TOO_MANY_NODES, 0)
    capped_by = np.where(of_job < np.minimum(useful, of_part), OVER_JOB_LIMIT, capped_by)
    capped_by = np.where(of_group < np.minimum(np.minimum(useful, of_part), of_job),
                         OVER_GROUP_LIMIT, capped_by)
    return {"min_nodes": fewest, "max_nodes": np.maximum(most, fewest), "capped_by": capped_by}
