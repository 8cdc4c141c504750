"""Nodes that are reserved for a time, worked out by hand: two nodes of 4 CPUs, jobs of 600 s.

Looks at the whole queue lie 60 s apart, backfill's 30 s; a submission is looked at at once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.shared import machine, requests
from tests.support.shared_judged import findings
from wattline.model.signal import Signal
from wattline.shared_nodes.machine import Reservations, SharedMachine
from wattline.shared_nodes.outcome import KILLED, NEVER, REASONS
from wattline.shared_nodes.prepare import make_books
from wattline.shared_nodes.requests import Requests
from wattline.shared_nodes.rules import Rules
from wattline.shared_nodes.simulate import simulate_shared

WHOLE: dict[str, Any] = {"tasks": 4, "min_nodes": 1}
BUILTIN = Rules(scheduler="builtin")


def reserved(*rows: tuple[list[int], float, float], nodes: int = 2, **flags: Any) -> SharedMachine:
    """Reservations as (nodes, start, end); `maintenance` and `overlaps` are flags of each."""
    inside = np.zeros((len(rows), nodes), bool)
    for at, (listed, *_) in enumerate(rows):
        inside[at, listed] = True
    ends = np.array([row[2] for row in rows])
    none = [False] * len(rows)
    return replace(machine(nodes), reservations=Reservations(
        tuple(f"r{at}" for at in range(len(rows))), inside, np.array([row[1] for row in rows]),
        ends, ends + flags.get("over_run_s", 0.0), np.array(flags.get("maintenance", none)),
        np.array(flags.get("overlaps", none))))


def asked_of(on: SharedMachine, *jobs: dict[str, Any]) -> Requests:
    return replace(requests(on, *jobs),
                   reservation=np.array([job.get("reservation", -1) for job in jobs]))


def schedule(
    on: SharedMachine, *jobs: dict[str, Any], rules: Rules = BUILTIN, cap: Signal | None = None
) -> Any:
    asked = asked_of(on, *jobs)
    found = simulate_shared(on, asked, rules, cap=cap)
    assert findings(on, asked, rules, found, cap) == []
    return found


def test_others_stay_out_as_long_as_they_would_be_in_the_way() -> None:
    """Node 0 is reserved from 900 to 1800 s. Jobs 0 and 1 of ten minutes are over before, job 2 of
    twenty would not be: it waits for node 1."""
    on = reserved(([0], 900.0, 1800.0))
    found = schedule(on, WHOLE, WHOLE, {**WHOLE, "limit_s": 1200.0, "submit_s": 1.0})
    assert list(found.start_s) == [0.0, 0.0, 600.0]
    assert found.allocation_node.tolist() == [0, 1, 1]


def test_a_job_may_end_when_the_reservation_begins() -> None:
    on = reserved(([0], 600.0, 1800.0), nodes=1)
    for rules in (BUILTIN, Rules()):
        found = schedule(on, WHOLE, {**WHOLE, "submit_s": 1.0}, rules=rules)
        assert list(found.start_s) == [0.0, 1800.0]


def test_jobs_of_the_reservation_run_in_it_alone_and_only_then() -> None:
    """Job 0 waits for the reservation though both nodes are free, and job 1 for job 0 though node 1
    is; job 2 of none has node 1."""
    on = reserved(([0], 900.0, 3600.0))
    mine = {**WHOLE, "reservation": 0}
    for rules in (BUILTIN, Rules()):
        found = schedule(on, mine, mine, {**WHOLE, "submit_s": 1000.0}, rules=rules)
        assert list(found.start_s) == [900.0, 1500.0, 1000.0]
        assert found.allocation_node.tolist() == [0, 0, 1]


def test_jobs_of_the_reservation_are_killed_at_its_end_and_what_waits_is_held() -> None:
    """The end is at 1000 s; limits are looked at every 30 s."""
    on = reserved(([0], 0.0, 1000.0))
    mine = {**WHOLE, "reservation": 0, "run_s": 1200.0, "limit_s": 1200.0}
    found = schedule(on, mine, {**mine, "submit_s": 1.0}, {**mine, "submit_s": 1100.0})
    assert found.state[0] == KILLED
    assert found.end_s[0] == 1020.0
    assert list(found.state[1:]) == [NEVER, NEVER]
    assert {REASONS[row] for row in found.reason[1:]} == {"its reservation is over"}
    longer = schedule(reserved(([0], 0.0, 1000.0), over_run_s=300.0), mine)
    assert longer.end_s[0] == 1200.0


def test_a_job_that_no_open_node_could_serve_holds_back_nobody() -> None:
    """Job 1 asks for both nodes, of which one is reserved; job 2 behind it starts at once."""
    on = reserved(([0], 900.0, 1800.0))
    found = schedule(on, {**WHOLE, "limit_s": 3600.0, "submit_s": 0.0, "tasks": 1},
                     {"tasks": 8, "min_nodes": 2, "submit_s": 400.0},
                     {"tasks": 3, "submit_s": 410.0})
    assert list(found.start_s) == [0.0, 1800.0, 410.0]


def test_reserved_jobs_are_looked_at_before_others() -> None:
    """At 600 s both jobs may have node 0; job 2 is of the reservation that has begun meanwhile."""
    on = reserved(([0], 300.0, 9000.0), nodes=1)
    found = schedule(on, {**WHOLE, "limit_s": 300.0, "run_s": 250.0},
                     {**WHOLE, "submit_s": 1.0}, {**WHOLE, "submit_s": 2.0, "reservation": 0})
    assert list(found.start_s) == [0.0, 9000.0, 300.0]


def test_a_maintenance_has_the_nodes_of_other_reservations() -> None:
    """Users' reservation of node 0 until 7200 s, in it a maintenance from 1200 to 2400 s."""
    on = reserved(([0], 0.0, 7200.0), ([0, 1], 1200.0, 2400.0), maintenance=[False, True])
    mine = {**WHOLE, "reservation": 0}
    for rules in (BUILTIN, Rules()):
        found = schedule(on, mine, {**mine, "submit_s": 1.0, "limit_s": 660.0},
                         {**WHOLE, "submit_s": 2.0, "limit_s": 1260.0},
                         {**WHOLE, "reservation": 1, "submit_s": 3.0}, rules=rules)
        assert list(found.start_s) == [0.0, 2400.0, 2400.0, 1200.0]


