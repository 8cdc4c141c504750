"""Times at which a job is seen to be free to begin: a time alone is told to nobody."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.twin_sites import site, submit

from wattline.shared_nodes.simulate import simulate_shared

CONF = """ClusterName=small
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=bf_interval=30,sched_interval=60
NodeName=n1 CPUs=4 RealMemory=4000
PartitionName=p Nodes=ALL Default=YES
"""
COLUMNS = ("JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|Timelimit|ReqCPUS|AllocCPUS|"
           "ReqMem|NNodes|NodeList|State|SubmitLine")


@pytest.mark.parametrize(("line", "start_s"), [
    ("sbatch --begin=now+70 x.sh", 120.0), ("sbatch -b now+70 x.sh", 120.0),
    ("sbatch -H x.sh", 70.0), ("sbatch x.sh", 70.0), ("", 70.0),
    ("sbatch -d afterok:99 x.sh", 70.0),
])
def test_a_job_of_a_log_that_became_eligible_at_70_s(
    tmp_path: Path, line: str, start_s: float
) -> None:
    """Whoever releases it, or ends, asks for a pass; with --begin the next full one sees it."""
    row = ("1|ada|phys|p|normal|2025-03-04T08:00:00|2025-03-04T08:01:10|2025-03-04T08:01:12|"
           f"2025-03-04T08:03:00|00:10:00|1|1|0|1|n1|COMPLETED|{line}")
    found = site(tmp_path, f"{COLUMNS}\n{row}\n", CONF, None, "sacct")
    run = simulate_shared(found.machine, found.made.requests, found.rules)
    assert run.start_s[0] == pytest.approx(start_s, abs=1.1)


@pytest.mark.parametrize(("others", "start_s"), [
    ("", 120.0), (submit("-n 1 -t 5", at=80), 80.0),
    # One that waits keeps backfill looking.
    (submit("-n 4 -t 10 -w n1", run=500) + submit("-N 2 -n 8 -t 10", at=1), 90.0),
])
def test_a_begin_time_is_seen_by_whoever_looks_next(
    tmp_path: Path, others: str, start_s: float
) -> None:
    conf = CONF.replace("n1", "n[1-2]") if "-w" in others else CONF
    log = submit("-J last_9 -n 1 -t 5 --begin=now+70", at=0) + others
    found = site(tmp_path, log, conf, None)
    run = simulate_shared(found.machine, found.made.requests, found.rules)
    row = int(found.made.requests.begin_s.argmax())
    assert run.start_s[row] == pytest.approx(start_s, abs=1.5)


@pytest.mark.parametrize(("line", "delay_s", "said"), [
    ("", 121.0, True), ("AuthInfo=socket=/run/m.socket,cred_expire=600\n", 601.0, False),
    ("AuthInfo=socket=/run/m.socket\n", 121.0, True),
])
def test_a_requeued_job_waits_for_its_credential(
    tmp_path: Path, line: str, delay_s: float, said: bool
) -> None:
    conf = CONF + "PreemptType=preempt/qos\nPreemptMode=REQUEUE\n" + line
    found = site(tmp_path, submit("-n 1"), conf, None)
    assert found.rules.requeue_delay_s == delay_s
    assert any("cred_expire" in text for text in found.lists.assumed) == said
    assert any("backfill has jobs give way too" in text for text in found.lists.not_modelled)
