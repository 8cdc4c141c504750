"""GPUs that Slurm gave to jobs that ask for GPUs in all or by task, submission by submission.

Recorded on Slurm 22.05.8 with select/cons_tres and CR_Core_Memory: four nodes of 8 CPUs and
8,000 MB with 2, 2, 4 and 3 GPUs, three of them of one type. Each row was submitted to the empty
machine, or behind a job that runs (before the semicolon). An answer has CPUs, MB and GPUs of each
node (`scontrol show job -d`); `no` was refused at once. The rows from `-n 6 --gpus=1` on were tried
where the GPUs have no types.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.shared_judged import findings
from tests.support.twin_sites import submit
from wattline.scenario.twin.section import TwinSection
from wattline.scenario.twin.site import read_site
from wattline.shared_nodes.simulate import simulate_shared

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
NodeName=n[1-2] CPUs=8 RealMemory=8000 Gres=gpu:a:2
NodeName=n3 CPUs=8 RealMemory=8000 Gres=gpu:b:4
NodeName=n4 CPUs=8 RealMemory=8000 Gres=gpu:a:3
PartitionName=p Nodes=ALL Default=YES DefMemPerCPU=100
"""
GIVEN = """\
-N 2 -n 2 --gpus=6 -> n3 1/100/4 n4 1/100/2
-N 2 -n 8 --gpus=6 -> n3 7/700/4 n4 1/100/2
-N 3 --gpus=8 -> n1 1/100/2 n3 1/100/4 n4 1/100/2
-N 2 --gpus=5 -> n3 1/100/4 n4 1/100/1
-N 2 --gpus=3 -> n3 1/100/2 n4 1/100/1
--gpus=5 -> n3 1/100/4 n4 1/100/1
--gpus=6 -> n3 1/100/4 n4 1/100/2
--gpus=7 -> n3 1/100/4 n4 1/100/3
-n 2 --gpus=5 -> n3 1/100/4 n4 1/100/1
-n 4 --gpus=5 -> n3 3/300/4 n4 1/100/1
-n 4 --gpus=6 -> n3 3/300/4 n4 1/100/2
-n 8 --gpus=11 -> n1 1/100/2 n2 1/100/2 n3 5/500/4 n4 1/100/3
-N 4 --gpus=11 -> n1 1/100/2 n2 1/100/2 n3 1/100/4 n4 1/100/3
-N 3 -n 3 --gpus=5 -> n1 1/100/2 n3 1/100/2 n4 1/100/1
-N 2 -n 4 --gpus=4 -> n3 3/300/3 n4 1/100/1
-N 2 -n 2 --gpus=4 -> n3 1/100/3 n4 1/100/1
-N 2 -n 2 --gpus=5 --cpus-per-gpu=2 -> n3 8/800/4 n4 2/200/1
-N 2 -n 2 --gpus=6 --mem-per-gpu=1000 -> n3 1/4000/4 n4 1/2000/2
-n 5 --gpus-per-task=1 -> n3 4/400/4 n4 1/100/1
-n 7 --gpus-per-task=1 -> n3 4/400/4 n4 3/300/3
-n 4 --gpus-per-task=2 -> n1 1/100/2 n3 2/200/4 n4 1/100/2
-n 2 --gpus-per-task=1 -> n1 2/200/2
-n 2 -c 3 --gpus-per-task=1 -> n1 6/600/2
-N 1 --exclusive --gres=gpu:1 -> n3 8/800/4
-N 2 --gpus=4 --exclusive -> n3 8/800/4 n4 8/800/3
-n 1 --gres=gpu:1 -> n1 1/100/1
-n 1 --gpus=1 -> n1 1/100/1
-n 1 --gpus=3 -> n3 1/100/3
-n 1 --gpus=5 -> no
-n 2 --gpus=8 -> no
-N 2 --gpus=a:3 -> n1 1/100/2 n4 1/100/1
-N 2 -n 2 --gpus=a:4 -> n1 1/100/2 n4 1/100/2
--gpus=a:5 -> n1 1/100/2 n4 1/100/3
-n 4 --gpus=a:3,b:2 -> no
-n 6 --gpus=2 -> n1 6/600/2
-n 12 --gpus=2 -> n1 8/800/1 n2 4/400/1
-n 12 --gpus=4 -> n3 8/800/3 n4 4/400/1
-n 12 --gpus=2 --cpus-per-gpu=1 -> no
-n 2 --gpus=2 -c 5 -> n1 5/500/1 n2 5/500/1
-n 3 -c 2 --gpus=5 -> n3 4/400/4 n4 2/200/1
-n 6 --ntasks-per-node=3 --gpus=5 -> n3 3/300/4 n4 3/300/1
-N 1-3 --gpus=3 -> n3 1/100/3
-N 2-3 --gpus=4 -> n3 1/100/3 n4 1/100/1
-N 1-2 -n 2 --gpus=2 -> n1 2/200/2
-w n1 -N 2 --gpus=5 -> n1 1/100/2 n3 1/100/3
--gpus=6 --cpus-per-gpu=3 -> n1 6/600/2 n2 6/600/2 n3 6/600/2
-N 2 -n 2 --gpus=3 --mem-per-gpu=4000 -> n1 1/8000/2 n2 1/4000/1
-n 1 --gpus=2 --cpus-per-gpu=3 --mem-per-gpu=500 -> n1 6/1000/2
-n 1 --gres=gpu:3 ; -N 2 --gpus=5 -> n1 1/100/2 n4 1/100/3
-n 6 -w n3 ; --gpus=5 -> n3 1/100/4 n4 1/100/1
-n 6 -w n3 ; -n 4 --gpus=5 -> n3 2/200/4 n4 2/200/1
-n 7 -w n3 ; -n 4 --gpus=5 --cpus-per-gpu=2 -> n1 4/400/2 n4 6/600/3
-n 6 --gpus=1 --cpus-per-gpu=1 -> no
--gpus=4 --ntasks-per-gpu=2 -> n3 8/800/4
-n 6 --ntasks-per-gpu=2 -> n3 6/600/3
-N 2 --gpus-per-node=2 --ntasks-per-gpu=1 -> n1 2/200/2 n2 2/200/2
--gres=gpu:2 --ntasks-per-gpu=3 -> n1 6/600/2
-n 5 --ntasks-per-gpu=2 -> no
-n 4 --gpus=4 --ntasks-per-gpu=2 -> n3 8/800/4
--ntasks-per-gpu=2 -> no
-N 2 -n 6 --ntasks-per-gpu=2 -> n3 3/300/2 n4 3/300/1
-n 4 --gpus=2 --ntasks-per-gpu=2 -c 2 -> n1 8/800/2
--gpus-per-node=2 --ntasks-per-gpu=2 -> n1 4/400/2
-n 4 --gpus-per-task=1 --ntasks-per-gpu=2 -> no
-N 2 --gpus=3 --ntasks-per-gpu=2 -> n3 3/300/2 n4 3/300/1
"""


@pytest.mark.parametrize("row", GIVEN.splitlines())
def test_the_twin_gives_the_same(tmp_path: Path, row: str) -> None:
    asked, _, given = row.partition(" -> ")
    log = "".join(submit(f"-t 10 {options}", 10 * at, 600)
                  for at, options in enumerate(asked.split(";")))
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "day.events").write_text(log)
    site = read_site(TwinSection(slurm_conf=str(tmp_path / "slurm.conf"), log="events"),
                     tmp_path / "day.events")
    found = simulate_shared(site.machine, site.made.requests, site.rules)
    assert findings(site.machine, site.made.requests, site.rules, found) == []
    last = asked.count(";")
    mine = np.flatnonzero(found.allocation_job == last)
    order = mine[np.argsort(found.allocation_node[mine])]
    told = " ".join(
        f"{site.machine.nodes.names[found.allocation_node[at]]} {found.allocation_cpus[at]}/"
        f"{found.allocation_memory_mb[at]}/{found.allocation_gres[at].sum()}" for at in order)
    assert (told or "no") == given
    if last:  # both at a time
        assert found.start_s[1] < found.end_s[0]
