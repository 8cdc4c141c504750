"""Requests beside a number of nodes, on a real Slurm: kept, said, and each task its own.

One bed and one controller for all of it, since they mostly wait for the same seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import tomli_w

import wattline as wl
from tests.slurm.bedside import LONG_S, OURS, runs, slurm, submit, until
from tests.unit.controller.test_modes import ordered
from wattline.controller.configuration import SiteConfig, read_configuration
from wattline.controller.controller import Controller
from wattline.controller.serving import serving
from wattline.controller.testbed.agents import agents_of
from wattline.controller.testbed.layout import Bed

SUB = "sub"


def site_of(bed: Bed, folder: Path) -> SiteConfig:
    agents = agents_of(bed)
    broker = tomli_w.dumps({"broker": agents.pop("broker")})
    (folder / "site.toml").write_text(
        'nodes = "n[0001-0006]"\nnode_idle_w = 90\nnode_active_w = 300\ncap = 2000\n'
        f'licences = true\nslurm_conf = "{bed.configuration}"\nfolder = "controller"\n'
        'store_every = "1s"\n' + tomli_w.dumps(agents) + broker)
    return read_configuration(folder / "site.toml")


def test_nodes_arrays_and_the_queues_order_are_kept(bed: Bed, tmp_path: Path) -> None:
    site = site_of(bed, tmp_path)
    slurm(bed, "scontrol", "create", f"PartitionName={SUB}", "Nodes=n0006",
          "OverSubscribe=EXCLUSIVE", "MaxTime=60")
    said: list[str] = []
    try:
        with serving(site, act=True) as here:
            here.listeners = (*here.listeners, lambda cycle: said.extend(cycle.remarks))

            def cycles(ready: Callable[[], bool]) -> None:
                until(lambda: here.cycle().looked and ready())

            running = _they_run_where_they_may(bed, cycles)
            unfit = submit(bed, 5, 200, *OURS, "-N", "1", "-t", "5", "--mem=1000000")
            nowhere = submit(bed, LONG_S, 200, *OURS, "-N", "1", "-t", "20")
            slurm(bed, "scontrol", "update", f"JobId={nowhere}", "ExcNodeList=n[0001-0006]")
            array = _array(bed)
            cycles(lambda: "BadConstraints" in slurm(bed, "scontrol", "show", "job", unfit)
                   and any(f"job {unfit} is not decided upon" in line for line in said)
                   and any(f"job {nowhere} is not decided upon" in line for line in said))
            assert "AdminComment=wattline: Slurm finds no nodes" in slurm(
                bed, "scontrol", "show", "job", unfit)
            cycles(lambda: slurm(bed, "sacct", "-n", "-X", "-P", "-j", array, "-o",
                                 "AdminComment").count("energy=") == 2)
            _each_task_has_its_own(bed, site, array)
            slurm(bed, "scontrol", "update", f"JobId={nowhere}", "ExcNodeList=n0001")
            cycles(lambda: runs(bed, nowhere))  # and not a quarter of an hour later
            slurm(bed, "scancel", unfit, nowhere, *running)
            cycles(lambda: not slurm(bed, "squeue", "-h"))  # all nodes are free
            _as_they_ask_now(bed, here, cycles)
            _handed_over_in_order(bed, site, here, cycles)
    finally:
        slurm(bed, "scancel", "-p", f"batch,{SUB}")
        until(lambda: not slurm(bed, "squeue", "-h", "-p", SUB))
        slurm(bed, "scontrol", "delete", f"PartitionName={SUB}")


def _they_run_where_they_may(bed: Bed, cycles: Callable[..., None]) -> list[str]:
    """First fit would give them n0001 to n0003."""
    usual = (*OURS, "-N", "1", "-t", "5")
    named = submit(bed, LONG_S, 200, *usual, "-w", "n0005")
    small = submit(bed, LONG_S, 200, *usual, "-p", SUB)
    without = submit(bed, LONG_S, 200, *usual, "-x", "n0001,n0002")
    jobs = [named, small, without]
    cycles(lambda: all(runs(bed, job) for job in jobs))
    on = [slurm(bed, "squeue", "-h", "-j", job, "-o", "%N") for job in jobs]
    assert on[:2] == ["n0005", "n0006"]
    assert on[2] in ("n0003", "n0004")
    return jobs


def _array(bed: Bed) -> str:
    """Two tasks, of which the second works longer, each with a text of its own."""
    array = slurm(bed, "sbatch", "--parsable", "-o", "/dev/null", *OURS, "-N", "1", "-t", "5",
                  "--array=1-2", "--wrap", f"{bed.folder}/job.sh $((SLURM_ARRAY_TASK_ID*3)) 200")
    for task in (1, 2):
        slurm(bed, "scontrol", "update", f"JobId={array}_{task}", f"AdminComment=text {task}")
    return array


def _each_task_has_its_own(bed: Bed, site: SiteConfig, array: str) -> None:
    joules = [wl.account_job(f"{array}_{task}", site.ledger).lives[-1]["energy_j"]
              for task in (1, 2)]
    assert joules[1] > 1.3 * joules[0]
    for task, energy_j in zip((1, 2), joules, strict=True):
        assert slurm(bed, "sacct", "-n", "-X", "-P", "-j", f"{array}_{task}", "-o", "AdminComment"
                     ) == f"text {task}; energy={energy_j:.0f}j"


def _as_they_ask_now(bed: Bed, here: Controller, cycles: Callable[..., None]) -> None:
    """Jobs that wait, and one that runs, are changed as their users would."""
    wide = submit(bed, LONG_S, 200, *OURS, "-N", "5", "-t", "20")
    cycles(lambda: runs(bed, wide))
    smaller, kept = (submit(bed, LONG_S, 200, *OURS, "-N", "4", "-t", "20") for _ in range(2))
    cycles(lambda: smaller in here.watcher.told and kept in here.watcher.told)
    slurm(bed, "scontrol", "update", f"JobId={kept}", "NumNodes=1-1", "Comment=")
    slurm(bed, "scontrol", "update", f"JobId={smaller}", "NumNodes=1-1")
    cycles(lambda: runs(bed, smaller))
    assert slurm(bed, "squeue", "-h", "-j", smaller, "-o", "%D %N") == "1 n0006"
    slurm(bed, "scontrol", "update", f"JobId={wide}", "NumNodes=4")
    cycles(lambda: f"{wide}~1" in here.watcher.told)
    assert here.watcher.told[f"{wide}~1"].units == 4
    assert slurm(bed, "squeue", "-h", "-j", kept, "-o", "%T %Q") == "PENDING 0"
    slurm(bed, "scontrol", "update", f"JobId={kept}", "Comment=wattline")
    cycles(lambda: runs(bed, kept))
    assert slurm(bed, "squeue", "-h", "-j", kept, "-o", "%D %N") == "1 n0005"
    slurm(bed, "scancel", wide, smaller, kept)


def _handed_over_in_order(
    bed: Bed, site: SiteConfig, here: Controller, cycles: Callable[..., None]
) -> None:
    full = submit(bed, LONG_S, 200, *OURS, "-N", "6", "-t", "20")
    cycles(lambda: runs(bed, full))
    waiting = [submit(bed, 5, 200, *OURS, "-N", "1", "-t", "5", *more)
               for more in ((), ("-w", "n0005"), ())]
    cycles(lambda: all(job in here.watcher.told for job in waiting))
    assert ordered(here, site, mode="guard").ok
    cycles(lambda: not any(job.held for job in here.slurm.look().jobs))
    seen = {job.label: job for job in here.slurm.look().jobs}
    assert sorted(waiting, key=lambda label: -seen[label].priority) == waiting
    assert [seen[label].required_nodes for label in waiting] == [(), ("n0005",), ()]
    slurm(bed, "scontrol", "uhold", waiting[0])
    for _ in range(3):
        here.cycle()
    assert slurm(bed, "squeue", "-h", "-j", waiting[0], "-o", "%Q %r") == "0 JobHeldUser"
