"""The course of the last day, which outlives controllers and servers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from wattline.controller.course import DAY_S, CourseWriter, read_course
from wattline.web.sources.live_course import above_since, history

MIDNIGHT_S = 20_000 * DAY_S


def said(time_s: float, power_w: float, cap_w: float | None = 55.0) -> dict[str, object]:
    return {"time_s": time_s, "power_w": power_w, "measured_w": None, "cap_w": cap_w,
            "waiting": {"count": 2}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for second in range(8):
        # A writer each: a controller that is started again goes on where the last one stopped.
        CourseWriter(tmp_path).write(said(MIDNIGHT_S - 4 + second, 10.0 * second))
    return tmp_path


def test_samples_come_back_in_order_across_midnight_and_other_writers(folder: Path) -> None:
    rows = read_course(folder, MIDNIGHT_S + 10)
    assert rows[:, 0].tolist() == [MIDNIGHT_S - 4 + second for second in range(8)]
    assert rows[:, 1].tolist() == [10.0 * second for second in range(8)]
    assert rows[0, 4] == 2
    assert np.isnan(rows[:, 3]).all()


def test_what_is_older_than_a_day_is_gone_and_its_place_taken(folder: Path) -> None:
    CourseWriter(folder).write(said(MIDNIGHT_S + DAY_S - 4, 999.0, math.inf))
    rows = read_course(folder, MIDNIGHT_S + DAY_S - 1.5)
    assert rows[:, 1].tolist() == [30.0, 40.0, 50.0, 60.0, 70.0, 999.0]
    assert rows[0, 0] == MIDNIGHT_S - 1
    assert math.isnan(rows[-1, 2])
    assert (folder / "course.bin").stat().st_size == DAY_S * 40


def test_a_second_is_written_once_and_measured_watts_come_first(tmp_path: Path) -> None:
    writer = CourseWriter(tmp_path)
    writer.write(said(MIDNIGHT_S, 10.0) | {"measured_w": 12.0, "target": {"watts": 7.0}})
    writer.write(said(MIDNIGHT_S + 0.5, 99.0))
    rows = read_course(tmp_path, MIDNIGHT_S + 1)
    assert rows.tolist() == [[MIDNIGHT_S, 12.0, 55.0, 7.0, 2.0]]


def test_a_time_without_a_controller_is_a_gap_and_not_a_line(folder: Path) -> None:
    CourseWriter(folder).write(said(MIDNIGHT_S + 1000, 40.0))
    found = history(read_course(folder, MIDNIGHT_S + 1000), -math.inf, math.inf, 100)
    assert found.power_w[-3:] == [70.0, None, 40.0]
    assert found.time_s[-2] == MIDNIGHT_S + 4
    assert found.target_w is None


def test_how_long_the_power_is_above_the_cap_is_known(folder: Path) -> None:
    assert above_since(read_course(folder, MIDNIGHT_S + 5)) == MIDNIGHT_S + 2
    CourseWriter(folder).write(said(MIDNIGHT_S + 4, 1.0))
    assert above_since(read_course(folder, MIDNIGHT_S + 5)) is None


def test_a_folder_without_a_course_has_none(tmp_path: Path) -> None:
    assert read_course(tmp_path, 0.0).shape == (0, 5)
    assert history(read_course(tmp_path, 0.0), 0, 1, 10).time_s == []
