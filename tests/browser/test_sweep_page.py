"""The report of a sweep on narrow and wide screens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import wattline as wl
from wattline.sweeps.report import write_report
from wattline.sweeps.running import Counts

from .conftest import Looking

pytestmark = pytest.mark.browser

Look = Callable[..., Looking]
FIGURES = ("energy_j", "wait_s.mean", "wait_s.p95", "bounded_slowdown.mean", "utilisation",
           "makespan_s", "power_w.peak", "time_above_cap_s", "jobs.completed", "jobs.not_run")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = tuple({"number": number,
                  "setting": {"policy.power": f"value {number}", "power.cap": "90%",
                              "policy.order": "sjf"},
                  "figures": dict.fromkeys(FIGURES, 5000.0 * (1 + number))}
                 for number in range(3))
    found = wl.SweepResult("s", ("policy.power", "power.cap", "policy.order"), rows,
                           Counts(points=3), 1.0)
    return write_report(found, tmp_path_factory.mktemp("sweep") / "report.html")


@pytest.mark.parametrize(("width", "shown"), [(400, "narrow"), (1280, "wide")])
def test_a_screen_has_the_pictures_that_it_has_room_for(
    page: Path, look: Look, width: int, shown: str
) -> None:
    seen = look(page, width=width)
    for name in ("narrow", "wide"):
        drawn = seen.page.locator(f".drawn.{name}").all()
        assert len(drawn) == 3
        assert [each.is_visible() for each in drawn] == [name == shown] * 3
    heights = seen.page.locator(f".drawn.{shown} text").evaluate_all(
        "texts => texts.map(text => text.getBoundingClientRect()).map("
        "box => Math.min(box.width, box.height)).filter(size => size > 0)")
    assert min(heights) >= 8
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen.wrong == []


def test_no_word_of_a_first_column_is_broken(page: Path, look: Look) -> None:
    seen = look(page, width=400)
    # A range over a word has more than one box where it goes on in the next line.
    broken = seen.page.locator("th:first-child, td:first-child").evaluate_all("""cells => {
      const broken = [];
      for (const cell of cells) {
        const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        for (let node = walk.nextNode(); node; node = walk.nextNode()) {
          for (const found of node.data.matchAll(/\\S+/g)) {
            const range = document.createRange();
            range.setStart(node, found.index);
            range.setEnd(node, found.index + found[0].length);
            if (range.getClientRects().length > 1) broken.push(found[0]);
          }
        }
      }
      return broken;
    }""")
    assert broken == []


def test_tables_take_the_room_that_a_wide_screen_has(page: Path, look: Look) -> None:
    seen = look(page, width=1600)
    hidden = seen.page.locator(".scroll").evaluate_all(
        "boxes => boxes.map(box => box.scrollWidth - box.clientWidth)")
    assert hidden == [0] * len(hidden)
    assert seen.page.locator("p").first.bounding_box()["width"] < 800
