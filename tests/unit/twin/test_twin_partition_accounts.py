"""Associations of a user for one partition go before those for all, in whatever order they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import site, submit

from wattline.shared_nodes.simulate import simulate_shared

CONF = """\
AccountingStorageEnforce=limits
NodeName=n[1-4] CPUs=8 RealMemory=8000
PartitionName=p Nodes=ALL Default=YES DefMemPerCPU=100
PartitionName=q Nodes=ALL DefMemPerCPU=100
"""
HEAD = """\
Cluster - 'cluster':Fairshare=1:QOS='normal'
Parent - 'root'
Account - 'phys':Fairshare=1
Parent - 'phys'
"""
WIDE = "User - 'ada':DefaultAccount='phys':Fairshare=1\n"
NARROW = "User - 'ada':Partition='q':DefaultAccount='phys':Fairshare=1:MaxJobs=1\n"
JOBS = submit("-n 1") + submit("-n 1 -p p") + submit("-n 1 -p q") + submit("-n 1 -p q")


@pytest.mark.parametrize("rows", [WIDE + NARROW, NARROW + WIDE])
def test_its_limits_hold_in_its_partition_alone(tmp_path: Path, rows: str) -> None:
    found = site(tmp_path, JOBS, CONF, HEAD + rows)
    done = simulate_shared(found.machine, found.made.requests, found.rules)
    assert (done.start_s[:3] < 10).all()
    assert done.start_s[3] >= done.end_s[2]
    assert not any("association of ada" in line for line in found.lists.not_modelled)


def test_who_has_none_for_a_partition_cannot_run_there(tmp_path: Path) -> None:
    found = site(tmp_path, JOBS, CONF, HEAD + NARROW)
    assert found.made.unfit == (
        "2 jobs: user 'ada' is not in account 'phys' for partition 'p' (1, 2)",)


def test_who_ran_there_gets_a_share(tmp_path: Path) -> None:
    log = ("JobID|User|Account|Partition|Submit|Start|End|ReqCPUS|NNodes|Timelimit|State\n"
           "1|ada|phys|p|1000|1001|1100|1|1|00:10:00|COMPLETED\n"
           "2|ada|phys|q|1000|1001|1100|1|1|00:10:00|COMPLETED\n")
    found = site(tmp_path, log, CONF, HEAD + NARROW, kind="sacct")
    assert found.made.unfit == ()
    assert any("ada in phys; jobs 1)" in line for line in found.lists.assumed)
    charged = found.made.requests.association.tolist()
    assert [found.machine.associations.partition[row] for row in charged] == ["", "q"]


def test_of_several_partitions_the_first_says_which_and_that_is_said(tmp_path: Path) -> None:
    found = site(tmp_path, submit("-n 1 -p q,p") + submit("-n 1 -p p,q"), CONF,
                 HEAD + WIDE + NARROW)
    charged = found.made.requests.association.tolist()
    assert [found.machine.associations.partition[row] for row in charged] == ["q", ""]
    assert any(line.startswith("2 jobs: names several partitions") for line in found.made.filled)
