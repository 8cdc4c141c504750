"""Accounts, users and QOS are one name in capitals and small letters, as in Slurm's database."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import site

from wattline.scenario.twin.spelling import Spelling

CONF = """\
AccountingStorageEnforce=limits,qos
NodeName=n[1-4] CPUs=8 RealMemory=8000
PartitionName=p Nodes=n[1-3] Default=YES DefMemPerCPU=100 AllowAccounts=PHYS AllowQos=hiGH,normal
PartitionName=q Nodes=n4 DefMemPerCPU=100 DenyAccounts=phys QOS=HIGH
"""
ACCOUNTS = """\
add qos Name=High Priority=100
add qos Name=low Preempt=
add cluster Name=cluster QOS=normal,HIGH DefaultQOS=hIGH
add account name=Phys
add user name=ada DefaultAccount=Phys
"""


def line(options: str) -> str:
    return f"-dt 0 -e submit_batch_job | -sim-walltime 10 -t 5 -n 1 {options} x\n"


@pytest.mark.parametrize("account", ["Phys", "phys", "PHYS"])
@pytest.mark.parametrize("user", ["ada", "Ada"])
@pytest.mark.parametrize("qos", ["High", "high", ""])
def test_jobs_are_charged_however_they_spell_it(
    tmp_path: Path, account: str, user: str, qos: str,
) -> None:
    asked = f"--uid={user} -A {account}" + (f" -q {qos}" if qos else "")
    found = site(tmp_path, line(asked), CONF, ACCOUNTS)
    assert found.made.unfit == ()
    row = int(found.made.requests.association[0])
    tree = found.machine.associations
    assert (tree.accounts[tree.account[row]], tree.users[tree.user[row]]) == ("Phys", "ada")
    high = found.machine.qos.names.index("High")
    assert found.made.requests.qos.tolist() == [high]
    assert tree.allowed_qos[row, high]
    assert not tree.allowed_qos[row, found.machine.qos.names.index("low")]


def test_partitions_know_them_too(tmp_path: Path) -> None:
    found = site(tmp_path, line("--uid=ada -A phys"), CONF, ACCOUNTS)
    parts, names = found.machine.partitions, found.machine.qos.names
    at = found.machine.associations.accounts.index("Phys")
    assert parts.allowed_accounts[:, at].tolist() == [True, False]
    assert parts.allowed_qos[0, names.index("High")]
    assert int(parts.qos[1]) == names.index("High")
    assert not any("nowhere defined" in each for each in found.lists.contradictions)


def test_names_that_differ_in_capitals_alone_stay_two() -> None:
    both = Spelling(["Phys", "phys", "Chem"])
    assert [both.of(name) for name in ("Phys", "phys", "PHYS", "chem", "Bio")] == [
        "Phys", "phys", "phys", "Chem", "Bio"]
