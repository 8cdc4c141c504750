"""Jobs whose word on their watts is not taken: their nodes draw more without any job."""

from __future__ import annotations

from wattline.controller.asking import claims_too_little, watts_of_licences
from wattline.controller.configuration import SiteConfig
from wattline.controller.doctor.check import Check, checked
from wattline.controller.doctor.slurm import Cluster
from wattline.controller.node_power import NodePower
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import SlurmError
from wattline.live.slurm.reading import ACTIVE, STARTING, WAITING

NAMED = 5


def claim_checks(cluster: Cluster, site: SiteConfig) -> list[Check]:
    """One where there are such jobs; on shared nodes licences are what jobs add to idle power."""
    if site.twin:
        return []
    try:
        jobs = Slurm(cluster.commands).look().jobs
    except SlurmError:  # that Slurm does not answer is said elsewhere
        return []
    counted = watts_of_licences(NodePower.of(site))
    labels = [job.label for job in jobs if job.state in (*WAITING, *ACTIVE, *STARTING)
              and claims_too_little(job, counted(job))]
    if not labels:
        return []
    more = f" and {len(labels) - NAMED:,} more" if len(labels) > NAMED else ""
    return [checked(
        "watts of jobs", False, "fewer licences called watts than their nodes draw idle: jobs "
        f"{', '.join(labels[:NAMED])}{more}", "idle power counts for them; ask for what they draw "
        "(-L watts:N), or let job_submit.lua do so", must=False)]
