"""Jobs of a twin that run in parts, requeued or suspended: CPUs in use follow from the power."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.support.twin_sites import submit

import wattline as wl

pytestmark = pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PreemptType=preempt/partition_prio
PreemptMode=MODE
NodeName=n1 CPUs=4 RealMemory=8000
NodeName=n2 CPUs=16 RealMemory=8000
PartitionName=low Nodes=n[1-2] Default=YES PriorityTier=1 PreemptMode=HOW
PartitionName=high Nodes=n[1-2] PriorityTier=2 PreemptMode=OFF
"""
IDLE_W, CPU_W, CPUS = 200.0, 10.0, 20


@pytest.fixture(params=["SUSPEND,GANG", "REQUEUE"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> wl.Run:
    """A whole node, first the small and then the large one, as others come and go."""
    conf, log = tmp_path / "slurm.conf", tmp_path / "day.events"
    mode = request.param
    conf.write_text(CONF.replace("MODE", mode, 1).replace("HOW", mode.split(",")[0]))
    log.write_text(submit("-N 1 -n 4 --exclusive -t 60 -p low --uid=a", 0, 600)
                   + submit("-n 16 -N 1 -t 4 -p high --uid=b", 1, 100)
                   + submit("-w n1 -n 4 -t 30 -p high --uid=b", 150, 900))
    wl.make_twin(conf, events=log, idle_w=IDLE_W / 2, cpu_w=CPU_W, gpu_w=0,
                 out=tmp_path / "twin.toml")
    return wl.simulate(tmp_path / "twin.toml")


def test_what_is_in_use_draws_the_power_and_is_never_more_than_there_is(run: wl.Run) -> None:
    assert run.notes["requeues"] + run.notes["suspended_jobs"] > 0
    assert wl.verify(run).sentences == []
    lasts_s = np.diff(run.events.time_s, append=run.end_s)
    drawn = (run.events.power_w - IDLE_W) / CPU_W
    assert run.events.busy[lasts_s > 0] == pytest.approx(drawn[lasts_s > 0])
    assert run.events.busy.max() <= CPUS
    assert run.events.queued.min() >= 0
    assert run.events.queued[-1] == 0
    drawn_j = run.energy_j - IDLE_W * (run.end_s - run.start_s)
    used = drawn_j / CPU_W / (CPUS * (run.end_s - run.start_s))
    assert run.metrics()["utilisation"] == pytest.approx(used)
