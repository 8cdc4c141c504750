"""QOS and partitions whose jobs could take their nodes from each other: it comes to an end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.shared import machine, requests
from tests.support.shared_judged import findings
from tests.support.twin_sites import site, submit

from wattline.shared_nodes.machine import CANCEL, REQUEUE, SUSPEND, SharedMachine
from wattline.shared_nodes.outcome import PREEMPTED, RAN
from wattline.shared_nodes.preempt_loops import without_circles
from wattline.shared_nodes.prepare import make_books
from wattline.shared_nodes.rules import Priority, Rules
from wattline.shared_nodes.simulate import simulate_shared
from wattline.shared_nodes.state import END
from wattline.shared_nodes.timers import add_timer

MODES = (REQUEUE, SUSPEND, CANCEL)
BY_PRIORITY = Priority("multifactor", qos=1000)
CONF = """ClusterName=small
SelectType=select/cons_tres
PreemptType=preempt/qos
PreemptMode=REQUEUE
NodeName=n[1-2] CPUs=4 RealMemory=4000
PartitionName=p Nodes=ALL Default=YES DefMemPerCPU=100
"""


def _ends(on: SharedMachine, rules: Rules, mode: int, jobs: list[dict[str, Any]]) -> Any:
    asked = requests(on, *jobs)
    found = simulate_shared(on, asked, rules)
    assert not findings(on, asked, rules, found)
    assert set(found.state) <= ({RAN, PREEMPTED} if mode == CANCEL else {RAN})
    return found


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("jobs", [2, 3, 7])
def test_jobs_of_qos_in_a_circle_all_end(mode: int, length: int, jobs: int) -> None:
    preempts = np.zeros((length, length), bool)
    for row in range(length):
        preempts[row, (row + 1) % length] = True
    on = machine(2, qos=length)
    on = replace(on, qos=replace(on.qos, preempts=preempts, priority=np.arange(length),
                                 preempt_mode=np.full(length, mode)))
    found = _ends(on, Rules(preempt="qos", priority=BY_PRIORITY), mode, [
        {"submit_s": 25.0 * row, "run_s": 200.0, "tasks": (8, 4)[row % 2], "qos": row % length,
         "requeue": True} for row in range(jobs)])
    if length == 1:  # no QOS preempts itself
        assert not found.requeues.any()
        assert not len(found.gap_job)
        assert (found.state == RAN).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tiers", [2, 3])
@pytest.mark.parametrize("jobs", [2, 3, 7])
def test_jobs_in_partitions_of_several_tiers_all_end(mode: int, tiers: int, jobs: int) -> None:
    """Each names two partitions, so that it gives way in one and preempts in the other."""
    on = machine(2, partitions=[[0, 1]] * tiers)
    on = replace(on, partitions=replace(on.partitions, tier=np.arange(tiers),
                                        preempt_mode=np.full(tiers, mode)))
    _ends(on, Rules(preempt="partition"), mode, [
        {"submit_s": 25.0 * row, "run_s": 200.0, "tasks": (8, 4)[row % 2],
         "partition": sorted({row % tiers, (row + 1) % tiers}), "requeue": True}
        for row in range(jobs)])


@pytest.mark.parametrize("length", [2, 3, 4])
def test_only_what_closes_a_circle_is_refused(length: int) -> None:
    preempts = np.zeros((length, length), bool)
    for row in range(length):
        preempts[row, (row + 1) % length] = True
    preempts[0, :] = True
    kept, refused = without_circles(preempts)
    assert [(each.one, each.other) for each in refused] == [(0, 0), (length - 1, 0)]
    assert refused[1].way == (0, length - 1)
    assert kept.sum() == preempts.sum() - 2
    again, none = without_circles(kept)
    assert (again == kept).all()
    assert none == []


@pytest.mark.parametrize(("settings", "said"), [
    (("Preempt=hi", "Preempt=lo"), "assoc:2: QOS 'hi' preempts QOS 'lo' (assoc:1), which"),
    (("Preempt=hi", "Preempt=mid", "Preempt=lo"), "assoc:3: QOS 'mid' preempts QOS 'lo' (assoc:1), "
     "which preempts QOS 'hi' (assoc:2), which preempts it"),
    (("Preempt=lo",), "assoc:1: QOS 'lo' preempts itself"),
])
def test_a_circle_of_a_site_is_a_contradiction(
    tmp_path: Path, settings: tuple[str, ...], said: str
) -> None:
    accounts = "".join(f"add qos Name={name} Priority=1 {setting}\n"
                       for name, setting in zip(("lo", "hi", "mid"), settings, strict=False))
    accounts += "add cluster Name=small\nadd account name=phys\nadd user name=ada account=phys\n"
    found = site(tmp_path, submit("-n 8"), CONF, accounts)
    lines = [line.replace(f"{tmp_path}/", "") for line in found.lists.contradictions]
    assert sum(said in line for line in lines) == 1


def test_a_list_that_is_full_is_not_written_beyond_its_end() -> None:
    on = machine(1)
    books = make_books(on, requests(on, {}), Rules(), None, None, 0.0)
    for _ in range(len(books.timers) + 3):
        add_timer(books, 1.0, END, 0, 0)
    assert books.clock[0].timers == len(books.timers)
    assert books.clock[0].overfull