def test_backfill_fills_the_time_before_a_reservation() -> None:
    """Job 1 asks for both nodes for longer than is left before the maintenance, and is planned for
    its end; job 2, behind it, is over before."""
    on = reserved(([0, 1], 1800.0, 3600.0), maintenance=[True])
    found = schedule(on, {"tasks": 1, "run_s": 100.0},
                     {"tasks": 8, "min_nodes": 2, "limit_s": 1800.0, "submit_s": 1.0},
                     {**WHOLE, "submit_s": 2.0, "limit_s": 1200.0}, rules=Rules())
    assert found.start_s[1] == 3600.0
    assert found.start_s[2] < 60.0


def test_a_plan_begins_at_the_very_end_of_a_reservation() -> None:
    """Node 0 is reserved until 1830 s, half a minute after one of backfill's steps, and node 1 has
    job 0 for two hours. Job 1 of two nodes is planned for 1830 s on nodes 0 and 2: that keeps job 2
    of an hour from node 2, and not job 3 of twenty minutes."""
    on = reserved(([0], 0.0, 1830.0), nodes=3)
    found = schedule(on, {**WHOLE, "run_s": 7200.0, "limit_s": 7200.0},
                     {"tasks": 8, "min_nodes": 2, "submit_s": 1.0},
                     {**WHOLE, "submit_s": 200.0, "limit_s": 3600.0},
                     {**WHOLE, "submit_s": 201.0, "limit_s": 1200.0}, rules=Rules())
    assert found.start_s[1] == pytest.approx(1830.0, abs=30.0)
    assert found.start_s[2] > found.start_s[1]
    assert found.start_s[3] < 300.0


