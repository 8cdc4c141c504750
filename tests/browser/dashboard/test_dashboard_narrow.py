"""A narrow screen with wide tables and large figures."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Looking
from tests.support.browsers import soon
from tests.support.dashboard import Dashboard

from .conftest import Visit, until

pytestmark = pytest.mark.browser
SLOW_MS = 180_000
TABLES = (("jobs", "Jobs"), ("job/1", "Configurations with their predicted"),
          ("accounts", "Energy and cost by user"), ("whatif", "Users that wait longer"))


def hidden_columns(seen: Looking, name: str) -> dict[str, object]:
    """Return whether a table is wider than its place, what is said of it, and where it stands."""
    found: dict[str, object] = seen.page.get_by_role("region", name=name).evaluate("""place => {
      const box = place.closest('.tablebox'), more = box.querySelector('.more');
      return { wide: place.scrollWidth > place.clientWidth + 1, at: Math.round(place.scrollLeft),
        said: more.offsetParent ? more.innerText : '',
        shade: getComputedStyle(box.querySelector('.frame'), '::after').content !== 'none' }; }""")
    return found


@pytest.mark.parametrize(("page", "name"), TABLES)
def test_a_table_that_is_too_wide_says_so_and_goes_on_by_keys(
    served: Dashboard, visit: Visit, page: str, name: str
) -> None:
    seen = visit(served, page, width=400, height=800)
    place = seen.page.get_by_role("region", name=name)
    place.wait_for(timeout=SLOW_MS)
    first = soon(lambda: hidden_columns(seen, name), lambda found: bool(found["said"]) or (
        not found["wide"]))
    if not first["wide"]:  # all of it is in sight, and nothing is said
        assert (page, first["said"], first["shade"]) == ("whatif", "", False)
        return
    assert (first["said"], first["shade"]) == ("More columns to the right →", True)
    box = seen.page.locator(".tablebox").filter(has=place)
    box.locator(".more").focus()
    seen.page.keyboard.press("Enter")
    soon(lambda: hidden_columns(seen, name), lambda found: found["at"] != 0)
    place.focus()
    seen.page.keyboard.press("End")
    for _ in range(40):
        seen.page.keyboard.press("ArrowRight")
    soon(lambda: hidden_columns(seen, name), lambda found: (
        found["said"] == "← Back to the first columns" and not found["shade"]))
    assert seen.wrong == []


def test_at_full_width_nothing_is_said_of_more_columns(served: Dashboard, visit: Visit) -> None:
    seen = visit(served, "accounts")
    seen.page.get_by_role("region", name="Energy and cost by user").wait_for()
    seen.settle()
    assert seen.page.locator(".tablebox .more:visible").count() == 0


def test_the_queue_stays_scrolled_and_focused_while_it_is_loaded_anew(
    served: Dashboard, visit: Visit
) -> None:
    seen = visit(served, width=400, height=800)
    place = seen.page.get_by_role("region", name="Jobs that wait")
    place.wait_for()
    place.focus()
    place.evaluate("place => { place.scrollLeft = 60; place.dataset.old = 'yes'; }")
    until(seen, "() => !document.querySelector('.queue .scroll').dataset.old")
    assert place.evaluate("place => [place.scrollLeft, document.activeElement === place]") == [
        60, True]


def test_a_figure_on_a_narrow_wall_stands_in_one_line(served: Dashboard, visit: Visit) -> None:
    seen = visit(served, query="?wall", width=400, height=800)
    seen.page.locator('[data-tile="Cap"]').wait_for()
    lines = """() => [...document.querySelectorAll('.tile .value')].map((one) => {
      const all = document.createRange();
      all.selectNodeContents(one);
      return [one.innerText, new Set([...all.getClientRects()].map(box => box.top)).size,
        one.scrollWidth > one.clientWidth + 1]; }).filter(([, rows, cut]) => rows !== 1 || cut)"""
    assert seen.page.evaluate(lines) == []


def test_nodes_and_queue_are_of_the_beat_that_the_figures_are_of(
    served: Dashboard, visit: Visit
) -> None:
    seen = visit(served)
    seen.page.locator('[data-tile="Power"]').wait_for()
    agree = """last => {
      const text = (where) => document.querySelector(where)?.innerText ?? '';
      const busy = text('[data-tile="Nodes busy"] .value');
      const waiting = text('[data-tile="Waiting"] .value');
      const pager = text('.queue .pager'), rows = document.querySelectorAll('.queue tbody tr');
      const drawn = text('[aria-label="Nodes"] .summary');
      return text('.when') !== last && !drawn.includes('As of') && !text('.queue').includes('As of')
        && (drawn.includes(` ${busy} busy`) || (busy === '0' && drawn.includes(' idle')))
        && (pager ? pager.includes(` of ${waiting} jobs`) : String(rows.length) === waiting); }"""
    last = ""
    for _ in range(3):
        until(seen, agree, last)
        last = seen.page.locator(".when").inner_text()
    assert seen.wrong == []
