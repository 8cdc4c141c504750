"""A job that the cap of now has no room for, even alone, is set aside and blocks nobody."""

from __future__ import annotations

import numpy as np
import pytest

import wattline as wl
from wattline.books import (
    Books,
    CapChanged,
    Ended,
    NodesDown,
    NodesUp,
    Reserved,
    Submitted,
    explain,
)
from wattline.books.switching import under
from wattline.model.jobs import JobTable

NODE = {"node_idle_w": 90, "node_active_w": 300}
FALLS = [{"time_s": 0, "watts": 3200.0}, {"time_s": 40, "watts": 2400.0}]
RISES = [*FALLS, {"time_s": 400, "watts": 3200.0}]
SLOWEST = {"watts": 1.0, "dvfs": 0.65 * 0.25 + 0.35}
"""Power at the lowest level, relative to full speed."""


def sixty_jobs() -> JobTable:
    random = np.random.default_rng(5)
    nodes = random.choice([1, 2, 3, 4, 8], 60, p=[0.3, 0.25, 0.15, 0.12, 0.18])
    run_s = random.integers(10, 40, 60).astype(float)
    submit_s = np.concatenate([[0.0], np.cumsum(random.exponential(1.0, 59))])
    return JobTable.build(submit_s=submit_s, run_s=run_s, requested_s=np.full(60, 60.0),
                          procs=nodes, power_w=nodes * 300.0)


def tried(power: str, backfill: str, cap: list[dict[str, float]]) -> wl.Run:
    return wl.simulate(sixty_jobs(), machine=wl.Machine(nodes=16, cores_per_node=1, **NODE),
                       power=power, backfill=backfill, power__cap=cap)


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
@pytest.mark.parametrize("backfill", ["none", "easy", "conservative"])
@pytest.mark.parametrize(("power", "low_w"), [
    ("watts", 2400.0), ("dvfs", 2400.0), ("adaptive", 2400.0), ("watts", 1800.0),
    ("dvfs", 1800.0)])
def test_all_jobs_that_fit_under_a_cap_that_fell_run(
    power: str, low_w: float, backfill: str
) -> None:
    """Sixteen nodes draw 1,440 W idle; eight busy ones add 1,680 W, or 510 W at the lowest level.
    """
    run = tried(power, backfill, [FALLS[0], {"time_s": 40, "watts": low_w}])
    nodes = run.schedule.nodes
    added_w = nodes * 300.0 * SLOWEST.get(power, 0.4) - nodes * 90.0
    fits = 1440.0 + np.maximum(added_w, 0.0) <= low_w
    assert run.ran[fits].all()
    aside = np.flatnonzero(~run.ran)
    said = [line for line in run.remarks if "set aside" in line]
    assert len(said) == (aside.size > 0)
    if aside.size:
        assert ", ".join(str(job) for job in run.jobs.job_id[aside[:20]]) in said[0]
    assert not any("the policy, or a cap" in line for line in run.remarks)


@pytest.mark.filterwarnings("ignore::wattline.WattlineWarning")
def test_the_published_block_and_wait_stop_as_they_are_published_to() -> None:
    assert int(tried("block", "easy", FALLS).ran.sum()) == 9
    assert int(tried("wait", "easy", FALLS).ran.sum()) == 43


@pytest.mark.parametrize("backfill", ["none", "easy", "conservative"])
@pytest.mark.parametrize("power", ["watts", "dvfs", "adaptive"])
def test_jobs_have_their_places_back_when_the_cap_rises(power: str, backfill: str) -> None:
    cap = RISES if power == "watts" else [
        FALLS[0], {"time_s": 40, "watts": 1650.0}, {"time_s": 400, "watts": 3200.0}]
    run = tried(power, backfill, cap)
    assert run.ran.all()
    start_s = run.schedule.start_s
    large = np.flatnonzero((run.schedule.nodes == 8) & (start_s > 40.0))
    assert (np.diff(start_s[large]) >= 0.0).all()  # of the same size, in their order
    assert start_s[large[0]] < 470.0  # what runs then ends within its minute
    small = (run.schedule.nodes < 8) & (np.arange(60) > large[0])
    assert (start_s[small] < 400.0).any()  # nobody waited behind them


def opened(**fields: object) -> Books:
    given = {"power": "watts", "cap": 2000.0, "placement": "first-fit"} | fields
    return wl.open_books(machine=wl.Machine(nodes=8, **NODE), **given)  # type: ignore[arg-type]


def job(name: str, units: int, requested_s: float = 600.0) -> Submitted:
    return Submitted(name, units, requested_s, procs=units)


def started(books: Books, time_s: float, *events: object) -> list[object]:
    decided = books.step(time_s, events)  # type: ignore[arg-type]
    return [each.job for each in decided if each.kind == "start"]


