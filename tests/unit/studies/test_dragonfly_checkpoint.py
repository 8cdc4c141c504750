"""A comparison that was ended goes on from what its file holds."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import wattline
from wattline.model.errors import InputError
from wattline.network.packets import Rule
from wattline.studies.dragonfly import compare as comparing
from wattline.studies.dragonfly.checkpoint import SOURCES, Checkpoint
from wattline.studies.dragonfly.compare import POLICIES, Pool, WorkloadSettings
from wattline.studies.dragonfly.comparison import PlacementComparison
from wattline.studies.dragonfly.plots import points, quarters


@pytest.fixture
def asked(monkeypatch):
    """Numbers of the workloads that were run, which take as many seconds as their number says,
    and a hundred more for the number of the run."""
    numbers = []

    def run(settings, chunk, run):
        numbers.extend(chunk)
        times = np.full((len(chunk), len(POLICIES), 2), 1.0 + 100.0 * run)
        times += np.array(chunk)[:, None, None]
        return times, times[..., 0] / 3.0, times[..., 0]

    monkeypatch.setattr(comparing, "run_chunk", run)
    return numbers


def run(path, workloads, settings=WorkloadSettings()):  # noqa: B008  it is frozen
    with Pool(1) as pool:
        return comparing.compare(settings, workloads, pool, Checkpoint(path))


def test_only_what_is_missing_is_run(asked, tmp_path):
    path = tmp_path / "found.jsonl"
    run(path, 7)
    assert asked == list(range(7))
    asked.clear()
    whole = run(path, 12)
    assert asked == list(range(7, 12))
    np.testing.assert_array_equal(whole.time_s[:, 0, 0], np.arange(12) + 1.0)
    np.testing.assert_array_equal(whole.waited_node_s[:, 0], (np.arange(12) + 1.0) / 3.0)


def test_a_line_that_was_cut_off_is_made_again(asked, tmp_path):
    path = tmp_path / "found.jsonl"
    run(path, 7)
    path.write_text(path.read_text()[:-20])
    asked.clear()
    assert len(run(path, 7).time_s) == 7
    assert asked == [6]
    asked.clear()
    run(path, 7)
    assert asked == []


def test_more_runs_add_to_those_that_are_there(asked, tmp_path):
    path = tmp_path / "found.jsonl"
    run(path, 3)
    asked.clear()
    twice = run(path, 3, WorkloadSettings(repeats=3))
    assert asked == [0, 1, 2, 0, 1, 2]
    np.testing.assert_allclose(twice.time_s[:, 0, 0], np.arange(3) + 1.0 + 100.0)


def test_other_settings_are_another_comparison(asked, tmp_path):
    path = tmp_path / "found.jsonl"
    run(path, 3, WorkloadSettings(packets=True, rule=Rule(3.0)))
    asked.clear()
    run(path, 3, WorkloadSettings(packets=True))
    assert asked == [0, 1, 2]
    asked.clear()
    run(path, 3, WorkloadSettings(packets=True, rule=Rule(3.0)))
    assert asked == []


def test_a_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("hello\nworld\n")
    with pytest.raises(InputError, match="line 1: not a line of this study's checkpoint"):
        Checkpoint(path)


def test_all_that_a_run_is_made_of_is_in_the_digest():
    home = Path(wattline.__file__).parent
    imported = subprocess.run(
        [sys.executable, "-c", "import sys, wattline.studies.dragonfly.compare; "
         "print(*(getattr(m, '__file__', None) for m in list(sys.modules.values())))"],
        check=True, capture_output=True, text=True, env={"PYTHONPATH": str(home.parent)}).stdout
    rooms = ("network/", "policies/placement/network/", "studies/dragonfly/")
    not_asked = {"network/topology/others.py", "studies/dragonfly/checkpoint.py",
                 "studies/dragonfly/comparison.py"}
    made_of = {place for name in imported.split() if str(home) in name
               if (place := Path(name).relative_to(home).as_posix()).startswith(rooms)
               and not place.endswith("__init__.py")}
    left_out = {place for place in made_of
                if place not in SOURCES and str(Path(place).parent) not in SOURCES}
    assert left_out == not_asked
    assert all((home / place).exists() for place in SOURCES)


def test_quadrants_and_ties_add_up():
    times = np.ones((5, len(POLICIES), 2))
    other = POLICIES.index("jokanovic")
    times[:, other] = [(2, 2), (2, 0.5), (0.5, 2), (0.5, 0.5), (1, 2)]
    found = PlacementComparison(POLICIES, times, times[..., 0], times[..., 0])
    against = found.against(["jokanovic"])
    parts = ("strictly_better", "only_small_better", "only_large_better", "strictly_worse", "tied")
    assert [against[part] for part in parts] == pytest.approx([0.2] * 5)
    assert (against["tied_else_better"], against["tied_else_worse"]) == (0.2, 0.0)


@pytest.mark.parametrize("rounding", [4e-16, -4e-16])
def test_times_that_differ_by_rounding_are_ties(rounding):
    times = np.ones((3, len(POLICIES), 2))
    times[:, POLICIES.index("jokanovic")] = [(1 + rounding, 2), (1 + rounding, 0.5), (1, 1)]
    found = PlacementComparison(POLICIES, times, times[..., 0], times[..., 0])
    against = found.against(["jokanovic"])
    assert against["tied"] == 1.0
    assert against["strictly_better"] == against["strictly_worse"] == 0.0
    assert against["tied_else_better"] == against["tied_else_worse"] == pytest.approx(1 / 3)
    assert set(quarters(points(found, ["jokanovic"])).values()) == {0.0}


def test_cases_of_one_workload_count_as_one_in_the_interval():
    times = np.ones((4, len(POLICIES), 2))
    others = POLICIES[1:8]
    columns = [POLICIES.index(name) for name in others]
    times[:2, columns] = 2.0
    times[2:, columns] = 0.5
    found = PlacementComparison(POLICIES, times, times[..., 0], times[..., 0])
    half = 3.1824 * np.sqrt(1 / 3) / 2  # Student's t of three degrees of freedom
    assert found.against(others[:1])["strictly_better_error"] == pytest.approx(half, rel=2e-3)
    assert found.against(others)["strictly_better_error"] == pytest.approx(half, rel=2e-3)
    assert found.against(others)["mean_reduction_error"] == pytest.approx(1.5 * half, rel=2e-3)
    alone = PlacementComparison(POLICIES, times[:1], times[:1, :, 0], times[:1, :, 0])
    assert alone.against(others)["strictly_better_error"] == 0.0
