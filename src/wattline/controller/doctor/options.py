"""Whether Slurm is configured for a controller beside it: options, partitions, nodes."""

from __future__ import annotations

from wattline.controller.configuration import SiteConfig
from wattline.controller.doctor.check import Check, checked
from wattline.controller.doctor.slurm import Cluster
from wattline.controller.named_cluster import RENAME, otherwise
from wattline.live.slurm.reading import hosts, licenses
from wattline.model.units import fold_hosts


def option_checks(cluster: Cluster, site: SiteConfig | None) -> list[Check]:
    return [*_site_checks(cluster, site), _backfill(cluster), _licences(cluster, site),
            _counted(cluster), _energy(cluster), _tracking(cluster), _whole_nodes(cluster, site),
            _submission(cluster)]


def _site_checks(cluster: Cluster, site: SiteConfig | None) -> list[Check]:
    if site is None:
        return []
    strange = [name for name in site.node_names if name not in cluster.nodes]
    gone = [name for name in site.partitions if name not in cluster.partitions]
    said = cluster.option("clustername")
    misnamed = otherwise(site, said)
    return [
        checked("nodes", not strange, f"Slurm has no {fold_hosts(strange[:1000])}" if strange
                else f"all {len(site.node_names)} are Slurm's",
                "let `nodes` of the site's file name nodes as sinfo does"),
        checked("partitions", not gone, f"Slurm has no {', '.join(gone)}" if gone
                else ", ".join(site.partitions) or "all are managed",
                f"there are: {', '.join(cluster.partitions)}"),
        checked("cluster", not misnamed, misnamed or said, RENAME)]


def _backfill(cluster: Cluster) -> Check:
    kind, more = cluster.option("schedulertype"), cluster.option("schedulerparameters")
    missing = [] if kind == "sched/backfill" else ["SchedulerType=sched/backfill"]
    if "bf_licenses" not in more.split(","):
        missing.append("SchedulerParameters=bf_licenses")
    return checked("backfill by licences", not missing, f"{kind} {more}".strip(),
                   f"set {' and '.join(missing)}: otherwise Slurm's own backfill overlooks watts, "
                   "and guard mode starves large jobs")


def _licences(cluster: Cluster, site: SiteConfig | None) -> Check:
    said = cluster.option("licenses")
    watts = licenses(said).get("watts", 0)
    cap = f"{site.cap:.0f}" if site is not None else "the cap in watts"
    if site is not None and site.mode == "guard" and not site.licences:
        return checked("licences of watts", False, "mode is guard, and licences is false",
                       "set licences = true in the site's file: in guard mode Slurm starts jobs by "
                       "them, and jobs that are held for the controller stay held without")
    if site is not None and site.licences and site.parts is None and 0 < watts < int(site.cap):
        return checked("licences of watts", False, f"Licenses={said}, fewer than the cap",
                       f"set Licenses=watts:{cap} in slurm.conf and run scontrol reconfigure: jobs "
                       f"that fit under the cap do not start beyond {watts} W", must=False)
    return checked("licences of watts", watts > 0, f"Licenses={said or '(none)'}",
                   f"set Licenses=watts:{cap} in slurm.conf and run scontrol reconfigure: it is "
                   "the net below the controller")


def _counted(cluster: Cluster) -> Check:
    said = cluster.option("accountingstoragetres").split(",")
    missing = [name for name in ("energy", "license/watts") if name not in said]
    return checked("accounting of watts", not missing, ",".join(said),
                   f"add {','.join(missing)} to AccountingStorageTRES", must=False)


def _energy(cluster: Cluster) -> Check:
    kind = cluster.option("acctgatherenergytype")
    return checked("energy plugin", kind not in ("", "none", "acct_gather_energy/none"),
                   kind or "none", "set AcctGatherEnergyType (rapl, ipmi, xcc, pm_counters, gpu) "
                   "and AcctGatherNodeFreq=10: jobs then have ConsumedEnergy", must=False)


def _tracking(cluster: Cluster) -> Check:
    kind = cluster.option("proctracktype")
    good = kind.rpartition("/")[2] in ("cgroup", "linuxproc")
    return checked("process tracking", good, kind or "none", "set ProctrackType=proctrack/cgroup "
                   "(or linuxproc): otherwise processes outlive their job and draw on")


def _whole_nodes(cluster: Cluster, site: SiteConfig | None) -> Check:
    if site is not None and site.parts is not None:
        return checked("whole nodes", True, "jobs share nodes, whose parts the twin has", "")
    linear = cluster.option("selecttype") == "select/linear"
    sharing = [name for name, fields in cluster.partitions.items()
               if not linear and fields.get("OverSubscribe") != "EXCLUSIVE"]
    shared = [name for name in sharing
              if site is None or not site.partitions or name in site.partitions]
    if not shared and site is not None:
        foreign = [name for name in sharing if not set(site.node_names).isdisjoint(
            hosts(cluster.partitions[name].get("Nodes", "")))]
        if foreign:
            return _foreign(foreign)
    return checked("whole nodes", not shared, "jobs have nodes to themselves" if not shared else
                   f"jobs share nodes in {', '.join(shared)}",
                   f"set OverSubscribe=EXCLUSIVE of the partition {' and '.join(shared)}, or name "
                   "other `partitions` in the site's file")


def _foreign(names: list[str]) -> Check:
    """Partitions that are left to Slurm, and have nodes of the site that their jobs share."""
    whose = "which is" if len(names) == 1 else "which are"
    return checked("whole nodes", False, f"jobs share nodes of the site in {', '.join(names)}, "
                   f"{whose} left to Slurm",
                   "it is served: no job of ours starts on a node that they use, their watts count "
                   "as they say, or as a full node, and joules go by processor time. Where that is "
                   f"too rough, set OverSubscribe=EXCLUSIVE of {' and '.join(names)}, or give the "
                   "site a `twin`", must=False)


def _submission(cluster: Cluster) -> Check:
    said = cluster.option("jobsubmitplugins")
    return checked("job_submit plugin", "lua" in said.split(","), said or "none",
                   "set JobSubmitPlugins=lua and put examples/slurm/job_submit.lua beside "
                   "slurm.conf; without it users submit with --hold and -L watts:N themselves",
                   must=False)
