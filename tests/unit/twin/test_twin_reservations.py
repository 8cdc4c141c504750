"""Reservations of a site's nodes: from scontrol's text, from a scenario, and who may use them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.shared_judged import findings
from tests.support.twin_sites import CONF, site, submit

from wattline.model.errors import InputError
from wattline.shared_nodes.outcome import KILLED
from wattline.shared_nodes.simulate import simulate_shared

FOUR = """\
NodeName=n[1-4] CPUs=8 RealMemory=8000
PartitionName=p Nodes=ALL Default=YES DefMemPerCPU=100
"""
SHOWN = """\
ReservationName=root_3 StartTime=2025-03-04T09:00:00 EndTime=2025-03-04T11:00:00 Duration=02:00:00
   Nodes=n[1-4] NodeCnt=4 CoreCnt=32 Features=(null) PartitionName=(null) Flags=MAINT,SPEC_NODES
   TRES=cpu=32
   Users=root Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null)
   MaxStartDelay=(null)

ReservationName=course StartTime=2025-03-04T08:30:00 EndTime=2025-03-04T08:00:00 Duration=4294967295
   Nodes=g1,x9 NodeCnt=1 CoreCnt=2 Features=(null) PartitionName=gpu Flags=DAILY
     NodeName=g1 CoreIDs=0-1
   TRES=cpu=2
   Users=ada,-bob Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null)
   MaxStartDelay=(null)

ReservationName=licence StartTime=2025-03-04T08:30:00 EndTime=2025-03-04T09:00:00 Duration=00:30:00
   Nodes= NodeCnt=0 CoreCnt=0 Features=(null) PartitionName=(null) Flags=LICENSE_ONLY
   Users=ada Accounts=(null) Licenses=x:4 State=INACTIVE
