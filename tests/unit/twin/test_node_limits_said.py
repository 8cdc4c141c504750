"""Limits on nodes are kept job by job, which is said where a site has one."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import CONF, site, submit

from wattline.scenario.twin.accounts import EACH_JOBS_NODES


@pytest.mark.parametrize(("limit", "said"), [
    ("MaxTRESPerUser=node=1", 1), ("GrpTRES=node=2", 1), ("MaxTRESPerAccount=node=1", 1),
    ("MaxTRESPerUser=node=1 GrpTRES=node=2", 2), ("MaxTRESPerJob=node=1", 0),
    ("MaxTRESPerUser=cpu=8", 0), ("", 0)])
def test_limits_on_nodes_of_several_jobs(tmp_path: Path, limit: str, said: int) -> None:
    accounts = (f"add qos Name=high {limit}\nadd cluster Name=small QOS=normal,high\n"
                "add account name=phys\nadd user name=ada DefaultAccount=phys\n")
    found = site(tmp_path, submit("-n 1 -t 10"), CONF, accounts)
    assert sum(EACH_JOBS_NODES in line for line in found.lists.not_modelled) == said
