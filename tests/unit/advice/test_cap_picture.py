"""The picture of advised caps: what is limited, and where jobs never run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.thinned import crossed

from wattline.advice.cap import CapAdvice, CapChoice, Tried
from wattline.advice.cap_plot import cap_figure, lost_under
from wattline.advice.limits import Figures, Limits


def advice(limits: Limits) -> CapAdvice:
    free = Figures(600.0, 2.0, 1e9, 0)
    points = ((40.0, 0.0, 9), (60.0, 10.0, 2), (80.0, 900.0, 0), (100.0, 600.0, 0))
    tried = tuple(Tried(cap_w, Figures(wait_s, 3.0, 2e9, refused), (), 0.0)
                  for cap_w, wait_s, refused in points)
    return CapAdvice(100.0, 10.0, free, limits,
                     (CapChoice("block", 80.0, tried[2].figures, tried),), ())


LIMITED = [
    ({"wait": "+60%"}, "mean wait", "16 min"), ({"slowdown": "4"}, "mean bounded slowdown", "4"),
    ({"energy": "1GWh"}, "energy", "1 GWh"),
    ({"energy": "1GWh", "wait": "16min"}, "mean wait", "16 min")]


@pytest.mark.parametrize(("limited", "refused"), crossed(LIMITED, [0, 2], later=pytest.mark.long))
def test_what_is_limited_stands_over_the_caps(
    tmp_path: Path, limited: tuple[dict[str, str], str, str], refused: int
) -> None:
    limit, label, value = limited
    found = advice(Limits(**limit, refused=refused))
    text = found.plot(tmp_path / "caps.svg").read_text()
    assert f"<!-- {label} -->" in text
    assert f"<!-- limit {value} -->" in text
    assert "<!-- jobs never run -->" in text


@pytest.mark.parametrize(("refused", "lost"), [(0, [40.0, 60.0]), (2, [40.0]), (9, [])])
def test_caps_that_lose_more_jobs_than_may_be_are_off_the_line(
    tmp_path: Path, refused: int, lost: list[float]
) -> None:
    found = advice(Limits(wait="+60%", refused=refused))
    assert [each.cap_w for each in lost_under(found, found.choices[0])] == lost
    text = found.plot(tmp_path / "caps.svg").read_text()
    assert ("<!-- jobs never run -->" in text) == bool(lost)


def test_jobs_that_never_run_stand_where_nothing_is_read_off_as_a_wait() -> None:
    strip, axes = cap_figure(advice(Limits(wait="+60%", refused=0))).axes
    assert [list(line.get_xdata()) for line in strip.lines] == [[0.4, 0.6]]
    assert [text.get_text() for text in strip.get_yticklabels()] == ["block"]
    assert not any(line.get_marker() == "x" for line in axes.lines)
    strip.get_figure().draw_without_rendering()
    assert strip.get_position().y0 > axes.get_position().y1
    assert strip.get_xlim() == axes.get_xlim()


def test_there_is_no_strip_where_all_jobs_run() -> None:
    assert len(cap_figure(advice(Limits(wait="+60%", refused=9))).axes) == 1