@pytest.mark.parametrize(("room_w", "start_s"), [(60.0, 1500.0), (80.0, 30.0)])
def test_a_reserved_job_that_is_planned_keeps_its_watts_from_others(
    room_w: float, start_s: float,
) -> None:
    """Job 0 of 40 W is planned for the reservation at 900 s, job 1 takes more watts than there are
    before 9,000 s, and holds back job 2 until backfill looks: its 40 W and twenty minutes reach
    past 900 s."""
    on = reserved(([0], 900.0, 4500.0), nodes=4)
    found = schedule(on, {**WHOLE, "reservation": 0}, {"tasks": 12, "min_nodes": 3},
                     {**WHOLE, "submit_s": 1.0, "limit_s": 1200.0}, rules=Rules(),
                     cap=Signal(np.array([0.0, 9000.0]), np.array([400.0 + room_w, 520.0]), "W"))
    assert found.start_s[0] == 900.0
    assert found.start_s[2] == start_s
    assert found.start_s[1] >= 9000.0


@pytest.mark.parametrize(("tests", "start_s"), [(2, 840.0), (3, 30.0)])
def test_backfill_tests_so_many_jobs_of_all_reservations_together(
    tests: int, start_s: float,
) -> None:
    """Job 0 of the reservation is tested first, then job 2, which waits for the node of job 1; job
    3, the third, could have a node before that."""
    on = reserved(([0], 900.0, 4500.0), nodes=3)
    found = schedule(on, {**WHOLE, "reservation": 0}, WHOLE,
                     {"tasks": 12, "min_nodes": 3, "submit_s": 1.0, "run_s": 240.0,
                      "limit_s": 240.0},
                     {**WHOLE, "submit_s": 2.0, "limit_s": 300.0},
                     rules=Rules(bf_max_job_test=tests))
    assert list(found.start_s[:3]) == [900.0, 0.0, 600.0]
    assert found.start_s[3] == start_s


@pytest.mark.parametrize(("starts", "start_s"), [(1, 60.0), (2, 30.0), (0, 30.0)])
def test_backfill_starts_so_many_jobs_of_all_reservations_together(
    starts: int, start_s: float,
) -> None:
    """In the reservation job 2 waits for both nodes, outside of it job 3 for the licence of job 1;
    so jobs 4 and 5 are left to backfill. Job 4 is over at 50 s, and backfill looks again."""
    on = replace(reserved(([0, 1], 0.0, 4500.0), nodes=4),
                 licence_names=("matlab",), licences=np.array([1]))
    licensed = {**WHOLE, "licences": [1]}
    short = {**WHOLE, "limit_s": 300.0, "run_s": 20.0, "submit_s": 2.0}
    found = schedule(on, {**WHOLE, "reservation": 0}, licensed,
                     {"tasks": 8, "min_nodes": 2, "submit_s": 1.0, "reservation": 0},
                     {**licensed, "submit_s": 1.0}, {**short, "reservation": 0}, short,
                     rules=Rules(bf_max_job_start=starts, bf_licences=True))
    assert list(found.start_s) == [0.0, 0.0, 600.0, 600.0, 30.0, start_s]


def test_jobs_of_two_reservations_are_of_two_forms_though_their_nodes_are_the_same() -> None:
    """A backfill cycle's finding for a form holds for all of its jobs in that cycle."""
    rows = ([0, 1], 0.0, 900.0), ([0, 1], 1800.0, 2700.0)
    on = reserved(*rows, overlaps=[True, True])
    asked = asked_of(on, *({**WHOLE, "reservation": mine} for mine in (-1, 0, 1, -1, 0, 1)))
    entry = make_books(on, asked, Rules(), None, None, 0.0).entry
    for name in ("nodes", "form", "ask"):
        assert len(set(entry[name][:3].tolist())) == 3
        assert entry[name][:3].tolist() == entry[name][3:].tolist()
