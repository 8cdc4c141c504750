"""Small sites drawn at random, files and all: every job is accounted for, and every limit kept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.support.examples import costing
from tests.support.shared_judged import findings
from tests.support.twin_sites import ACCOUNTS, site

from wattline.scenario.twin.planning import turned_away
from wattline.scenario.twin.site import Site
from wattline.shared_nodes.machine import EXCLUSIVE
from wattline.shared_nodes.outcome import KILLED, NEVER, RAN, REFUSED
from wattline.shared_nodes.simulate import simulate_shared

COLUMNS = ("JobID", "User", "Account", "Partition", "QOS", "Submit", "Eligible", "Start", "End",
           "Timelimit", "ReqTRES", "AllocTRES", "NNodes", "NodeList", "State", "SubmitLine")


def _lines(**choices: Sequence[str]) -> st.SearchStrategy[list[str]]:
    """`Key=Value` for some of these keys; an empty value leaves the key out."""
    drawn = [st.sampled_from(values).map(lambda value, key=key: value and f"{key}={value}")
             for key, values in choices.items()]
    return st.tuples(*drawn).map(lambda lines: [line for line in lines if line])


SETTINGS = _lines(
    EnforcePartLimits=("", "NO", "ANY", "ALL"), SelectType=("", "select/linear"),
    SelectTypeParameters=("CR_Core_Memory", "CR_CPU"), SuspendTime=("", "0", "60", "-1"),
    SchedulerType=("", "sched/builtin"), AccountingStorageEnforce=("", "limits,qos"),
    SchedulerParameters=("", "bf_interval=0", "bf_interval=-1,bf_max_job_test=-2",
                         "sched_interval=0,batch_sched_delay=0", "bf_window=999999999",
                         "bf_resolution=0,bf_continue,bf_max_job_user=1"),
    PriorityType=("", "priority/multifactor"), PriorityWeightAge=("", "0", "1000"),
    PreemptType=("", "preempt/partition_prio"), PreemptMode=("", "REQUEUE"),
    Licenses=("", "x:1"), MaxJobCount=("", "3"), OverTimeLimit=("", "1"))
PARTITION = _lines(
    OverSubscribe=("", "EXCLUSIVE"), MaxTime=("", "10", "INFINITE"), MaxNodes=("", "1", "0"),
    MinNodes=("", "2"), DefMemPerCPU=("", "500", "9000"), MaxMemPerCPU=("", "1000"),
    PriorityTier=("", "5"), State=("", "DOWN"), AllowQos=("", "high"), MaxCPUsPerNode=("", "2"))
OPTIONS = st.lists(st.sampled_from((
    "-n 3", "-n 9", "-N 2", "-N 1-3", "-c 2", "--exclusive", "-w n1", "-w n[1-2]", "-w n9", "-x n1",
    "-x n9", "--gpus=2", "--gpus=3", "--gpus=9", "--gres=gpu:1", "--gpus-per-task=1", "--mem=0",
    "--mem=3G", "--mem-per-cpu=2500", "-L x:1", "-L y", "--ntasks-per-node=2", "--switches=1",
    "--nice=9", "-w /a/file", "--no-requeue", "-n many")), max_size=4)
JOB = st.fixed_dictionaries({
    "JobID": st.integers(1, 6).map(str), "submit": st.integers(0, 400),
    "wait": st.integers(-20, 200), "lasts": st.integers(-10, 900),
    "Partition": st.sampled_from(("a", "b", "a,b", "", "c")),
    "QOS": st.sampled_from(("normal", "high", "", "odd")),
    "Timelimit": st.sampled_from(("00:05:00", "00:30:00", "", "UNLIMITED")),
    "ReqTRES": st.sampled_from(("", "cpu=4,node=1", "cpu=8,mem=2G,node=2,license/x=1",
                                "cpu=1,gres/gpu=3,node=2", "cpu=999,node=1")),
    "State": st.sampled_from(("COMPLETED", "TIMEOUT", "FAILED", "RUNNING", "NODE_FAIL",
                              "RESIZING", "CANCELLED by 7")), "options": OPTIONS})


def _stamp(second: int) -> str:
    return f"2025-03-04T08:{second // 60:02d}:{second % 60:02d}"


def _record(job: Mapping[str, Any]) -> str:
    start = max(0, job["submit"] + job["wait"])
    cells = {**job, "User": "ada", "Account": "phys", "Submit": _stamp(job["submit"]),
             "Eligible": _stamp(job["submit"]), "Start": _stamp(start),
             "End": _stamp(max(0, start + job["lasts"])), "AllocTRES": "cpu=2,node=1",
             "NNodes": "1", "NodeList": "n1",
             "SubmitLine": " ".join(("sbatch", *job["options"], "a.sh"))}
    if job["State"].startswith("CANCELLED"):
        cells |= {"Start": "Unknown", "NodeList": "None assigned"}
    return "|".join(str(cells[name]) for name in COLUMNS)


def _conf(settings: Sequence[str], first: Sequence[str], second: Sequence[str]) -> str:
    return "\n".join((
        "ClusterName=drawn", *settings, "NodeName=DEFAULT CPUs=4 RealMemory=4000",
        "NodeName=n[1-2]", "NodeName=g1 Gres=gpu:2 Weight=3",
        " ".join(("PartitionName=a Nodes=n1,g1 Default=YES", *first)),
        " ".join(("PartitionName=b Nodes=ALL", *second)), ""))


def _counted(lines: Sequence[str]) -> int:
    """Count how many jobs these lines say something of."""
    return sum(int(re.match(r"[0-9,]+", line)[0].replace(",", ""))  # type: ignore[index]
               for line in lines)


@costing(15)
@given(settings=SETTINGS, first=PARTITION, second=PARTITION,
       jobs=st.lists(JOB, min_size=1, max_size=7))
def test_every_job_of_a_drawn_site_is_in_one_list_and_keeps_the_limits(
    settings: list[str], first: list[str], second: list[str], jobs: list[dict[str, Any]],
) -> None:
    always = {**jobs[0], "State": "COMPLETED", "JobID": "99"}
    log = "\n".join(("|".join(COLUMNS), *map(_record, [always, *jobs]), ""))
    with TemporaryDirectory() as folder:
        found = site(Path(folder), log, _conf(settings, first, second), ACCOUNTS, kind="sacct")
    run = simulate_shared(found.machine, found.made.requests, found.rules)
    assert np.isin(run.state, (RAN, KILLED, REFUSED, NEVER)).all()
    ran = np.isfinite(run.start_s)
    assert ran.tolist() == np.isin(run.state, (RAN, KILLED)).tolist()
    refused = _counted((*found.made.unfit, *turned_away(run, found.made.requests)))
    assert int(ran.sum()) + refused == len(found.log.jobs)
    resized = sum("was resized" in line for line in found.log.filled) and _counted(
        [line for line in found.log.filled if "was resized" in line])
    assert len(found.log.jobs) + _counted(found.log.left_out) + resized == len(jobs) + 1
    assert len(set(found.made.requests.job_ids)) == len(found.log.jobs)
    assert findings(found.machine, found.made.requests, found.rules, run) == []
    _check_partitions(found, run)


def _check_partitions(found: Site, run: Any) -> None:
    """Whoever is in an exclusive partition has its nodes alone; sizes keep to the partition's."""
    parts = found.machine.partitions
    job, node = run.allocation_job, run.allocation_node
    for row in np.flatnonzero(parts.sharing[run.partition[job]] == EXCLUSIVE):
        beside = (node == node[row]) & (job != job[row])
        apart = (run.end_s[job] <= run.start_s[job[row]]) | (
            run.start_s[job] >= run.end_s[job[row]])
        # Who ends where he starts holds nothing.
        apart |= run.end_s[job] == run.start_s[job]
        assert (apart | ~beside).all() or run.end_s[job[row]] == run.start_s[job[row]]
    ran = np.flatnonzero(np.isfinite(run.start_s))
    nodes = np.bincount(job, minlength=len(run.start_s))
    assert (nodes[ran] <= parts.max_nodes[run.partition[ran]]).all()
    assert parts.up[run.partition[ran]].all()
    wanted = np.maximum(found.made.requests.gres_per_job, 0).sum(axis=1)
    given_ = np.bincount(job, run.allocation_gres.sum(axis=1), len(run.start_s))
    assert (given_[ran] >= wanted[ran]).all()
