"""Joules of every job on a live machine: in the ledger, in its comment, and beside the truth."""

from __future__ import annotations

import pytest

import wattline as wl
from tests.slurm.bedside import slurm
from wattline.controller.testbed.faults import Faults
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.running import Conditions, run_workload
from wattline.controller.testbed.workload import BedJob

POLICIES = {"power": "block", "placement": "first-fit"}


def jobs(count: int, least_s: float) -> list[BedJob]:
    return [BedJob(number, number, least_s + number % 3, 60.0, 1 + number % 2, 230.0)
            for number in range(count)]


def test_each_job_has_its_joules_in_the_ledger_and_in_its_comment(bed: Bed) -> None:
    """Jobs of two seconds and more, by the ledger to three per cent."""
    found = run_workload(bed, jobs(5, 2.0), Conditions(1300.0, policies=POLICIES))
    assert found.energy_error_max <= 0.03
    assert [(life.state, life.source) for life in found.joules] == [("COMPLETED", "series")] * 5
    store = bed.folder / "controller" / "ledger.db"
    for life in found.joules:
        said = slurm(bed, "sacct", "-n", "-X", "-P", "-j", life.job, "-o", "AdminComment")
        assert said == f"energy={life.ledger_j:.0f}j"
        steps = wl.account_job(life.job, store).lives[-1]["steps"]
        assert {step["source"] for step in steps} == {"series"}
        # They run a little shorter than prolog to epilog, and are known by whole seconds.
        assert 0.4 * life.ledger_j < max(step["energy_j"] for step in steps) <= life.ledger_j + 1
    beside = wl.account_compare(store, jobs=[life.job for life in found.joules])
    assert len(beside.rows) == 5
    assert 0.0 < beside.apart_max < 0.5


@pytest.mark.long
def test_joules_are_right_when_nodes_die_clocks_are_wrong_and_messages_are_lost(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = ("a node dies with its job:", "messages of agents are lost", "a clock is set wrong:",
             "slurmdbd is restarted", "the agents are killed")
    monkeypatch.setattr(Faults, "KINDS", {name: Faults.KINDS[name] for name in kinds})
    found = run_workload(bed, [BedJob(number, 2.0 * number, 2.0 + number % 5, 60.0, 1 + number % 3,
                                      230.0) for number in range(16)],
                         Conditions(1300.0, policies=POLICIES, faults=7))
    assert (found.finished, found.lost, found.doubled) == (16, (), ())
    assert found.above_cap_s_max <= 2.0
    assert found.replay_equal
    assert found.energy_error_max <= 0.03
