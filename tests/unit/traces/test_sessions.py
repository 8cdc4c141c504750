"""The generated log in sessions: bursts, days that differ, large jobs that run longer."""

from __future__ import annotations

import numpy as np
import pytest

from wattline.model.errors import InputError
from wattline.studies.puppet.log_figures import MIRA, log_figures
from wattline.traces.generators import generate, leadership

NODES = leadership.NODES


@pytest.fixture(scope="module")
def figures() -> list[dict[str, float]]:
    return [log_figures(generate("leadership", seed=seed, arrivals="sessions").jobs, NODES)
            for seed in (1, 2)]


@pytest.mark.parametrize(("name", "within"), [
    ("variation of gaps", 0.25), ("variation of daily load", 0.45), ("size and time", 0.25),
    ("large jobs (%)", 0.35), ("their work (%)", 0.12), ("median run (min)", 0.3),
    ("95 % of runs below (h)", 0.05), ("run over request", 0.05),
])
def test_sessions_behave_like_the_log_of_a_real_machine(
    figures: list[dict[str, float]], name: str, within: float
) -> None:
    for found in figures:
        assert found[name] == pytest.approx(MIRA[name], rel=within)


def test_submissions_by_the_hour_have_none_of_this() -> None:
    found = log_figures(generate("leadership", seed=1).jobs, NODES)
    assert found["variation of gaps"] < 1.5
    assert abs(found["size and time"]) < 0.02


def test_every_month_keeps_its_load_and_its_jobs() -> None:
    jobs = generate("leadership", seed=4, arrivals="sessions").jobs
    edges = np.cumsum([month.days for month in leadership.MONTHS]) * 86400.0
    part = np.searchsorted(edges, jobs.submit_s, side="right")
    for number, month in enumerate(leadership.MONTHS):
        mine = part == number
        load = (jobs.procs[mine] * jobs.run_s[mine]).sum() / (NODES * month.days * 86400.0)
        assert load == pytest.approx(month.load, rel=0.01)
        assert mine.mean() == pytest.approx(month.jobs_share, abs=0.001)
    assert np.all(np.diff(jobs.submit_s) >= 0)


def test_a_session_is_of_one_user_and_mostly_of_one_size() -> None:
    jobs = generate("leadership", seed=1, arrivals="sessions", jobs=4000).jobs
    close = np.diff(jobs.submit_s) < 60.0
    same_user = np.diff(jobs.user) == 0
    same_size = np.diff(jobs.procs) == 0
    assert same_user[close].mean() > 0.8
    assert same_user[~close].mean() < 0.4
    assert same_size[close & same_user].mean() > 0.8


def test_the_same_seed_gives_the_same_sessions() -> None:
    first, again, other = (generate("leadership", seed=seed, jobs=300, arrivals="sessions").jobs
                           for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.submit_s, again.submit_s)
    np.testing.assert_array_equal(first.run_s, again.run_s)
    assert np.any(first.submit_s != other.submit_s)
    with pytest.raises(InputError, match="must be one of hours, sessions"):
        generate("leadership", seed=1, arrivals="waves")


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_months_without_a_job_are_left_empty(jobs: int) -> None:
    assert len(generate("leadership", jobs=jobs, nodes=7, arrivals="sessions").jobs) == jobs
