"""Which jobs are handed to Slurm, in which order and with how many watts, worked out by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from wattline.controller import lease
from wattline.controller.lease import by_turns, ours_and_held, with_licences
from wattline.live.slurm.reading import SlurmJob


def job(label: str, submit_s: float = 0.0, **more: Any) -> SlurmJob:
    return SlurmJob(label, int(label), 0, "PENDING", 1, 1, 600.0, math.nan, math.nan, submit_s,
                    partition="batch", user="ann", **more)


def test_jobs_are_handed_over_in_the_order_of_their_turns_and_then_as_they_came() -> None:
    jobs = [job("1", 30.0), job("2", 10.0), job("3", 20.0), job("4", 40.0)]
    assert [each.label for each in by_turns(jobs, {})] == ["2", "3", "1", "4"]
    assert [each.label for each in by_turns(jobs, {"4": 0, "1": 1})] == ["4", "1", "2", "3"]


@pytest.mark.parametrize(("held", "by_operator", "ours"), [
    (True, False, True), (True, True, False), (False, False, False)])
def test_a_job_that_an_operator_holds_is_not_handed_over(
    held: bool, by_operator: bool, ours: bool
) -> None:
    site = SimpleNamespace(mark="", partitions=())
    found = SimpleNamespace(held=held, held_by_operator=by_operator, is_in=lambda partitions: True)
    assert ours_and_held(site, found) == ours


@pytest.mark.parametrize(("most_w", "watts"), [(300.0, 300), (300.2, 301), (299.9999999999, 300)])
def test_a_job_without_licences_gets_as_many_as_its_nodes_draw_and_not_one_less(
    monkeypatch: pytest.MonkeyPatch, most_w: float, watts: int
) -> None:
    power = SimpleNamespace(idle_w={"n1": 90.0}, most_active_w=most_w)
    monkeypatch.setattr(lease, "NodePower", SimpleNamespace(of=lambda site: power))
    site = SimpleNamespace(parts=None)
    assert with_licences(site, job("1")).licenses == {"watts": watts}
    assert with_licences(site, job("1", licenses={"watts": 7})).licenses == {"watts": 7}
