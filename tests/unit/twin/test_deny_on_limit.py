"""QOS that refuse a job at submission which is over a limit by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import site, submit

from wattline.shared_nodes.outcome import NEVER, RAN, REASONS, REFUSED
from wattline.shared_nodes.simulate import simulate_shared

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageEnforce=associations,limits,qos
NodeName=n[1-2] CPUs=4
PartitionName=p Nodes=ALL Default=YES
"""
ACCOUNTS = """\
add qos Name=q1 MaxTRES=cpu=4 {flags}
add cluster Name=small QOS=normal,q1
add account name=phys
add user name=ada DefaultAccount=phys
"""


@pytest.mark.parametrize(("flags", "tasks", "qos", "state"), [
    ("Flags=DenyOnLimit", 5, "q1", REFUSED), ("", 5, "q1", NEVER),
    ("Flags=DenyOnLimit", 4, "q1", RAN), ("Flags=DenyOnLimit", 5, "normal", RAN),
    ("Flags=NoReserve,DenyOnLimit", 5, "q1", REFUSED)])
def test_a_job_over_a_limit_by_itself(
    tmp_path: Path, flags: str, tasks: int, qos: str, state: int
) -> None:
    made = site(tmp_path, submit(f"-n {tasks} -t 10 -q {qos}"), CONF,
                ACCOUNTS.format(flags=flags))
    found = simulate_shared(made.machine, made.made.requests, made.rules)
    assert found.state[0] == state
    assert REASONS[found.reason[0]] == ("" if state == RAN else "over a limit per job")


def test_two_jobs_over_a_limit_together_are_not_refused(tmp_path: Path) -> None:
    """The second of a user with four CPUs waits for the first."""
    made = site(tmp_path, 2 * submit("-n 4 -t 10 -q q1"), CONF,
                ACCOUNTS.format(flags="MaxTRESPerUser=cpu=4 Flags=DenyOnLimit"))
    found = simulate_shared(made.machine, made.made.requests, made.rules)
    assert found.start_s[1] >= found.end_s[0]
