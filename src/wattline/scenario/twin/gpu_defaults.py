"""CPUs and memory per GPU that jobs with GPUs get without asking for them.

slurm.conf: DefCpuPerGPU (of jobs that say neither --cpus-per-task nor --cpus-per-gpu),
DefMemPerGPU (of those that say no memory), of the cluster or of a partition, also in JobDefaults.
DefMemPerCPU, DefMemPerGPU and DefMemPerNode exclude each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wattline.scenario.twin.asked import AskedJob, Counter
from wattline.scenario.twin.per_gpu import has_gpus
from wattline.scenario.twin.settings import SlurmSettings
from wattline.site.lines import number_of
from wattline.site.slurm_conf import SlurmConf

CPUS, MEMORY = "defcpupergpu", "defmempergpu"
_WRITTEN = {CPUS: "DefCpuPerGPU", MEMORY: "DefMemPerGPU"}
_OTHERS = ("defmempercpu", "defmempernode")
DIFFERENT = ("its partitions have different defaults per GPU: those of the first that it names "
             "count in all")


@dataclass(frozen=True)
class GpuDefaults:
    """Of each partition, by its name; 0 is none."""

    cpus: Mapping[str, int]
    memory_mb: Mapping[str, int]

    def give(self, job: AskedJob, partitions: Sequence[str], filled: Counter) -> None:
        """Let a job with GPUs ask for what its first partition gives by default."""
        if not partitions or not has_gpus(job):
            return
        wanted = []
        if job.cpus_per_task < 1 and job.cpus_per_gpu < 1:
            wanted.append(("cpus_per_gpu", self.cpus))
        if max(job.memory_per_node_mb, job.memory_per_cpu_mb, job.memory_per_gpu_mb) < 0:
            wanted.append(("memory_per_gpu_mb", self.memory_mb))
        for name, defaults in wanted:
            if defaults[partitions[0]] > 0:
                setattr(job, name, defaults[partitions[0]])
            if len({defaults[each] for each in partitions}) > 1:
                filled.note(DIFFERENT, job.job_id)


def gpu_defaults_of(conf: SlurmConf, settings: SlurmSettings) -> GpuDefaults:
    """The partition's own, else the cluster's, unless the partition has memory another way."""
    for key in (*_WRITTEN.values(), "JobDefaults"):
        settings.text(key, "", matters=False)
    cluster = _found(settings.values, settings.where("JobDefaults"))
    _say_both(settings.values, cluster, conf.source, settings)
    cpus: dict[str, int] = {}
    memory: dict[str, int] = {}
    for partition in conf.partitions:
        own = _found(partition.settings, partition.where)
        _say_both(partition.settings, own, partition.where, settings)
        cpus[partition.name] = own.get(CPUS, cluster.get(CPUS, 0))
        other = any(key in partition.settings for key in _OTHERS)
        memory[partition.name] = own.get(MEMORY, 0 if other else cluster.get(MEMORY, 0))
    return GpuDefaults(cpus, memory)


def _found(settings: Mapping[str, str], where: str) -> dict[str, int]:
    """Those that stand alone count before those of the list."""
    found: dict[str, int] = {}
    for part in filter(None, settings.get("jobdefaults", "").split(",")):
        key, _, value = part.partition("=")
        key = key.strip().lower()
        if key in _WRITTEN:
            found[key] = number_of(value.strip(), _WRITTEN[key], where)
    for key, written in _WRITTEN.items():
        if key in settings:
            found[key] = number_of(settings[key].strip(), written, where)
    return found


def _say_both(values: Mapping[str, str], found: Mapping[str, int], where: str,
              settings: SlurmSettings) -> None:
    both = [key for key in _OTHERS if values.get(key, "0").strip() not in ("", "0")]
    if found.get(MEMORY, 0) > 0 and both:
        settings.told.contradictions.append(
            f"{where}: DefMemPerGPU beside {both[0]}, which exclude each other in Slurm; the first "
            "counts for jobs with GPUs, the other for those without")
