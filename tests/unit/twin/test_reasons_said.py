"""What is said of keys and limits that a twin does not follow says what they would change."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import site, submit

CONF = """ClusterName=small
AccountingStorageEnforce=limits,qos
NodeName=n[1-2] CPUs=4 RealMemory=4000
PartitionName=p Nodes=ALL Default=YES
PartitionName=bare
{line}
"""
ACCOUNTS = """add qos Name=q1 {limit}
add cluster Name=small QOS=normal,q1
add account name=phys
add user name=ada account=phys
"""


@pytest.mark.parametrize(("limit", "said"), [
    ("MinTRES=cpu=2", "jobs that ask for less wait"),
    ("MaxTRESMins=cpu=10", "jobs that could use more by their limits"),
    ("GrpTRESRunMins=cpu=10", "no further job starts while"),
    ("GrpTRES=billing=3", "jobs are not counted by it"),
    ("MaxTRESPU=license/x=2", "jobs are not counted by it"),
    ("GrpTRES=gres/gpu=3", "no node has it"),
])
def test_a_limit_that_is_not_kept_says_what_it_would_change(
    tmp_path: Path, limit: str, said: str
) -> None:
    found = site(tmp_path, submit("-n 1"), CONF.format(line=""), ACCOUNTS.format(limit=limit))
    listed = [line for line in found.lists.not_modelled if limit.partition("=")[0] in line]
    assert len(listed) == 1
    assert said in listed[0]


@pytest.mark.parametrize(("line", "said"), [
    ("PreemptParameters=youngest_first", "which running jobs give way"),
    ("SuspendExcStates=DRAIN", "never sleep"),
    ("SchedulerParameters=bf_max_job_user_part=3", "of a user in a partition"),
    ("SchedulerParameters=bf_window_linear=60", "steps of this many seconds"),
    ("TreeWidth=50", ""), ("PrologTimeout=60", ""), ("MetricsType=metrics/openmetrics", ""),
])
def test_a_key_of_slurm_is_not_unknown(tmp_path: Path, line: str, said: str) -> None:
    found = site(tmp_path, submit("-n 1"), CONF.format(line=line), None)
    name = line.rpartition("=")[0].rpartition("=")[2] or line.partition("=")[0]
    assert not any(name in each for each in found.lists.unknown)
    assert sum(bool(said) and said in each for each in found.lists.not_modelled) == bool(said)


@pytest.mark.parametrize(("options", "said"), [
    ("-p bare", "its partitions have no nodes"),
    ("-p p -C odd", "no node has the features 'odd'"),
])
def test_a_job_without_a_node_says_why(tmp_path: Path, options: str, said: str) -> None:
    found = site(tmp_path, submit(f"-n 1 {options}"), CONF.format(line=""), None)
    assert [said in line for line in found.made.unfit] == [True]