"""
HEADER = ("JobID|User|Account|Partition|QOS|Submit|Start|End|Timelimit|ReqTRES|NNodes|NodeList|"
          "State|Reservation\n")


def job(number: str, reservation: str = "", user: str = "ada", partition: str = "gpu") -> str:
    return (f"{number}|{user}|phys|{partition}|normal|2025-03-04T08:00:00|2025-03-04T08:30:00|"
            "2025-03-04T08:40:00|00:30:00|cpu=1,mem=100M,node=1|1|g1|COMPLETED|"
            f"{reservation}\n")


def shown(tmp_path: Path, log: str, text: str = SHOWN, **fields: Any) -> Any:
    (tmp_path / "resv").write_text(text)
    return site(tmp_path, HEADER + log, kind="sacct", reservations=str(tmp_path / "resv"), **fields)


def test_what_scontrol_shows_is_read(tmp_path: Path) -> None:
    found = shown(tmp_path, job("1"))
    made = found.machine.reservations
    assert made.names == ("root_3", "course")
    assert made.start_s.tolist() == [3600.0, 1800.0]
    assert made.end_s.tolist() == [10800.0, np.inf]
    assert made.nodes.tolist() == [[False] + [True] * 4, [True] + [False] * 4]
    assert made.maintenance.tolist() == [True, False]
    said = "\n".join((*found.lists.not_modelled, *found.lists.contradictions))
    for part in ("'course' of some cores: the whole nodes", "'course' has the flag DAILY",
                 "'course' has nodes that slurm.conf does not: x9", "'licence' has no nodes"):
        assert part in said
    assert any("2 reservations of nodes" in line for line in found.lists.understood)


@pytest.mark.parametrize(("word", "said"), [
    ("Groups=wheel", "who is in a group is not known"), ("Licenses=matlab:2", "no licences"),
    ("BurstBuffer=cray:10G", "no burst buffer"), ("Watts=3K", "no watts"),
    ("MaxStartDelay=00:05:00", "it has no effect")])
def test_what_a_reservation_has_beside_its_nodes_is_said(
    tmp_path: Path, word: str, said: str
) -> None:
    key = word.partition("=")[0]
    text = SHOWN.replace("Flags=MAINT", "Watts=n/a Flags=MAINT")
    text = re.sub(f"{key}=\\S+", word, text, count=1)
    found = shown(tmp_path, job("1"), text)
    lines = [line for line in found.lists.not_modelled if f"'root_3' has {word}: " in line]
    assert [said in line for line in lines] == [True]
    assert not any(key in line for line in shown(tmp_path, job("1")).lists.not_modelled)


def test_jobs_of_a_log_run_in_the_reservation_that_they_name(tmp_path: Path) -> None:
    """Job 1 waits until half past eight; job 2 of a reservation that is gone runs as any other."""
    found = shown(tmp_path, job("1", "course") + job("2", "gone", partition="batch"))
    assert found.made.requests.reservation.tolist() == [1, -1]
    assert any("'gone' is not among those given" in line for line in found.made.filled)
    done = simulate_shared(found.machine, found.made.requests, found.rules)
    assert done.start_s[0] == pytest.approx(1800.0, abs=60.0)
    assert done.start_s[1] < 60.0


def test_a_section_reserves_nodes_and_says_who_may_use_them(tmp_path: Path) -> None:
    kept = {"name": "mine", "nodes": "n[1-4]", "start": 600, "end": 1200.0, "users": ["ada"]}
    text = (submit("-n 1 --reservation=mine") + submit("-n 1 -t 20", 1)
            + submit("-n 1 --reservation=mine", 1300))
    found = site(tmp_path, text, reservation=(kept,))
    asked = found.made.requests
    assert asked.reservation.tolist() == [0, -1, 0]
    assert any("comes after the end of the reservation 'mine'" in line
               for line in found.made.unfit)
    done = simulate_shared(found.machine, asked, found.rules)
    assert done.start_s[0] == pytest.approx(600.0, abs=60.0)
    assert done.start_s[1] == pytest.approx(1200.0, abs=60.0)
    assert np.isnan(done.start_s[2])


@pytest.mark.parametrize(("kept", "may"), [
    ({"users": ["eve"]}, False), ({"users": ["eve"], "accounts": ["phys"]}, True),
    ({"users": ["-ada"], "accounts": ["phys"]}, False), ({"users": ["-eve"]}, True), ({}, True)])
def test_users_and_accounts(tmp_path: Path, kept: dict[str, Any], may: bool) -> None:
    whole = {"name": "mine", "nodes": "ALL", "start": 0, **kept}
    found = site(tmp_path, submit("-n 1 --reservation=mine"), reservation=(whole,))
    assert (not found.made.unfit) == may


def test_jobs_run_longer_than_the_reservation_where_the_cluster_lets_them(tmp_path: Path) -> None:
    kept = {"name": "mine", "nodes": "ALL", "start": 0, "end": 600}
    conf = CONF + "ResvOverRun=5\n"
    made = site(tmp_path, submit("-n 1"), conf, reservation=(kept,)).machine.reservations
    assert made is not None
    assert made.kill_s.tolist() == [900.0]


@pytest.mark.parametrize(("kept", "why"), [
    ({"start": "2025-03-04T08:00:00"}, "is a date, and the run has no dates"),
    ({"start": 5, "end": 4}, "ends before it starts"),
])
def test_times_that_cannot_be(tmp_path: Path, kept: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        site(tmp_path, submit("-n 1"), reservation=({"name": "r", "nodes": "n1", **kept},))


def test_two_of_one_name_and_what_is_no_list_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'course' is there twice"):
        shown(tmp_path, job("1"), reservation=({"name": "course", "nodes": "n1", "start": 1},))
    with pytest.raises(InputError, match="has no reservation; write it with scontrol"):
        shown(tmp_path, job("1"), "hello\n")
    assert shown(tmp_path, job("1"), "No reservations in the system\n").machine.reservations is None


@pytest.mark.parametrize("suspend", ["", "SuspendProgram=/bin/true\nResumeProgram=/bin/true\n"
                                     "SuspendTime=30\nResumeTimeout=60\n"])
def test_a_kill_that_comes_late_breaks_no_reservation(tmp_path: Path, suspend: str) -> None:
    """Planned by their limits the jobs end before it; one that has no such limit is a breach."""
    late = 0
    for start in range(70, 130, 6):
        kept = [{"name": "r", "nodes": "ALL", "start": start, "end": 1000, "users": ["other"]}]
        text = "".join(submit("-n 8 -t 1", at, -1) for at in range(0, 60, 5))
        found = site(tmp_path, text, suspend + FOUR, None, reservation=kept)
        asked = found.made.requests
        done = simulate_shared(found.machine, asked, found.rules)
        assert findings(found.machine, asked, found.rules, done) == []
        ran_on = (done.state == KILLED) & (done.start_s < start) & (done.end_s > start)
        late += int(ran_on.sum())
        if ran_on.any():
            longer = replace(asked, limit_s=np.full_like(asked.limit_s, 3600.0))
            said = findings(found.machine, longer, found.rules, done)
            assert any("on a node of the reservation r" in line for line in said)
    assert late > 0
