"""Jobs that run on nodes which the site's file does not name: their part on ours is counted."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

from wattline.controller.told import News
from wattline.live.slurm.reading import ACTIVE, STARTING, WATTS, SlurmJob
from wattline.model.units import fold_hosts


def part_here(job: SlurmJob, ours: Collection[str]) -> SlurmJob:
    """A job as if it were only what of it is on our nodes; what it draws lies evenly on its nodes.

    Of one that is all there it is the job itself.
    """
    here = tuple(node for node in job.node_list if node in ours)
    if len(here) == len(job.node_list):
        return job
    share = len(here) / len(job.node_list)
    licences = dict(job.licenses)
    if WATTS in licences:
        licences[WATTS] = math.ceil(share * licences[WATTS] - 1e-9)
    return replace(job, node_list=here, nodes=len(here), most_nodes=len(here), licenses=licences,
                   cpus=math.ceil(share * job.cpus - 1e-9))


class PartsHere:
    """Says once of each job that it is not all on our nodes."""

    def __init__(self, ours: Collection[str]) -> None:
        self.ours = ours
        self.said: set[str] = set()
        """Labels."""

    def of(self, name: str, job: SlurmJob, known: bool, found: News) -> SlurmJob:
        """Its part here. One that is all elsewhere, and that the books do not know, is of no
        matter to anybody."""
        part = part_here(job, self.ours)
        if (part is not job and (part.node_list or known) and job.label not in self.said
                and job.state in (*ACTIVE, *STARTING)):
            self.said.add(job.label)
            found.remarks.append(f"job {name} {_sentence(job, part)}")
        return part


def _sentence(job: SlurmJob, part: SlurmJob) -> str:
    strange = [node for node in job.node_list if node not in set(part.node_list)]
    where = f"runs on {fold_hosts(strange)}, which the site's file does not name"
    if not part.node_list:
        return f"{where}: it is not counted"
    return f"{where}, and on {fold_hosts(part.node_list)}: only that part of it is counted"