@pytest.mark.parametrize("backfill", ["none", "easy", "conservative"])
@pytest.mark.parametrize("power", ["watts", "dvfs", "adaptive"])
def test_books_set_aside_say_it_and_take_back(power: str, backfill: str) -> None:
    """Eight nodes draw 720 W idle."""
    books = opened(power=power, backfill=backfill)
    low_w = {"watts": 1200.0, "dvfs": 800.0, "adaptive": 900.0}[power]
    assert started(books, 0.0, CapChanged(low_w)) == []
    assert started(books, 1.0, job("a", 6), job("b", 1, 900.0)) == ["b"]
    found = explain(books, "a")
    assert found.reason == "set aside"
    assert "its place in the queue is kept for when the cap rises" in found.sentence
    assert found.figures["behind"] == 0
    assert started(books, 2.0, job("c", 6)) == []
    assert started(books, 3.0, Ended("b")) == []
    assert started(books, 4.0, CapChanged(2000.0)) == ["a"]
    assert "set aside" not in explain(books, "c").sentence


@pytest.mark.parametrize("backfill", ["easy", "conservative"])
def test_where_it_is_known_when_the_cap_rises_the_job_has_a_reservation_then(
    backfill: str
) -> None:
    """600 W are reserved for 300 s: six nodes that need 1,980 W start at the end of that."""
    books = opened(backfill=backfill)
    books.step(0.0, [Reserved("heat", 0.0, 300.0, watts=600.0)])
    assert started(books, 1.0, job("a", 6)) == []
    assert explain(books, "a").reason == "watts"
    assert explain(books, "a").expected_s == 300.0
    late = started(books, 2.0, job("long", 3, 900.0), job("short", 2, 200.0))
    assert late == ["short"]  # the other would delay it
    assert started(books, 202.0, Ended("short")) == []
    assert started(books, 300.0) == ["a"]


def test_without_backfilling_nothing_is_reserved_and_nobody_waits_for_the_window() -> None:
    books = opened(backfill="none")
    books.step(0.0, [Reserved("heat", 0.0, 300.0, watts=600.0)])
    assert started(books, 1.0, job("a", 6), job("long", 3, 900.0)) == ["long"]
    assert explain(books, "a").reason == "set aside"
    assert started(books, 299.0, Ended("long")) == []
    assert started(books, 300.0) == ["a"]


@pytest.mark.parametrize("backfill", ["easy", "conservative"])
def test_a_scenario_knows_its_reserved_watts_too(backfill: str) -> None:
    jobs = JobTable.build(submit_s=[0.0, 1.0, 1.0], run_s=[10.0, 900.0, 200.0],
                          requested_s=[600.0, 900.0, 200.0], procs=[6, 3, 2])
    run = wl.simulate(jobs, machine=wl.Machine(nodes=8, cores_per_node=1, **NODE), power="watts",
                      backfill=backfill, cap="2kW",
                      reservations=[{"start_s": 0, "duration_s": 300, "watts": "600W"}])
    assert run.schedule.start_s.tolist() == [300.0, 310.0, 1.0]


def test_units_that_go_out_of_order_leave_their_idle_power() -> None:
    """Two nodes idle with 180 W, which six busy ones may have: 6 x 90 + 5 x 210 = 1,590 W."""
    books = opened(cap=2000.0)
    books.step(0.0, [CapChanged(1600.0)])
    assert started(books, 1.0, job("a", 5)) == []
    assert explain(books, "a").reason == "set aside"
    assert started(books, 2.0, NodesDown(nodes=(6, 7))) == ["a"]
    assert started(books, 3.0, Ended("a"), NodesUp(nodes=(6, 7)), job("b", 5)) == []
    assert explain(books, "b").reason == "set aside"


@pytest.mark.parametrize("cap_w", [1400.0, 1700.0])
def test_a_job_is_set_aside_only_where_it_fits_on_no_class_of_nodes(cap_w: float) -> None:
    """Idle 4 x 90 + 4 x 200 = 1,160 W; two nodes add 420 W, or 1,600 W of the larger class."""
    machine = wl.Machine(classes=[
        wl.NodeClass(name="g", count=4, cores=1, idle_w=200, active_w=1000),
        wl.NodeClass(name="c", count=4, cores=1, idle_w=90, active_w=300)])
    books = wl.open_books(machine=machine, power="watts", cap=4000.0, placement="first-fit")
    books.step(0.0, [CapChanged(cap_w)])
    fits = cap_w > 1600.0
    assert started(books, 1.0, job("a", 2)) == (["a"] if fits else [])
    assert explain(books, "a").reason == ("starting" if fits else "set aside")


def test_another_policy_finds_the_jobs_that_were_set_aside() -> None:
    books = opened()
    books.step(0.0, [CapChanged(1200.0)])
    books.step(1.0, [job("a", 6), job("b", 1)])
    books = under(books, opened(power="block").policy)
    assert explain(books, "a").reason == "watts"
    assert started(books, 2.0, job("c", 1)) == []
    books = under(books, opened(power="dvfs").policy)
    assert "a" in started(books, 3.0)
