"""Jobs without `-t` under a MaxWall: that is their limit, and they run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.support.shared_judged import findings
from tests.support.twin_sites import site, submit

from wattline.scenario.twin.tables import effective_limits_s
from wattline.shared_nodes.outcome import KILLED, NEVER, REASONS
from wattline.shared_nodes.simulate import simulate_shared

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageEnforce={enforce}
KillWait=0
NodeName=n1 CPUs=4
PartitionName=p Nodes=ALL Default=YES {times}
"""
ACCOUNTS = """add cluster Name=small
add account name=phys MaxWall=00:03:00
add user name=ada DefaultAccount=phys
"""
LIMITS = "associations,limits"


@pytest.mark.parametrize(("times", "enforce", "limit_s"), [
    ("", LIMITS, 180.0), ("MaxTime=10", LIMITS, 180.0), ("MaxTime=2", LIMITS, 120.0),
    ("DefaultTime=1", LIMITS, 60.0), ("MaxTime=10", "associations", 600.0),
    ("DefaultTime=NONE MaxTime=10", LIMITS, 180.0)])
def test_it_ends_with_the_lesser_of_maxwall_and_maxtime(
    tmp_path: Path, times: str, enforce: str, limit_s: float
) -> None:
    made = site(tmp_path, submit("-n 1", run=-1), CONF.format(times=times, enforce=enforce),
                ACCOUNTS)
    found = simulate_shared(made.machine, made.made.requests, made.rules)
    assert found.state.tolist() == [KILLED]
    assert np.all(np.abs(found.end_s - found.start_s - limit_s) < 31.0)
    assert effective_limits_s(made).tolist() == [limit_s]
    assert findings(made.machine, made.made.requests, made.rules, found) == []


@pytest.mark.parametrize(("times", "asked"), [
    ("DefaultTime=5", ""), ("DefaultTime=UNLIMITED", ""), ("", "-t 5"), ("", "-t UNLIMITED")])
def test_one_above_maxwall_waits_for_ever(tmp_path: Path, times: str, asked: str) -> None:
    made = site(tmp_path, submit(f"-n 1 {asked}"), CONF.format(times=times, enforce=LIMITS),
                ACCOUNTS)
    found = simulate_shared(made.machine, made.made.requests, made.rules)
    assert found.state.tolist() == [NEVER]
    assert REASONS[found.reason[0]] == "over a limit per job"


def test_the_checker_sees_a_job_past_maxwall(tmp_path: Path) -> None:
    made = site(tmp_path, submit("-n 1", run=4000), CONF.format(times="", enforce="associations"),
                ACCOUNTS)
    found = simulate_shared(made.machine, made.made.requests, made.rules)
    strict = site(tmp_path, submit("-n 1", run=4000), CONF.format(times="", enforce=LIMITS),
                  ACCOUNTS)
    assert findings(strict.machine, strict.made.requests, strict.rules, found) == [
        "job 1 runs past MaxWall, suspensions apart"]
