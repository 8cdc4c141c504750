"""From series and lives to facts: by hand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from sqlalchemy import Connection, func, select

from wattline.account.attribution import Node
from wattline.account.measured.attributing import settle, settle_all
from wattline.account.measured.questions import Conditions, spread, totals
from wattline.account.measured.records import Kind, Series
from wattline.account.measured.rules import Rules
from wattline.account.measured.series_store import DAY_S, enter_series
from wattline.account.measured.tables import facts, lives, rests
from wattline.account.measured.touched import Touched
from wattline.account.measured.windows import touched_jobs
from wattline.account.store import Store
from wattline.model.errors import InputError
from wattline.physics.metering.stretches import Filling

T0 = 20_000 * DAY_S


@pytest.fixture
def ledger() -> Iterator[Connection]:
    with Store("sqlite://") as store, store.engine.begin() as connection:
        yield connection


def life(connection: Connection, label: str, start: float, end: float | None, **more) -> Touched:
    """A job from and to so many seconds after the beginning."""
    row = {"cluster": "c", "label": label, "start_s": T0 + start, "nodes": 1, "cores": 8,
           "end_s": None if end is None else T0 + end, "node_list": "n1", "source": "",
           "quality": "", "alloc_tres": "", "asked_frequency": "",
           **dict.fromkeys(("user", "account", "partition", "application", "node_class", "state"),
                           ""), **more}
    return Touched(lives=frozenset(connection.execute(lives.insert(), row).inserted_primary_key))


def watts(connection: Connection, times, powers, entity: str = "n1", **more) -> Touched:
    times = T0 + np.array(times, dtype=float)
    given = Series("c", entity, more.pop("kind", Kind.WATTS), times,
                   np.array(powers, dtype=float), **more)
    return enter_series(connection, [given]).touched


def told(connection: Connection) -> dict[str, tuple[float | None, float, str]]:
    rows = connection.execute(select(lives.c.label, lives.c.energy_j, lives.c.coverage,
                                     lives.c.source))
    return {label: (energy, coverage, source) for label, energy, coverage, source in rows}


def hours(connection: Connection, label: str) -> list[tuple[float, float, float]]:
    """Start and end after the beginning, and joules."""
    rows = connection.execute(
        select(facts.c.start_s, facts.c.end_s, facts.c.energy_j)
        .join(lives, lives.c.id == facts.c.life_id)
        .where(lives.c.label == label).order_by(facts.c.start_s))
    return [(start - T0, end - T0, energy) for start, end, energy in rows]


def test_a_job_is_cut_at_hours_and_the_node_closes(ledger) -> None:
    """300 W for two hours, of which a job holds 90 minutes in the middle."""
    settle(ledger, watts(ledger, range(0, 7200, 60), [300] * 120)
           | life(ledger, "1", 900, 6300))
    assert hours(ledger, "1") == [(900, 3600, 810_000), (3600, 6300, 810_000)]
    assert told(ledger)["1"] == (1_620_000, 1.0, "series")
    found = ledger.execute(select(rests.c.metered_j, rests.c.idle_j, rests.c.unattributed_j))
    quarter = (270_000, 0, 0)
    assert list(map(tuple, found)) == [(270_000, 270_000, 0), *[quarter] * 6, (270_000, 270_000, 0)]


def test_a_life_that_comes_after_its_series_gets_its_joules(ledger) -> None:
    settle(ledger, watts(ledger, range(0, 3600, 60), [300] * 60))
    settle(ledger, life(ledger, "1", 0, 1800))
    assert told(ledger)["1"] == (540_000, 1.0, "series")


def test_a_life_that_ended_sooner_leaves_nothing_behind(ledger) -> None:
    touched = life(ledger, "1", 0, None, seen_s=T0 + DAY_S + 3600.0)
    settle(ledger, watts(ledger, range(0, 2 * DAY_S, 60), [300] * 2880) | touched)
    assert told(ledger)["1"][0] == 300 * (DAY_S + 3600)
    ledger.execute(lives.update().values(end_s=T0 + 3600))
    settle(ledger, touched)
    assert hours(ledger, "1") == [(0, 3600, 1_080_000)]
    assert ledger.scalar(select(rests.c.idle_j).where(rests.c.start_s == T0 + 7200)) == 1_080_000


def test_a_gap_over_midnight_is_held_as_any_other(ledger) -> None:
    """Samples from 23:50 to 23:55 and from 00:05 on, imported the later ones first."""
    later = watts(ledger, range(DAY_S + 300, DAY_S + 600, 60), [500] * 5)
    settle(ledger, later | life(ledger, "1", DAY_S - 600, DAY_S + 600))
    settle(ledger, watts(ledger, range(DAY_S - 600, DAY_S - 300, 60), [200] * 5))
    assert hours(ledger, "1") == [(DAY_S - 600, DAY_S, 120_000), (DAY_S, DAY_S + 600, 210_000)]
    assert told(ledger)["1"] == (330_000, 0.5, "series")


def test_gaps_longer_than_the_longest_are_not_filled(ledger) -> None:
    touched = watts(ledger, [0, 60, 120, 1200, 1260], [100] * 5) | life(ledger, "1", 0, 1320)
    settle(ledger, touched, Rules(longest_gap_s=600))
    assert told(ledger)["1"][0] == 30_000
    settle_all(ledger, Rules(longest_gap_s=1200))
    assert told(ledger)["1"][0] == 132_000
    with pytest.raises(InputError, match="86400"):
        Rules(longest_gap_s=1e6)


def test_a_mean_is_that_of_the_job_itself_on_that_node(ledger) -> None:
    touched = watts(ledger, [0, 60, 120, 600, 660], [100, 100, 100, 500, 500])
    touched |= life(ledger, "1", 0, 360) | life(ledger, "2", 360, 720)
    settle(ledger, touched, Rules(filling=Filling.MEAN))
    assert told(ledger)["1"][:2] == (pytest.approx(36_000), 0.5)
    assert told(ledger)["2"][0] == pytest.approx(500 * 360)


def test_above_known_idle_power_without_a_job_is_unattributed(ledger) -> None:
    settle(ledger, watts(ledger, range(0, 3600, 60), [300] * 60), Rules(Node(idle_w=100)))
    found = ledger.execute(select(rests.c.idle_j, rests.c.unattributed_j)).one()
    assert tuple(found) == (360_000, 720_000)


def test_a_counter_counts_before_samples_which_stand_in_its_gaps(ledger) -> None:
    """The counter is reset between 600 s and 1200 s; samples say 250 W there and 1 W elsewhere."""
    counter = watts(ledger, [0, 600, 1200, 1800, 2400], [0, 60_000, 100, 60_100, 120_100],
                    kind=Kind.JOULES)
    samples = watts(ledger, range(0, 2400, 60), [250 if 600 <= t < 1200 else 1
                                                 for t in range(0, 2400, 60)])
    found = settle(ledger, counter | samples | life(ledger, "1", 0, 2400))
    assert told(ledger)["1"][0] == pytest.approx(3 * 60_000 + 250 * 600)
    assert any("reset" in remark for remark in found.remarks)


def test_of_two_meters_one_counts_and_it_is_said(ledger) -> None:
    touched = watts(ledger, range(0, 3600, 60), [300] * 60, meter="ipmi")
    touched |= watts(ledger, range(0, 3600, 60), [999] * 60, meter="zz")
    found = settle(ledger, touched | life(ledger, "1", 0, 3600))
    assert told(ledger)["1"][0] == 1_080_000
    assert any("'ipmi'" in remark for remark in found.remarks)


def test_gpu_joules_go_to_who_holds_the_gpu(ledger) -> None:
    """Two jobs share a node; GPU 0 draws 400 W for the one, GPU 1 100 W for the other."""
    touched = watts(ledger, range(0, 3600, 60), [700] * 60)
    touched |= watts(ledger, range(0, 3600, 60), [400] * 60, "n1/gpu0")
    touched |= watts(ledger, range(0, 3600, 60), [100] * 60, "n1/gpu1")
    touched |= life(ledger, "1", 0, 3600, alloc_tres="cpu=8,gpu:h200:1(IDX:0)")
    touched |= life(ledger, "2", 0, 3600, alloc_tres="cpu=8,gpu:h200:1(IDX:1)")
    assert settle(ledger, touched).remarks == ()
    assert told(ledger)["1"][0] == pytest.approx(3600 * (400 + 100))
    assert told(ledger)["2"][0] == pytest.approx(3600 * (100 + 100))


def test_gpus_that_nobody_names_are_shared_by_how_many_are_held_and_it_is_said(ledger) -> None:
    touched = watts(ledger, range(0, 3600, 60), [400] * 60, "n1/gpu0")
    touched |= life(ledger, "1", 0, 3600, alloc_tres="cpu=8,gres/gpu=3")
    touched |= life(ledger, "2", 0, 3600, alloc_tres="cpu=8,gres/gpu=1,gres/gpu:h200=1")
    touched |= life(ledger, "3", 0, 3600)
    found = settle(ledger, touched)
    assert [told(ledger)[label][0] for label in "123"] == [1_080_000, 360_000, 0]
    assert any("not told" in remark for remark in found.remarks)
    assert any("GPUs stand for it" in remark for remark in found.remarks)


@pytest.mark.parametrize(("tres", "first_j", "idle_j", "unattributed_j"), [
    # By number: its own GPU, and the other one is idle.
    ("gpu:h200:1(IDX:0)", 400, 200, 0),
    # By count alone: the mean of both, and the rest may be anybody's.
    ("gres/gpu=1", 300, 0, 300), ("gres/gpu=2", 600, 0, 0), ("gres/gpu=4", 600, 0, 0),
    ("cpu=8", 0, 600, 0),
])
def test_gpus_that_nobody_holds_are_not_the_jobs(
    ledger, tres, first_j, idle_j, unattributed_j
) -> None:
    """1000 W: GPUs of 400 W and 200 W, and 400 W that two jobs share."""
    touched = watts(ledger, range(0, 3600, 60), [1000] * 60)
    touched |= watts(ledger, range(0, 3600, 60), [400] * 60, "n1/gpu0")
    touched |= watts(ledger, range(0, 3600, 60), [200] * 60, "n1/gpu1")
    touched |= life(ledger, "1", 0, 3600, alloc_tres=tres) | life(ledger, "2", 0, 3600)
    found = settle(ledger, touched)
    assert told(ledger)["1"][0] == pytest.approx(3600 * (first_j + 200))
    assert told(ledger)["2"][0] == pytest.approx(3600 * 200)
    rest = ledger.execute(select(rests.c.idle_j, rests.c.unattributed_j)).one()
    assert tuple(rest) == pytest.approx((3600 * idle_j, 3600 * unattributed_j))
    assert any("not told" in remark for remark in found.remarks) == ("gres" in tres)


def test_a_gpu_that_a_job_names_is_no_part_of_what_others_hold(ledger) -> None:
    touched = watts(ledger, range(0, 3600, 60), [400] * 60, "n1/gpu0")
    touched |= watts(ledger, range(0, 3600, 60), [200] * 60, "n1/gpu1")
    touched |= life(ledger, "1", 0, 3600, alloc_tres="gpu:h200:1(IDX:0)")
    touched |= life(ledger, "2", 0, 3600, alloc_tres="gres/gpu=1")
    settle(ledger, touched)
    assert [told(ledger)[label][0] for label in "12"] == [3600 * 400, 3600 * 200]


def test_an_hour_is_cut_in_quarters_where_its_power_is_uneven(ledger) -> None:
    """1000 W in the first half of an hour and 200 W in the second; then 300 W."""
    powers = [1000] * 30 + [200] * 30 + [300] * 60
    settle(ledger, watts(ledger, range(0, 7200, 60), powers) | life(ledger, "1", 600, 7200))
    assert hours(ledger, "1") == [
        (600, 900, 300_000), (900, 1800, 900_000), (1800, 2700, 180_000), (2700, 3600, 180_000),
        (3600, 7200, 1_080_000)]
    found = ledger.execute(select(rests.c.start_s, rests.c.metered_j).order_by(rests.c.start_s))
    assert [(start - T0, joules) for start, joules in found] == [
        (0, 900_000), (900, 900_000), (1800, 180_000), (2700, 180_000), (3600, 1_080_000)]


def test_a_reading_far_above_its_neighbours_counts_and_is_said(ledger) -> None:
    powers = [400] * 30 + [65_535] + [400] * 29
    found = settle(ledger, watts(ledger, range(0, 3600, 60), powers) | life(ledger, "1", 0, 3600))
    assert told(ledger)["1"][0] == 59 * 60 * 400 + 60 * 65_535
    assert ledger.scalar(select(func.sum(rests.c.suspect_j))) == 60 * 65_535
    assert any("n1: 1 readings 10 times those" in remark for remark in found.remarks)
    # A site that knows what its nodes draw says so.
    settle_all(ledger, Rules(highest_w=2000))
    assert told(ledger)["1"][0] == 60 * 60 * 400
    assert ledger.scalar(select(func.sum(rests.c.suspect_j))) == 0


def test_a_jump_of_a_counter_is_said_and_a_load_that_lasts_is_not(ledger) -> None:
    joules = [400 * time + (3e6 if time > 1800 else 0) for time in range(0, 3601, 60)]
    settle(ledger, watts(ledger, range(0, 3601, 60), joules, kind=Kind.JOULES))
    assert ledger.scalar(select(func.sum(rests.c.suspect_j))) == 3e6 + 60 * 400
    loaded = [100] * 20 + [5000] * 2 + [100] * 38
    assert settle(ledger, watts(ledger, range(0, 3600, 60), loaded, "n2")).remarks == ()


def test_a_counter_that_may_go_round_unseen_asks_for_the_highest_power(ledger) -> None:
    """400 W for an hour, read each minute, with a range of 262144 J."""
    joules = [(400 * time + 100_000) % 262_144 for time in range(0, 3601, 60)]
    touched = watts(ledger, range(0, 3601, 60), joules, kind=Kind.JOULES)
    found = settle(ledger, touched | life(ledger, "1", 0, 3600), Rules(range_j=262_144))
    assert told(ledger)["1"][0] is None
    assert any("--highest-w W says" in remark for remark in found.remarks)
    found = settle_all(ledger, Rules(range_j=262_144, highest_w=2000))
    assert told(ledger)["1"][:2] == (pytest.approx(400 * 3600), 1.0)
    assert found.remarks == ()


def test_a_meter_above_nodes_is_metered_and_nothing_of_it_idle(ledger) -> None:
    settle(ledger, watts(ledger, range(0, 3600, 60), [2e6] * 60, "feed:A"))
    found = ledger.execute(select(rests.c.entity, rests.c.metered_j, rests.c.idle_j)).one()
    assert tuple(found) == ("feed:A", 7.2e9, 0)


def test_slurm_counts_where_a_series_covers_less_than_half(ledger) -> None:
    touched = watts(ledger, range(0, 600, 60), [300] * 10) | life(ledger, "1", 0, 3600)
    ledger.execute(facts.insert(), [{
        "life_id": next(iter(touched.lives)), "step": "", "node": "", "source": "slurm",
        "start_s": T0, "end_s": T0 + 3600, "energy_j": 5e5, "covered_s": 3600, "filled_j": 0,
        "idle_j": 0, "counts": True}])
    settle(ledger, touched)
    assert told(ledger)["1"] == (5e5, 1.0, "slurm")
    assert ledger.scalars(select(facts.c.source).where(facts.c.counts)).all() == ["slurm"]
    settle(ledger, watts(ledger, range(600, 3600, 60), [300] * 50))
    assert told(ledger)["1"] == (1_080_000, 1.0, "series")
    assert set(ledger.scalars(select(facts.c.source).where(facts.c.counts))) == {"series"}


def test_the_same_names_in_two_clusters_are_two_nodes(ledger) -> None:
    first = watts(ledger, range(0, 3600, 60), [300] * 60) | life(ledger, "1", 0, 3600)
    settle(ledger, first)
    other = life(ledger, "1", 0, 3600, cluster="d")
    settle(ledger, other)
    energies = dict(ledger.execute(select(lives.c.cluster, lives.c.energy_j)).all())
    assert energies == {"c": 1_080_000, "d": None}


def test_the_better_meter_counts_on_each_day_that_it_has(ledger) -> None:
    """A counter from the second day on; on the first only samples, under another name."""
    times = np.arange(0, 2 * DAY_S, 600)
    touched = watts(ledger, times, [100] * times.size, meter="a")
    later = np.arange(DAY_S, 2 * DAY_S, 600)
    touched |= watts(ledger, later, 300.0 * (later - DAY_S), meter="b", kind=Kind.JOULES)
    found = settle(ledger, touched | life(ledger, "1", DAY_S - 3600, DAY_S + 3600))
    assert told(ledger)["1"][0] == 3600 * 100 + 3600 * 300
    assert any("'a', 'b'" in remark for remark in found.remarks)


def test_days_give_the_same_alone_and_in_a_row(ledger) -> None:
    random = np.random.default_rng(3)
    times = np.arange(0, 40 * DAY_S, 1800)
    powers = np.where(random.random(times.size) < 0.1, np.nan, random.random(times.size) * 500)
    first = watts(ledger, times, powers) | life(ledger, "1", 0, 40 * DAY_S)
    first |= watts(ledger, times, random.random(times.size) * 90, "n1/gpu0")
    settle(ledger, first)
    whole = hours(ledger, "1")
    for day in (0, 7, 8, 17, 30, 31, 39):
        settle(ledger, Touched({("c", "n1"): frozenset([T0 // DAY_S + day])}))
    assert hours(ledger, "1") == whole
    assert len(whole) > 900


def test_sums_of_a_period_cut_lives_at_its_ends(tmp_path) -> None:
    """Three jobs one after another at 300 W; the period has half of the first and of the last."""
    def sums(**asked):
        return {total.name: (total.energy_j, total.idle_j, total.covered_s)
                for total in totals(store, "account", Conditions(**asked)) if total.energy_j}

    with Store(tmp_path / "s.db") as store:
        with store.engine.begin() as connection:
            touched = watts(connection, range(0, 10_800, 60), [300] * 180)
            for number in range(3):
                touched |= life(connection, str(number), 3600 * number, 3600 * (number + 1),
                                account="ab"[number % 2])
            touched |= life(connection, "runs", 3600, None, account="b", node_list="elsewhere")
            settle(connection, touched)
        assert sums(start_s=T0 + 1800, end_s=T0 + 9000) == {
            "a": (1_080_000, 0, 3600), "b": (1_080_000, 0, 3600)}
        assert sums() == {"a": (2_160_000, 0, 7200), "b": (1_080_000, 0, 3600)}
        assert sums(start_s=T0, accounts=("b",)) == {"b": (1_080_000, 0, 3600)}
        # By hours, or each stretch by itself: the same joules at the same times.
        for period in ({}, {"start_s": T0 + 1800, "end_s": T0 + 9000}):
            found = {even: spread(store, "account", Conditions(**period), even_in_hours=even)
                     for even in (True, False)}
            rows = {even: list(zip(each.names, each.start_s, each.end_s, each.energy_j,
                                   strict=True)) for even, each in found.items()}
            assert rows[True] == rows[False]


def test_all_lives_of_a_job_are_touched_by_its_name(ledger) -> None:
    first, second = life(ledger, "1", 0, 60), life(ledger, "1", 120, 180)
    life(ledger, "2", 0, 60)
    life(ledger, "1", 0, 60, cluster="d")
    assert touched_jobs(ledger, [("c", "1"), ("e", "1")]) == first | second


def test_a_counter_that_wraps_is_told_from_one_that_jumps(ledger) -> None:
    """Range 100 kJ: from 90 kJ to 20 kJ are 30 kJ; a rise by 50 MJ in a minute is impossible."""
    touched = watts(ledger, [0, 300, 600, 660], [60_000, 90_000, 20_000, 50_020_000],
                    kind=Kind.JOULES)
    found = settle(ledger, touched | life(ledger, "1", 0, 660), Rules(range_j=1e5, highest_w=300))
    assert told(ledger)["1"][:2] == (60_000, pytest.approx(600 / 660))
    assert any("no hardware" in remark for remark in found.remarks)


def test_watts_that_no_node_draws_are_a_gap(ledger) -> None:
    touched = watts(ledger, range(0, 600, 60), [200, 9e9, *[200] * 8]) | life(ledger, "1", 0, 600)
    settle(ledger, touched)
    assert told(ledger)["1"][:2] == (120_000, pytest.approx(0.9))


def test_a_job_that_runs_holds_its_nodes_for_as_long_as_it_was_seen(ledger) -> None:
    """And one of which nobody says how long it was seen holds nothing that others may have."""
    touched = watts(ledger, range(0, 3600, 60), [300] * 60)
    touched |= life(ledger, "seen", 0, None, seen_s=T0 + 600.0) | life(ledger, "lost", 0, None)
    settle(ledger, touched)
    assert told(ledger)["seen"][0] == 180_000
    assert told(ledger)["lost"][0] is None


def test_jobs_that_were_suspended_are_said(ledger) -> None:
    touched = watts(ledger, range(0, 3600, 60), [300] * 60)
    found = settle(ledger, touched | life(ledger, "1", 0, 3600, suspended_s=60.0))
    assert any("suspended" in remark for remark in found.remarks)
    assert told(ledger)["1"][0] == 1_080_000


def test_a_pace_that_changes_within_a_day_loses_no_joules(ledger) -> None:
    """Each 10 s until noon, each 20 minutes after it; the job runs from 13:00 to 19:00."""
    times = [*range(0, 43_200, 10), *range(43_200, DAY_S, 1200)]
    settle(ledger, watts(ledger, times, [400] * len(times)) | life(ledger, "1", 46_800, 68_400))
    assert told(ledger)["1"] == (400 * 21_600, 1.0, "series")


def test_a_pace_that_a_source_told_does_not_hold_for_a_slower_one_beside_it(ledger) -> None:
    """Asked for each 10 s in the morning, and each 60 s after it."""
    touched = watts(ledger, range(0, 3600, 10), [400] * 360, interval_s=10.0)
    touched |= watts(ledger, range(3600, 7200, 60), [400] * 60, interval_s=60.0)
    settle(ledger, touched | life(ledger, "1", 3600, 7200))
    assert told(ledger)["1"] == (400 * 3600, 1.0, "series")


def test_two_exports_of_one_meter_that_are_shifted_count_as_one(ledger) -> None:
    touched = watts(ledger, range(0, 7200, 60), [400] * 120)
    touched |= watts(ledger, np.arange(0, 7200, 60) + 0.4, [410] * 120)
    settle(ledger, touched | life(ledger, "1", 0, 7200))
    energy_j, coverage, _ = told(ledger)["1"]
    assert coverage == 1.0
    assert 400 * 7200 < energy_j < 410 * 7200
