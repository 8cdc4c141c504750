"""One instant of a twin: who starts on a machine as it stands."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.shared import machine, requests

from wattline.shared_nodes.instant import Placed, starts_now
from wattline.shared_nodes.rules import Rules

RULES = Rules(sched_min_interval_s=0.0, memory_counts=False)


def test_a_job_starts_beside_one_that_runs_where_there_is_room() -> None:
    on = machine(2, cpus=4)
    asked = requests(on, {"tasks": 3}, {"tasks": 2, "submit_s": 5.0}, {"tasks": 1, "submit_s": 6.0})
    found = starts_now(on, asked, RULES, {0: Placed([0], [3], 1.0)}, 10.0)
    assert [(each.job, each.nodes, each.cpus) for each in found] == [
        (1, (1,), (2,)), (2, (0,), (1,))]
    assert [each.watts for each in found] == [20.0, 10.0]


def test_a_cap_holds_one_back_and_measured_power_counts_against_it() -> None:
    """Two nodes idle at 200 W; a running job adds 30 W and each of the others 20 W."""
    on = machine(2, cpus=4)
    asked = requests(on, {"tasks": 3}, {"tasks": 2, "submit_s": 5.0}, {"tasks": 2, "submit_s": 6.0})
    placed = {0: Placed([0], [3], 1.0)}
    for cap_w, drawn_w, jobs in ((270.0, 0.0, [1, 2]), (269.0, 0.0, [1]), (270.0, 240.0, [1]),
                                 (249.0, 0.0, []), (220.0, 0.0, [])):
        found = starts_now(on, asked, RULES, placed, 10.0, cap_w=cap_w, drawn_w=drawn_w)
        assert [each.job for each in found] == jobs, (cap_w, drawn_w)


def test_backfill_starts_what_ends_before_the_first_that_waits_could() -> None:
    """The whole machine is wanted at 100 s; a job of 90 s fits before that, one of 200 s not."""
    on = machine(2, cpus=4)
    wide = {"tasks": 8, "submit_s": 1.0}
    rows = [{"tasks": 4, "limit_s": 100.0, "run_s": 100.0}, wide]
    for limit_s, starts in ((60.0, True), (240.0, False)):
        asked = requests(on, *rows, {"tasks": 2, "limit_s": limit_s, "run_s": limit_s,
                                     "submit_s": 2.0})
        found = starts_now(on, asked, RULES, {0: Placed([0], [4], 0.0)}, 10.0)
        assert [each.job for each in found] == ([2] if starts else [])


def test_a_node_that_is_down_takes_nobody() -> None:
    on = machine(2, cpus=4)
    asked = requests(on, {"tasks": 2}, {"tasks": 4})
    found = starts_now(on, asked, RULES, {}, 10.0, down=[0])
    assert [each.nodes for each in found] == [(1,)]


def test_a_job_that_no_rule_would_let_in_still_holds_its_nodes() -> None:
    """More nodes than the machine could give it by its request."""
    on = machine(2, cpus=4)
    asked = requests(on, {"tasks": 9}, {"tasks": 2, "submit_s": 1.0})
    found = starts_now(on, asked, RULES, {0: Placed([0, 1], [4, 3], 0.0)}, 10.0)
    assert found == []


@pytest.mark.compiled
@pytest.mark.long  # another program of the rules that test_shared_node_rules.py compiles
def test_compiled_and_plain_decide_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(4)
    on = machine(8, cpus=4)
    rows = [{"tasks": int(draw.integers(1, 7)), "submit_s": float(row),
             "limit_s": 60.0 * int(draw.integers(1, 9))} for row in range(30)]
    asked = requests(on, *rows)
    plain = starts_now(on, asked, RULES, {}, 40.0, cap_w=950.0)
    monkeypatch.setattr("wattline.shared_nodes.instant.MOST_PLAIN", 0)
    assert starts_now(on, asked, RULES, {}, 40.0, cap_w=950.0) == plain
