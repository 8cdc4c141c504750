"""Time limits of a log: none at all, the partition's default, and jobs killed at one."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from tests.support.twin_sites import site, submit

import wattline as wl

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
CONF = """NodeName=n[1-2] CPUs=8 RealMemory=16000
PartitionName=batch Nodes=ALL Default=YES DefaultTime=10 MaxTime={longest} DefMemPerCPU=1000
"""
HEADER = "JobID|User|Submit|Start|End|ReqCPUS|NNodes|Timelimit|State\n"
RUN_S = 3600


def _row(limit: str, state: str = "COMPLETED") -> str:
    return f"5|ada|100|105|{105 + RUN_S}|8|1|{limit}|{state}\n"


def _check(folder: Path, text: str, longest: str, **kind: str) -> wl.TwinCheck:
    name = next(iter(kind.values()), "sacct")
    (folder / "slurm.conf").write_text(CONF.format(longest=longest))
    (folder / "log").write_text(text)
    logs: dict[str, Any] = {name: folder / "log"}
    return wl.check_twin(wl.make_twin(folder / "slurm.conf", **logs), phases=1)


def _ran_s(found: wl.TwinCheck) -> float:
    return float(found.run.schedule.end_s[0] - found.run.schedule.start_s[0])


@pytest.mark.parametrize("limit", ["UNLIMITED", "Partition_Limit"])
def test_a_job_without_limit_runs_to_its_end(tmp_path: Path, limit: str) -> None:
    found = _check(tmp_path, HEADER + _row(limit), "UNLIMITED")
    assert _ran_s(found) == pytest.approx(RUN_S, abs=2)
    assert found.killed_at_limit == 0
    assert not any("no time limit" in rule for rule in found.filled["rules"])


def test_a_job_without_limit_is_held_to_its_partitions_longest(tmp_path: Path) -> None:
    found = _check(tmp_path, HEADER + _row("UNLIMITED"), "30")
    assert 1800 <= _ran_s(found) <= 1800 + 62
    assert found.run.jobs.requested_s.tolist() == [1800.0]


@pytest.mark.parametrize("limit", ["UNLIMITED", "INFINITE", "0", "-1"])
def test_a_submission_may_ask_for_no_limit(tmp_path: Path, limit: str) -> None:
    found = _check(tmp_path, submit(f"-n 8 -t {limit}", run=RUN_S), "UNLIMITED", kind="events")
    assert _ran_s(found) == pytest.approx(RUN_S, abs=2)


def test_json_without_limit(tmp_path: Path) -> None:
    job = {"job_id": 5, "state": ["COMPLETED"], "user": "ada", "partition": "batch",
           "time": {"submission": 100, "start": 105, "end": 3705,
                    "limit": {"set": True, "infinite": True, "number": 0}}}
    found = site(tmp_path, json.dumps({"jobs": [job]}), CONF.format(longest="1-0"), None, "sacct")
    assert found.made.requests.limit_s.tolist() == [math.inf]


def test_a_job_that_the_twin_kills_and_the_log_does_not_is_said(tmp_path: Path) -> None:
    text = HEADER + _row("") + _row("00:20:00").replace("5|", "6|", 1) \
        + _row("00:30:00", "TIMEOUT").replace("5|", "7|", 1) \
        + _row("", "TIMEOUT").replace("5|", "8|", 1)
    found = _check(tmp_path, text, "1-0")
    assert found.killed_at_limit == found.to_dict()["killed_at_limit"] == 2
    assert "1 job was killed at its limit in the twin, and ran on in the log." in found.verdict
    assert any("the default limit of its partition" in line and "(5)" in line
               for line in found.unfit)
    assert not any(job in line and "killed" in line for line in found.unfit for job in "78")
