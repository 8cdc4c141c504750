"""Signals: read strictly, generated with the statistics asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.shared_data import shared

from wattline.grid.signals import generate, hours, load_signal, statistics, window
from wattline.model.errors import InputError
from wattline.model.signal import Signal


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "signal.csv"
    path.write_text(text)
    return path


def test_reads_a_step_function(tmp_path: Path) -> None:
    signal = load_signal(_file(tmp_path, "t_s,regd\n0,-1\n2,0.5\n4,1\n"))
    assert signal.at(3) == 0.5
    assert signal.at(4) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t_s,y\n0,0\n2,1.25\n", r":3: the signal is 1.25, 0.25 outside \[-1, 1\]"),
        ("t_s,y\n0,0\n2,0\n4,0\n60,0\n62,0\n", ":5: gap of 56 s after t_s = 4"),
        ("t_s,y\n0,0\n2,\n", ":3: gap"),
        ("t_s,y\n0,0\n2,nan\n", ":3: gap"),
        ("t_s,y\n0,0\n0,0\n", ":3: t_s is 0 after 0"),
        ("t_s,y\n0,zero\n", ":2: '0,zero' are not two numbers"),
        ("time,y\n0,0\n", ":1: this is not the header"),
        ("t_s,y\n", "no rows"),
        ("", "header"),
    ],
)
def test_bad_files_are_refused_with_their_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        load_signal(_file(tmp_path, text))


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_signal(tmp_path / "none.csv")


@pytest.mark.parametrize("std", [0.2, 0.4, 0.6])
def test_generated_signal_has_the_statistics_asked_for(std: float) -> None:
    signal = generate(np.random.default_rng(0), 1e6, std=std, mean=0.1, correlation_s=120)
    found = statistics(signal)
    assert found.mean == pytest.approx(0.1, abs=0.02)
    assert found.std == pytest.approx(std, rel=0.03)
    assert found.correlation_s == pytest.approx(120, rel=0.15)
    assert np.abs(signal.value).max() <= 1


def test_same_seed_gives_the_same_signal() -> None:
    one = generate(np.random.default_rng(5), 3600)
    two = generate(np.random.default_rng(5), 3600)
    assert np.array_equal(one.value, two.value)


@pytest.mark.parametrize("bad", [{"std": 1.5}, {"mean": 2.0}, {"std": 0.9, "mean": 0.6}])
def test_impossible_statistics_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InputError):
        generate(np.random.default_rng(0), 100, **bad)


def test_window_moves_time_to_zero_and_checks_its_bounds() -> None:
    signal = Signal(np.arange(0, 100, 10.0), np.linspace(0, 0.9, 10))
    part = window(signal, 25, 30)
    assert part.at(0) == pytest.approx(0.2)
    assert part.at(29) == pytest.approx(0.5)
    with pytest.raises(InputError, match="not inside"):
        window(signal, 80, 30)


def test_real_day_of_regulation_signal() -> None:
    signal = load_signal(shared("grid/regulation/pjm_regd_2020-07-16_2s.csv.xz"))
    found = statistics(signal)
    assert found.step_s == 2
    assert found.mileage_per_h == pytest.approx(25.3, abs=0.3)  # as its provenance states
    assert len(list(hours(signal))) == 24
