"""The report in a browser: what people point at, drag, click and press."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.browsers import soon
from tests.support.run_maker import fcfs_run, some_jobs
from wattline.analysis import series
from wattline.analysis.report import report
from wattline.analysis.summary import power_text
from wattline.model.run import Run

from .conftest import HOSTILE, Looking

pytestmark = pytest.mark.browser

Look = Callable[..., Looking]


def peak(run: Run) -> float:
    """Return where the power is highest, as a part of the run: the middle of that step."""
    steps = series.power_steps(run)
    row = int(np.argmax(steps.value))
    middle_s = (steps.edge_s[row] + steps.edge_s[row + 1]) / 2
    return float((middle_s - run.start_s) / (run.end_s - run.start_s))


def test_the_page_asks_for_nothing_and_nothing_goes_wrong(one: Path, look: Look) -> None:
    seen = look(one)
    charts = seen.page.locator(".uplot canvas")
    soon(charts.count, lambda count: count == 6)
    assert HOSTILE in seen.said("power")
    assert HOSTILE in seen.said("job-map")
    seen.page.get_by_role("button", name="Dark colours").click()
    seen.page.set_viewport_size({"width": 700, "height": 900})
    assert seen.wrong == []


def test_pointing_at_the_peak_shows_the_runs_peak_power(
    one: Path, plain: Run, look: Look
) -> None:
    seen = look(one)
    seen.point("power", peak(plain))
    assert power_text(plain.power_w_peak) in seen.said("power")
    assert re.search(r"199\d-\d\d-\d\d \d\d:\d\d(:\d\d)? UTC", seen.said("power"))
    assert "%" in seen.said("utilisation")  # the same moment, in the chart below
    seen.point("power-duration", 0)
    assert power_text(plain.power_w_peak) in seen.said("power-duration")


def test_pointing_at_the_map_names_whose_job_it_is(one: Path, plain: Run, look: Look) -> None:
    place = plain.placement
    assert place is not None
    length_s = plain.schedule.end_s - plain.schedule.start_s
    row = int(np.argmax(length_s[place.job] * place.count))
    job = int(place.job[row])
    middle_s = (plain.schedule.start_s[job] + plain.schedule.end_s[job]) / 2
    seen = look(one)
    seen.point("job-map", (middle_s - plain.start_s) / (plain.end_s - plain.start_s),
               (place.first[row] + place.count[row] / 2) / plain.units)
    seen.settle()
    said = seen.page.locator('[data-chart="job-map"] .readout').inner_text()
    assert said.endswith(plain.jobs.name_of("user", int(plain.jobs.user[job])))


def test_dragging_zooms_all_charts_over_time_and_a_double_click_shows_all(
    one: Path, look: Look
) -> None:
    seen = look(one)
    whole = seen.range("power")
    seen.drag("power", 0.25, 0.5)
    begin, end = seen.range("power")
    length = whole[1] - whole[0]
    assert begin == pytest.approx(whole[0] + 0.25 * length, abs=0.01 * length)
    assert end == pytest.approx(whole[0] + 0.5 * length, abs=0.01 * length)
    assert seen.range("queue") == seen.range("job-map") == (begin, end)
    assert seen.range("power-duration") == (0, 1)
    box = seen.plot("power")
    seen.page.mouse.dblclick(box["x"] + 50, box["y"] + 50)
    assert seen.range("power") == seen.range("queue") == whole
    assert seen.wrong == []


def test_the_closest_view_shows_a_step_as_it_was(one: Path, plain: Run, look: Look) -> None:
    seen = look(one)
    across = peak(plain)
    seen.drag("power", across - 0.01, across + 0.01)
    seen.point("power", 0.5)
    seen.settle()
    value = seen.page.locator('[data-chart="power"] .legend .value').first.inner_text()
    assert value == power_text(plain.power_w_peak)


def test_keys_zoom_and_read_values(one: Path, look: Look) -> None:
    seen = look(one)
    whole = seen.range("waits")
    seen.page.locator('[data-chart="waits"] .canvas').focus()
    seen.page.keyboard.press("+")
    begin, end = seen.range("waits")
    assert whole[0] < begin < end < whole[1]
    seen.page.keyboard.press("ArrowRight")
    assert "waited at most" in seen.said("waits")
    seen.page.keyboard.press("Escape")
    assert seen.range("waits") == whole


def test_buttons_zoom_and_move(one: Path, look: Look) -> None:
    seen = look(one)
    whole = seen.range("power")
    tools = seen.page.locator('[data-chart="power"] .tools')
    tools.get_by_role("button", name="Zoom in").click()
    begin, end = seen.range("power")
    assert end - begin == pytest.approx((whole[1] - whole[0]) / 2)
    tools.get_by_role("button", name="Move to the right").click()
    tools.get_by_role("button", name="Move to the right").click()
    assert seen.range("power")[1] == whole[1]
    assert seen.range("power")[0] == pytest.approx(whole[1] - (end - begin))
    tools.get_by_role("button", name="Show the whole range").click()
    assert seen.range("power") == whole


def test_a_name_hides_and_shows_its_run(several: Path, look: Look) -> None:
    seen = look(several)
    name = seen.page.locator('[data-chart="power"] .legend button').first
    name.click()
    assert name.get_attribute("aria-pressed") == "false"
    seen.point("power", 0.3)
    seen.settle()
    values = seen.page.locator('[data-chart="power"] .legend .value').all_inner_texts()
    assert values[0] == ""
    assert "W" in values[1]
    assert values[3] == "2.5 kW"  # the cap
    name.focus()
    seen.page.keyboard.press("Enter")
    assert name.get_attribute("aria-pressed") == "true"


def column(seen: Looking, table: int, number: int) -> list[float]:
    cells = seen.page.locator(f"table[data-sortable] >> nth={table}").locator(
        f"tbody td:nth-child({number})")
    return [float(cell) for cell in cells.evaluate_all("cells => cells.map(c => c.dataset.value)")]


def test_tables_are_sorted_by_click_and_by_key(one: Path, look: Look) -> None:
    seen = look(one)
    head = seen.page.locator("table[data-sortable] >> nth=1").locator("th >> nth=4")
    before = column(seen, 1, 5)
    assert before != sorted(before)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(seen, 1, 5) == sorted(before)
    head.locator("button").focus()
    seen.page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert column(seen, 1, 5) == sorted(before, reverse=True)
    seen.page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") is None
    assert column(seen, 1, 5) == before


def test_every_table_can_be_sorted(several: Path, look: Look) -> None:
    seen = look(several)
    tables = seen.page.locator("table").count()
    assert seen.page.locator("table[data-sortable]:has(th button)").count() == tables


def test_a_figure_that_is_missing_is_sorted_last(several: Path, look: Look) -> None:
    seen = look(several)
    table = seen.page.locator("table[data-sortable] >> nth=0")
    for _ in range(2):
        table.get_by_role("button", name="ratio").first.click()
        shown = table.locator("tbody td:nth-child(5)").all_inner_texts()
        missing = [text == "-" for text in shown]
        assert any(missing)
        assert missing == sorted(missing)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_and_the_switch(one: Path, look: Look, scheme: str) -> None:
    seen = look(one, color_scheme=scheme)

    def paper() -> int:
        colour = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    assert (paper() < 150) == (scheme == "dark")
    other = "Light" if scheme == "dark" else "Dark"
    seen.page.get_by_role("button", name=f"{other} colours").click()
    assert (paper() < 150) == (scheme == "light")
    seen.page.reload()
    assert (paper() < 150) == (scheme == "light")  # it is kept


def test_a_narrow_page_does_not_scroll_sideways(several: Path, look: Look) -> None:
    seen = look(several, width=400)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 400
    assert seen.plot("power")["width"] >= 250
    assert seen.plot("power")["height"] >= 120
    table = seen.page.locator(".scroll").first
    assert table.evaluate("e => e.scrollWidth > e.clientWidth")  # it scrolls by itself
    first = table.locator("tbody td").first
    before = first.bounding_box()["x"]
    table.evaluate("e => e.scrollLeft = 200")
    seen.settle()
    assert first.bounding_box()["x"] == before  # what the row is about stays in sight


def test_a_printed_page_has_heads_on_its_tables_and_no_tools(one: Path, look: Look) -> None:
    seen = look(one)
    seen.page.emulate_media(media="print")
    assert seen.page.locator("th button").first.is_visible()
    assert not seen.page.locator(".tools").first.is_visible()


def test_type_is_larger_on_a_wall(one: Path, look: Look) -> None:
    sizes = [look(one, width=width).page.evaluate(
        "parseFloat(getComputedStyle(document.body).fontSize)") for width in (400, 1280, 2560)]
    assert sizes[0] == sizes[1] == 16
    assert sizes[2] >= 1.4 * sizes[1]


def test_without_scripts_there_are_pictures_and_tables(one: Path, look: Look) -> None:
    seen = look(one, java_script_enabled=False)
    images = seen.page.locator("figure img")
    assert images.count() == 6
    assert all(image.is_visible() for image in images.all())
    assert seen.page.locator("table[data-sortable]").first.is_visible()
    assert not seen.page.get_by_role("button").first.is_visible()


def test_a_log_without_dates_shows_the_time_since_its_beginning(
    plain: Run, tmp_path: Path, look: Look
) -> None:
    seen = look(report(replace(plain, scenario={}), tmp_path))
    assert "00:00:00 to " in seen.said("power")
    assert "since the first submission" in seen.said("power")
    assert "UTC" not in seen.said("power")
    assert seen.wrong == []


def test_two_runs_and_their_ratio_fit_on_a_narrow_screen(
    plain: Run, capped: Run, look: Look, tmp_path: Path
) -> None:
    seen = look(report({"no cap": plain, "with a cap": capped}, tmp_path), width=400)
    assert seen.page.evaluate(
        "(box => box.scrollWidth - box.clientWidth)(document.querySelector('.scroll'))") <= 0


def test_the_legend_of_the_map_has_each_name_once(look: Look, tmp_path: Path) -> None:
    users = tuple("abcdefghi")
    jobs = replace(some_jobs(120), user=np.arange(120) % len(users), names={"user": users})
    seen = look(report({"run": fcfs_run(jobs)}, tmp_path))
    named = seen.page.locator('[data-chart="job-map"] .legend li').all_inner_texts()
    assert len(named) == 7
    assert named.count("other users") == 1
