"""Whether a site's file calls its cluster as Slurm does.

The ledger knows jobs by that name, as dumps of `sacct` do: under another name a job would be
there twice.
"""

from __future__ import annotations

from contextlib import suppress

from wattline.controller.configuration import SiteConfig
from wattline.live.slurm.client import Slurm
from wattline.live.slurm.commands import SlurmError
from wattline.model.errors import InputError

RENAME = ("let `cluster` be Slurm's ClusterName, in the site's file and in those of the agents, "
          "whose keys are made for it (wattline agent keys --cluster); what a ledger has under the "
          "other name stays there (wattline account forget --cluster takes it back)")


def otherwise(site: SiteConfig, said: str) -> str:
    """How the site's file names another cluster than Slurm said; empty: it does not."""
    if not _matters(site) or not said or said == site.cluster:
        return ""
    return f"cluster of the site's file is '{site.cluster}', Slurm's ClusterName is '{said}'"


def misnamed(site: SiteConfig, slurm: Slurm) -> str:
    """The same, of a Slurm that is asked."""
    return otherwise(site, slurm.cluster_name()) if _matters(site) else ""


def _matters(site: SiteConfig) -> bool:
    """Without agents nobody is told the name; a file that gives it means it all the same."""
    return site.broker is not None or "cluster" in site.model_fields_set


def refuse_misnamed(site: SiteConfig, slurm: Slurm) -> None:
    """A controller does not start under another name; where Slurm is silent, it is asked later."""
    found = ""
    with suppress(SlurmError):
        found = misnamed(site, slurm)
    if found:
        raise InputError(f"{found}: {RENAME}")
