"""Settings that a twin does not follow are listed, each once and with what it would change."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import site, submit

CONF = """ClusterName=small
AccountingStorageEnforce=limits,qos
GresTypes=gpu,shard,mps,fpga
NodeName=n[1-3] CPUs=4 RealMemory=4000{gres}
PartitionName=p Nodes=ALL Default=YES
PartitionName=bare
"""
ACCOUNTS = """add qos Name=q1 {limit}
add cluster Name=small QOS=normal,q1
add account name=lab Fairshare=10 {account}
add user name=ada DefaultAccount=lab account=lab Fairshare=parent
"""
FLAGS = "PriorityType=priority/multifactor\nPriorityFlags="
LICENCES = "SchedulerParameters=bf_interval=60,"

OF_SLURM_CONF = [
    ("MaxArraySize=5000", ": MaxArraySize=5000: arrays"),
    (f"{FLAGS}MAX_TRES", "PriorityFlags MAX_TRES: usage is billed"),
    (f"{FLAGS}NO_AGE_RESET", "PriorityFlags NO_AGE_RESET: jobs that are requeued"),
    ("SchedulerParameters=bf_node_space_size=900",
     "bf_node_space_size=900: limits for how many"),
    ("SelectTypeParameters=CR_Core,CR_Pack_Nodes", "CR_Pack_Nodes: jobs are packed"),
    ("PreemptParameters=youngest_first", "which running jobs give way"),
    ("SuspendExcStates=DRAIN", "never sleep"),
    ("SchedulerParameters=bf_max_job_user_part=3", "of a user in a partition"),
    ("SchedulerParameters=bf_window_linear=60", "steps of this many seconds"),
]
OF_ACCOUNTS = [
    ("limit", "MinTRES=cpu=2", "jobs that ask for less wait"),
    ("limit", "MaxTRESMins=cpu=10", "jobs that could use more by their limits"),
    ("limit", "GrpTRESRunMins=cpu=10", "no further job starts while"),
    ("limit", "GrpTRES=billing=3", "jobs are not counted by it"),
    ("limit", "MaxTRESPU=license/x=2", "jobs are not counted by it"),
    ("limit", "GrpTRES=gres/gpu=3", "no node has it"),
    ("account", "GrpTRESMins=cpu=1000", "GrpTRESMins="),
    ("account", "GrpWall=2-00:00:00", "GrpWall="),
]


def lists(folder: Path, conf: str = "", gres: str = "", accounts: str | None = None):
    return site(folder, submit("-n 1"), CONF.format(gres=gres) + conf + "\n", accounts).lists


@pytest.mark.parametrize(("line", "said"), OF_SLURM_CONF)
def test_a_key_of_slurm_conf_is_listed_once(tmp_path: Path, line: str, said: str) -> None:
    found = lists(tmp_path, line)
    assert sum(said in each for each in found.not_modelled) == 1
    assert found.unknown == ()


@pytest.mark.parametrize("line", [
    "TreeWidth=50", "PrologTimeout=60", "MetricsType=metrics/openmetrics"])
def test_a_key_that_changes_nothing_here_is_listed_nowhere(tmp_path: Path, line: str) -> None:
    found = lists(tmp_path, line)
    assert found.unknown == ()
    assert not any(line.partition("=")[0] in each for each in found.not_modelled)


@pytest.mark.parametrize(("place", "limit", "said"), OF_ACCOUNTS)
def test_a_limit_of_accounting_that_is_not_kept_is_listed_once(
        tmp_path: Path, place: str, limit: str, said: str) -> None:
    accounts = ACCOUNTS.format(**{"limit": "", "account": "", place: limit})
    listed = [line for line in lists(tmp_path, accounts=accounts).not_modelled
              if limit.partition("=")[0] in line]
    assert len(listed) == 1
    assert said in listed[0]


def test_shares_of_accounts_are_followed(tmp_path: Path) -> None:
    found = lists(tmp_path, f"{FLAGS}MAX_TRES", accounts=ACCOUNTS.format(limit="", account=""))
    assert not any("fairshare" in line.lower() for line in found.not_modelled)


@pytest.mark.parametrize("given", [
    "bf_licenses", "bf_running_job_reserve", "bf_licenses,bf_running_job_reserve",
    "bf_running_job_reserve,bf_licenses"])
def test_what_planning_for_licences_implies_is_listed_once(tmp_path: Path, given: str) -> None:
    [said] = [line for line in lists(tmp_path, LICENCES + given).not_modelled
              if "bf_running_job_reserve" in line]
    assert "jobs that run on whole nodes hold them" in said
    assert ("which bf_licenses implies" in said) == (given == "bf_licenses")


@pytest.mark.parametrize(("gres", "count"), [
    ("gpu:a:2,shard:8", 1), ("gpu:2,mps:200", 1), ("gpu:2,shard:8,mps:200", 2), ("gpu:2", 0),
    ("shard:8", 0), ("fpga:1", 0)])
def test_parts_of_gpus_are_listed(tmp_path: Path, gres: str, count: int) -> None:
    listed = [line for line in lists(tmp_path, gres=f" Gres={gres}").not_modelled
              if "beside the GPUs, of which they are" in line]
    assert len(listed) == count
    assert all("slurm.conf:4: Gres" in line and " on 3 nodes: " in line for line in listed)


@pytest.mark.parametrize(("options", "said"), [
    ("-p bare", "its partitions have no nodes"),
    ("-p p -C odd", "no node has the features 'odd'"),
])
def test_a_job_without_a_node_says_why(tmp_path: Path, options: str, said: str) -> None:
    found = site(tmp_path, submit(f"-n 1 {options}"), CONF.format(gres=""), None)
    assert [said in line for line in found.made.unfit] == [True]
