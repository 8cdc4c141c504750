"""GPUs that a job asks for in all, by type and without, and what it asks for by GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.support.shared_judged import findings
from tests.support.twin_sites import submit

import wattline as wl
from wattline.scenario.twin.per_gpu import NO_GPU, ROUNDED
from wattline.scenario.twin.section import TwinSection
from wattline.scenario.twin.site import Site, read_site
from wattline.shared_nodes.outcome import Schedule
from wattline.shared_nodes.simulate import simulate_shared

CONF = """SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
NodeName=n[1-2] CPUs=8 RealMemory=8000 Gres=gpu:a:2
PartitionName=p Nodes=ALL Default=YES DefMemPerCPU=100
"""
TYPES = CONF.replace("gpu:a:2", "gpu:a:2,gpu:b:1")


def _site(folder: Path, log: str, conf: str = CONF) -> Site:
    (folder / "slurm.conf").write_text(conf)
    (folder / "day.events").write_text(log)
    return read_site(TwinSection(slurm_conf=str(folder / "slurm.conf"), idle_w=0.0, cpu_w=0.0,
                                 gpu_w=10.0, log="events"), folder / "day.events")


def _run(site: Site) -> Schedule:
    found = simulate_shared(site.machine, site.made.requests, site.rules)
    assert findings(site.machine, site.made.requests, site.rules, found) == []
    return found


def _gpus(found: Schedule, job: int) -> list[list[int]]:
    """Of each node of a job, by type."""
    return found.allocation_gres[found.allocation_job == job].tolist()


def test_gpus_that_nodes_cannot_share_equally_are_exactly_as_many(tmp_path: Path) -> None:
    """Three on two nodes leave one, which another job has beside them; 40 W are drawn in all."""
    site = _site(tmp_path, submit("-N 2 -n 2 -t 10 --gpus=3") + submit("-n 1 -t 10 --gres=gpu:1"))
    found = _run(site)
    assert _gpus(found, 0) == [[2], [1]]
    assert _gpus(found, 1) == [[1]]
    assert found.start_s[1] < found.end_s[0]
    assert found.event_power_w.max() == pytest.approx(40.0)
    assert site.made.filled == ()


def test_a_limit_counts_the_gpus_that_were_asked_for(tmp_path: Path) -> None:
    """Of three GPUs the user has three; rounded up they would have been over the limit."""
    (tmp_path / "assoc").write_text("add cluster Name=c\nadd account name=phys\n"
                                    "add user name=ada DefaultAccount=phys "
                                    "MaxTRESPerJob=gres/gpu=3\n")
    conf = CONF + "AccountingStorageEnforce=limits\nAccountingStorageTRES=gres/gpu\n"
    (tmp_path / "slurm.conf").write_text(conf)
    (tmp_path / "log").write_text(submit("-N 2 -n 2 -t 10 --gpus=3")
                                  + submit("-N 2 -n 2 -t 10 --gpus=4"))
    site = read_site(TwinSection(slurm_conf=str(tmp_path / "slurm.conf"), log="events",
                                 assoc=str(tmp_path / "assoc")), tmp_path / "log")
    found = _run(site)
    assert np.isfinite(found.start_s).tolist() == [True, False]


def test_each_node_has_a_gpu(tmp_path: Path) -> None:
    """A job of more nodes than GPUs is refused, and one that may have fewer nodes has fewer."""
    site = _site(tmp_path, submit("-N 2 -n 2 -t 10 --gpus=1")
                 + submit("-N 1-2 -n 2 -t 10 --gpus=1") + submit("-n 2 -t 10 --gpus=0"))
    assert [line.partition(":")[2].strip()[:30] for line in site.made.unfit] == [
        "fewer devices (1 gpu) than nod"]
    found = _run(site)
    assert np.isnan(found.start_s[0])
    assert _gpus(found, 1) == [[1]]
    assert _gpus(found, 2) == [[0]]


def test_gpus_of_a_type_and_of_any_are_different_ones(tmp_path: Path) -> None:
    """A node of two a and one b gives a job 2 a and any other, and none is left on it."""
    asked = "-N 1 -n 1 -t 10 --gres=gpu:1,gpu:a:2"
    site = _site(tmp_path, submit(asked) + submit(asked) + submit(asked), TYPES)
    found = _run(site)
    assert [_gpus(found, job) for job in range(3)] == [[[2, 1]]] * 3
    assert found.start_s[2] > min(found.end_s[:2])


def test_more_of_any_than_are_left_beside_a_type_never_fits(tmp_path: Path) -> None:
    site = _site(tmp_path, submit("-N 1 -n 1 -t 10 --gres=gpu:2,gpu:a:2"), TYPES)
    assert np.isnan(_run(site).start_s[0])


@pytest.mark.parametrize(("options", "cpus", "memory_mb"), [
    ("--gpus=2 --cpus-per-gpu=3 --mem-per-gpu=1000", [6], [2000]),
    ("-N 2 --gpus-per-node=2 --cpus-per-gpu=4 --mem-per-gpu=500", [8, 8], [1000, 1000]),
    ("-N 1 -n 2 --gpus-per-task=1 --cpus-per-gpu=2 --mem-per-gpu=1000", [4], [2000]),
    ("-N 2 -n 2 --gpus=3 --cpus-per-gpu=2 --mem-per-gpu=1000", [4, 2], [2000, 1000]),
    ("-n 4 --gres=gpu:1 --cpus-per-gpu=2", [4], [400]),
    ("-n 1 --gpus=1 --mem-per-gpu=2G", [1], [2048]),
])
def test_cpus_and_memory_per_gpu(
    tmp_path: Path, options: str, cpus: list[int], memory_mb: list[int]
) -> None:
    site = _site(tmp_path, submit(f"-t 10 {options}"))
    assert site.log.not_modelled == ()
    found = _run(site)
    assert found.allocation_cpus.tolist() == cpus
    assert found.allocation_memory_mb.tolist() == memory_mb


def test_what_cannot_be_had_by_gpu_is_said(tmp_path: Path) -> None:
    site = _site(tmp_path, submit("-n 1 -t 10 --cpus-per-gpu=3")
                 + submit("-n 2 -t 10 --gpus=1 --cpus-per-gpu=3")
                 + submit("-n 1 -t 10 --gres=gpu:1 --mem-per-gpu=9000"))
    assert site.made.counted == {NO_GPU: 1, ROUNDED: 1}
    assert len(site.made.unfit) == 1
    assert "more memory than any node has (9,000 MB" in site.made.unfit[0]


def test_a_begin_by_the_clock_is_said_and_the_file_is_read(tmp_path: Path) -> None:
    times = ("16:00", "2025-03-04T12:30:00", "tomorrow", "03/14/25", "noon", "4:30pm")
    site = _site(tmp_path, "".join(submit(f"-n 1 -t 10 --begin={each}") for each in times))
    assert len(site.log.jobs) == len(times)
    assert [line.partition(" (")[0] for line in site.log.not_modelled] == [
        "6 jobs: nothing is done with the option begin by the clock, which the log does not have: "
        "it may begin at once"]
    with pytest.raises(wl.InputError, match="begin is 'some day'"):
        _site(tmp_path, submit("-n 1 -t 10 '--begin=some day'"))
