"""The front of a sweep: equal settings stand there once, and its picture can be read."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

import wattline as wl
from wattline.analysis.drawing import NARROW
from wattline.cli.sweep import MOST_ROWS, _print
from wattline.sweeps.plots import draw_effects, draw_front
from wattline.sweeps.report import write_report
from wattline.sweeps.running import Counts
from wattline.sweeps.wording import figure_text, heading

GOALS = ("energy_j", "wait_s.mean")


def found(places: list[tuple[float, float]]) -> wl.SweepResult:
    rows = tuple({"number": number, "setting": {"a.quite.long.field": f"value number {number}"},
                  "figures": {"energy_j": joules, "wait_s.mean": wait_s, "jobs.completed": 5.0}}
                 for number, (joules, wait_s) in enumerate(places))
    return wl.SweepResult("s", ("a.quite.long.field",), rows, Counts(points=len(rows)), 1.0)


def test_settings_that_are_equal_stand_on_the_front_once() -> None:
    many = found([(2.0, 1.0), (1.0, 2.0), (2.0, 1.0), (3.0, 3.0)])
    assert [each.values["a.quite.long.field"][-1] for each in many.pareto()] == ["0", "1"]
    assert [len(alike) for alike in many.front()] == [2, 1]
    told = many.to_dict()["pareto"]
    assert told[0]["alike"] == [{"a.quite.long.field": "value number 2"}]
    assert told[1]["alike"] == []


def test_a_setting_that_is_as_good_in_one_figure_and_worse_in_another_is_not_on_the_front() -> None:
    beaten = found([(1.0, 2.0), (1.0, 3.0), (2.0, 2.0), (0.5, 4.0)])
    assert [each.values["a.quite.long.field"][-1] for each in beaten.pareto()] == ["0", "3"]


def test_labels_lie_neither_over_one_another_nor_over_points() -> None:
    close = found([(3.6e9 * (1 + 0.004 * place), 3600.0 * (12 - place)) for place in range(12)])
    figure = draw_front(close, GOALS)
    axes = figure.axes[0]
    boxes = [text.get_window_extent() for text in axes.texts]
    assert 4 <= len(boxes) <= 12
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    points = axes.transData.transform(axes.lines[-1].get_xydata())
    assert not any(box.contains(*point) for box in boxes for point in points)


def test_labels_spare_the_other_points_where_there_is_room() -> None:
    # The second lies up and to the right of the first, where its name would else stand.
    figure = draw_front(found([(3.6e9, 3600.0), (3.7e9, 3720.0), (7.2e9, 7200.0)]), GOALS)
    axes = figure.axes[0]
    others = axes.transData.transform(axes.lines[0].get_xydata())
    (name,) = axes.texts
    assert not any(name.get_window_extent().contains(*point) for point in others)


def test_narrow_pictures_have_one_pane_under_the_other() -> None:
    rows = tuple({"number": number, "setting": {"a": number, "b": -number},
                  "figures": {"energy_j": 1e9 + number, "wait_s.mean": 5.0, "jobs.completed": 5.0}}
                 for number in range(3))
    two = wl.SweepResult("s", ("a", "b"), rows, Counts(points=3), 1.0)
    wide, narrow = (draw_effects(two, "energy_j", width) for width in (False, True))
    for figure in (wide, narrow):
        figure.draw_without_rendering()
    places = [[pane.get_position().x0 for pane in figure.axes] for figure in (wide, narrow)]
    assert places[0][0] + 0.2 < places[0][1]
    assert places[1][0] == pytest.approx(places[1][1])
    assert narrow.get_figwidth() == draw_front(two, GOALS, narrow=True).get_figwidth() == NARROW


def test_the_page_has_each_picture_for_wide_and_narrow_screens(tmp_path: Path) -> None:
    page = write_report(found([(1e9, 2.0), (2e9, 1.0)]), tmp_path / "report.html").read_text()
    assert (page.count('class="drawn wide"'), page.count('class="drawn narrow"')) == (3, 3)
    assert "<img" not in page


def test_the_page_names_figures_in_words_and_breaks_names_behind_their_dots(
    tmp_path: Path,
) -> None:
    page = write_report(found([(1e9, 2.0), (2e9, 1.0)]), tmp_path / "report.html").read_text()
    assert "What moves mean wait" in page
    assert "no other beats in energy and mean wait" in page
    assert "energy_j" not in page
    assert "<th data-sort>a.<wbr>quite.<wbr>long.<wbr>field</th>" in page


@pytest.mark.parametrize(("equal", "said"), [
    (1, "1 further setting is equal to one of these in all of that, and stands among"),
    (2, "2 further settings are equal to one of these in all of that, and stand among")])
def test_settings_left_out_of_the_front_are_said(tmp_path: Path, equal: int, said: str) -> None:
    many = found([(1e9, 2.0)] * (1 + equal))
    assert said in write_report(many, tmp_path / "report.html").read_text()


@pytest.mark.parametrize(("expression", "words"), [
    ("wait_s", "Mean wait"), ("wait_s.p99", "wait.p99"), ("energy_above_cap_j", "Energy above the "
     "cap"), ("spent_j", "spent"), ("energy_j + wait_s", "energy_j + wait_s")])
def test_a_heading_has_no_unit_that_figures_below_it_may_not_have(
    expression: str, words: str
) -> None:
    assert heading(expression) == words


def test_ticks_are_round_in_the_unit_of_their_axis() -> None:
    figure = draw_front(found([(4.1e9, 90.0 * 60), (8.9e9, 20.0 * 60)]), GOALS)
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Energy (MWh)", "Mean wait (min)")
    for ticks in (axes.get_xticks(), axes.get_yticks()):
        assert all(round(tick, 1) == pytest.approx(tick) for tick in ticks)


@pytest.mark.parametrize(("name", "value", "text"), [
    ("energy_j", 7.2e9, "2 MWh"), ("wait_s.p95", 90.0, "90 s"), ("power_w.peak", 1500.0, "1.5 kW"),
    ("wait_s.p95/energy_j", 90.0, "90"), ("utilisation", 0.5, "0.5"), ("energy_j", -5.0, "-5")])
def test_a_figure_has_the_unit_of_its_name(name: str, value: float, text: str) -> None:
    assert figure_text(name, value) == text


def test_the_terminal_shows_no_more_than_can_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    _print(found([(1.0 + place, 100.0 - place) for place in range(MOST_ROWS + 3)]), [])
    said = capsys.readouterr().out
    assert (said.count("value number"), "and 3 more" in said) == (MOST_ROWS, True)
    assert "equal" not in said
    _print(found([(1.0, 1.0)] * 74), [])
    said = capsys.readouterr().out
    assert (said.count("value number"), "73 others" in said) == (1, True)


def test_an_expression_is_worked_out_per_seed_and_then_averaged() -> None:
    rows = tuple({"number": number, "setting": {"a": 1, "trace.seed": number},
                  "figures": {"energy_j": joules, "wait_s.mean": wait_s, "jobs.completed": 5.0}}
                 for number, (joules, wait_s) in enumerate([(2.0, 1.0), (2.0, 4.0)]))
    goal = "energy_j / wait_s"
    seeded = wl.SweepResult("s", ("a", "trace.seed"), rows, Counts(points=2), 1.0,
                            objectives=(goal,), subject_to=(f"{goal} <= 1.25",))
    assert seeded.to_dict()["pareto"][0][goal]["mean"] == 1.25  # of the means it is 0.8
    assert seeded.effects(goal) == {"a": {"1": 1.25}}
    assert len(seeded.best(goal)) == 1
