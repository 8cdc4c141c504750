"""Small sites for the tests of the twin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wattline.scenario.twin.section import TwinSection
from wattline.scenario.twin.site import Site, read_site

CONF = """\
ClusterName=small
SchedulerParameters=bf_interval=30,bf_window=60,defer,nonsense=3
PriorityType=priority/multifactor
PriorityWeightAge=1000
AccountingStorageEnforce=associations,limits,qos
Prolog=/bin/true
Wibble=7
NodeName=DEFAULT CPUs=8 RealMemory=16000
NodeName=n[1-4] Feature=ib,fast
NodeName=g1 Gres=gpu:a100:2 Feature=ib RealMemory=32000 Weight=5
PartitionName=batch Nodes=n[1-4] Default=YES MaxTime=2:00:00 DefaultTime=10 DefMemPerCPU=1000
PartitionName=gpu Nodes=g1 PriorityTier=3
"""
ACCOUNTS = """\
add qos Name=high Priority=100 MaxTRESPerUser=cpu=8
add cluster Name=small Fairshare=1 QOS=normal,high
add account name=phys Fairshare=10
add user name=ada DefaultAccount=phys
"""


def site(folder: Path, log: str, conf: str = CONF, accounts: str | None = ACCOUNTS,
         kind: str = "events", **fields: Any) -> Site:
    """The site of these texts."""
    paths = {}
    for name, text in (("slurm.conf", conf), ("assoc", accounts), ("log", log)):
        if text is not None:
            paths[name] = folder / name
            paths[name].write_text(text)
    section = TwinSection(slurm_conf=str(paths["slurm.conf"]), log=kind,
                          assoc=str(paths["assoc"]) if "assoc" in paths else None, **fields)
    return read_site(section, paths["log"])


def submit(options: str, at: float = 0, run: float = 60) -> str:
    return (f"-dt {at} -e submit_batch_job | --uid=ada -A phys -sim-walltime {run} {options} "
            "a.sh\n")


def sacct(folder: Path, jobs: int = 12, conf: str = CONF) -> dict[str, Path]:
    """Files of a small site with a log of one-node jobs, two at a time on one node each."""
    rows = ["JobID|User|Account|Partition|QOS|Submit|Start|End|Timelimit|ReqTRES|AllocTRES|NNodes|"
            "NodeList|State"]
    for number in range(jobs):
        start = 60 * number
        asked = "cpu=8,mem=8000M,node=1"
        node = f"n{number % 4 + 1}"
        rows.append("|".join((
            str(number + 1), "ada", "phys", "batch", ("normal", "high")[number % 2],
            _stamp(30 * number), _stamp(start + 5), _stamp(start + 245), "00:10:00", asked, asked,
            "1", node, "COMPLETED")))
    texts = {"slurm.conf": conf, "assoc": ACCOUNTS, "sacct.txt": "\n".join(rows) + "\n"}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return {name: folder / name for name in texts}


def _stamp(second: int) -> str:
    return f"2025-03-04T{8 + second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
