"""Bounds of blocks of the queue: never above an entry, and a scan by them finds what one by one is
found."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wattline.model.jobs import JobTable
from wattline.model.kernel import PLAIN
from wattline.policies.backfill import easy
from wattline.policies.queue import _make_room, drop_entries, swap_entries
from wattline.policies.queue_blocks import lower_bounds
from wattline.policies.state import QUEUE_BLOCK, make_state
from wattline.scenario.build import plan
from wattline.scenario.load import validate

ORDERS, POWERS = ("fcfs", "sjf", "largest", "wfp"), ("none", "dvfs")
SOME = (("fcfs", "none"), ("sjf", "dvfs"), ("largest", "none"), ("wfp", "dvfs"))
"""Each of them in one of the combinations that are tried before every commit."""


def holds(st: Any, first: int, end: int) -> bool:
    """No entry of [first, end) is below the bounds of its block."""
    places = np.arange(first, end)
    entries, bounds = st.queue[first:end], st.queue_blocks[places // QUEUE_BLOCK]
    return bool((bounds.units <= entries.units).all()
                and (bounds.requested_s <= entries.requested_s).all())


def test_whatever_moves_entries_keeps_the_bounds_below_them() -> None:
    """Random gaps, at the front, in the middle and at the end, shorter and longer than a block."""
    count = 9 * QUEUE_BLOCK + 5
    table = JobTable.build(submit_s=np.zeros(count), run_s=np.ones(count),
                           requested_s=np.ones(count), procs=np.ones(count, dtype=int))
    steps, tight, kept_all = 0, 0, True
    for seed in range(30):
        random = np.random.default_rng(seed)
        st = make_state(table, 1, 1.0, units=10, idle_w=1.0)
        clock = st.clock[0]
        st.queue_blocks.units, st.queue_blocks.requested_s = 10**9, np.inf
        clock.queue_first = int(random.integers(0, 2 * QUEUE_BLOCK))
        clock.queue_last = count
        for place in range(clock.queue_first, count):
            st.queue[place].job = place
            st.queue[place].units = random.integers(1, 1000)
            st.queue[place].requested_s = random.uniform(1, 1e4)
            lower_bounds(st, place)
        waiting = sorted(st.queue.job[clock.queue_first:clock.queue_last].tolist())
        while clock.queue_last - clock.queue_first > 2 * QUEUE_BLOCK:
            gap = int(random.choice([1, 1, 2, QUEUE_BLOCK - 1, QUEUE_BLOCK, QUEUE_BLOCK + 3]))
            first = int(random.integers(clock.queue_first, clock.queue_last - gap + 1))
            gone = st.queue.job[first:first + gap].tolist()
            drop_entries(st, first, first + gap)
            waiting = [job for job in waiting if job not in gone]
            one, other = random.integers(clock.queue_first, clock.queue_last, 2)
            swap_entries(st, int(one), int(other))
            if random.random() < 0.1:
                _make_room(st)
            now = st.queue.job[clock.queue_first:clock.queue_last]
            kept_all &= sorted(now.tolist()) == waiting
            kept_all &= holds(st, clock.queue_first, clock.queue_last)
            steps += 1
            tight += int(st.queue_blocks[clock.queue_first // QUEUE_BLOCK + 1].units > 1)
    assert kept_all
    assert steps > 300
    assert tight > steps // 3  # bounds of 0 would hold of everything


@pytest.mark.skipif(not PLAIN, reason="what is compiled cannot be replaced")
@pytest.mark.parametrize(("held", "choices"), [
    (True, SOME),
    *(pytest.param(held, tuple(product(ORDERS, POWERS)), marks=pytest.mark.long)
      for held in (True, False))])
def test_a_scan_by_blocks_finds_what_looking_at_every_entry_finds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, held: bool,
    choices: tuple[tuple[str, str], ...]
) -> None:
    """Orders whose keys stay or change, with and without a cap and a reservation of nodes."""
    scan, close = easy._next_hopeful, easy.drop_entries
    tally = {}

    def scanned(st, policy, position, end):
        assert holds(st, position, end)
        room = easy._room(st, policy)
        expected = next((place for place in range(position, end) if easy._is_hopeful(
            room, st.queue[place].units, st.queue[place].requested_s)), end)
        passed = sum(not easy._is_hopeful(room, bounds.units, bounds.requested_s) for bounds in
                     st.queue_blocks[position // QUEUE_BLOCK: expected // QUEUE_BLOCK])
        found, least, least_s = scan(st, policy, position, end)
        assert found == expected
        over = st.queue[position:found]
        assert not len(over) or (least <= over.units.min() and least_s <= over.requested_s.min())
        tally["scans"] += 1
        tally["blocks"] += int(passed)
        return found, least, least_s

    def closed(st, first, end):
        close(st, first, end)
        assert holds(st, st.clock[0].queue_first, st.clock[0].queue_last)

    monkeypatch.setattr(easy, "_next_hopeful", scanned)
    monkeypatch.setattr(easy, "drop_entries", closed)
    random = np.random.default_rng(3)
    count = 140
    run_s = random.lognormal(6, 1.2, count).round() + 1
    rows = [f"{place},{4 * place},{run_s[place]:.0f},{2 * run_s[place]:.0f},"
            f"{random.choice([1, 2, 3, 8, 16])}" for place in range(count)]
    result = {}
    log = tmp_path / "log.csv"
    log.write_text("\n".join(["job_id,submit_s,run_s,requested_s,procs", *rows, ""]))
    for order, power in choices:
        fields = {"trace": {"file": str(log)},
                  "machine": {"nodes": 32, "node_idle_w": 90, "node_active_w": 300},
                  "policy": {"order": order, "power": power}}
        if power == "dvfs":
            fields["power"] = {"cap": 7000.0}
        if held:
            fields["reservations"] = [{"start_s": 900.0, "duration_s": 300.0, "nodes": 10}]
        tally.update(scans=0, blocks=0)
        run = plan(validate(fields, "test")).plain_run()
        result[f"{order} {power}"] = [
            int(run.ran.sum()), tally["scans"], tally["blocks"]]
    assert len(result) == len(choices)
    for name, (ran, scans, _) in result.items():
        assert ran == 140, name
        assert scans > 10, name
    passed_over = sum(blocks for _, _, blocks in result.values())  # with one look each
    assert passed_over > 100 * len(choices) // len(ORDERS) // len(POWERS)
