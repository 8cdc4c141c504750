"""GPUs of a whole job that its nodes have in unequal parts, and what keeps them away."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.support.shared_judged import findings
from tests.support.twin_sites import submit

from wattline.scenario.twin.section import TwinSection
from wattline.scenario.twin.site import Site, read_site
from wattline.shared_nodes.outcome import Schedule
from wattline.shared_nodes.simulate import simulate_shared

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu
NodeName=n[1-2] CPUs=4 RealMemory=4000 Gres=gpu:a:2
NodeName=n3 CPUs=4 RealMemory=4000 Gres=gpu:{model}:4
PartitionName=p Nodes=ALL Default=YES
"""


def _site(folder: Path, log: str, model: str = "b") -> Site:
    (folder / "slurm.conf").write_text(CONF.format(model=model))
    (folder / "day.events").write_text(log)
    return read_site(TwinSection(slurm_conf=str(folder / "slurm.conf"), idle_w=0.0, cpu_w=0.0,
                                 gpu_w=10.0, log="events"), folder / "day.events")


def _run(site: Site) -> Schedule:
    assert site.made.unfit == ()
    assert site.made.not_modelled == ()
    found = simulate_shared(site.machine, site.made.requests, site.rules)
    assert findings(site.machine, site.made.requests, site.rules, found) == []
    return found


@pytest.mark.parametrize("model", ["a", "b"])
@pytest.mark.parametrize(("options", "gpus"), [
    ("-n 2 -N 2 --gpus=6", {0: 2, 2: 4}), ("-n 8 -N 2 --gpus=6", {0: 2, 2: 4}),
    ("-N 3 --gpus=8", {0: 2, 1: 2, 2: 4})])
def test_each_node_gives_what_it_has(
    tmp_path: Path, options: str, gpus: dict[int, int], model: str
) -> None:
    found = _run(_site(tmp_path, submit(f"-t 10 {options}"), model))
    given = found.allocation_gres.sum(axis=1).tolist()
    assert dict(zip(found.allocation_node.tolist(), given, strict=True)) == gpus
    assert found.event_power_w.max() == pytest.approx(10.0 * sum(gpus.values()))
    ran_s = float(found.end_s[0] - found.start_s[0])
    assert found.energy_j[0] == pytest.approx(ran_s * 10.0 * sum(gpus.values()))


def test_one_waits_until_there_are_as_many_as_it_asks_for(tmp_path: Path) -> None:
    """Six of eight are in use: two on the first nodes, one at a time, would not be three."""
    log = (submit("-n 1 -t 10 --gres=gpu:4", run=300) + submit("-n 1 -t 10 --gres=gpu:2", run=100)
           + submit("-t 10 --gpus=3", 1) + submit("-t 10 --gpus=2", 1, 30))
    found = _run(_site(tmp_path, log))
    assert found.start_s[3] < 40.0
    assert 100.0 <= found.start_s[2] < 200.0
    assert found.allocation_gres[found.allocation_job == 2].sum(axis=1).tolist() == [2, 1]


def test_what_a_job_lacks_is_told_from_its_nodes(tmp_path: Path) -> None:
    site = _site(tmp_path, submit("-N 2 -t 10 --gpus=6"))
    found = _run(site)
    on, asked, rules = site.machine, site.made.requests, site.rules
    for change in (-1, 1):
        found.allocation_gres[0, np.argmax(found.allocation_gres[0])] += change
        said = findings(on, asked, rules, found)
        assert any("where it asks for 6 in all" in line for line in said)
        found.allocation_gres[0, np.argmax(found.allocation_gres[0])] -= change
    assert findings(on, asked, rules, found) == []


@pytest.mark.parametrize(("options", "why"), [
    ("-N 2 --gpus=7", "more devices for the whole job than its nodes have (7 gpu)"),
    ("-N 3 --gpus=9", "more devices for the whole job than its nodes have (9 gpu)"),
    ("-N 1 --gpus=a:3", "more devices for the whole job than its nodes have (3 gpu:a)"),
    ("-N 1 -n 1 --gpus=2 --mem-per-gpu=2001",
     "more memory for each GPU than the nodes with its devices have (2 gpu, 2,001 each)"),
    ("-N 1 -n 1 --gpus=2 --cpus-per-gpu=3",
     "more CPUs for each GPU than the nodes with its devices have (2 gpu, 3 each)"),
])
def test_the_reason_is_what_is_missing(tmp_path: Path, options: str, why: str) -> None:
    made = _site(tmp_path, submit(f"-t 10 {options}")).made
    assert len(made.unfit) == 1
    assert why in made.unfit[0]
    assert made.not_modelled == ()
