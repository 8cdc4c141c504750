"""Small things that pages say: standing still, a first value, tiny sums, the wall, old answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import Looking
from tests.support.browsers import soon
from tests.support.dashboard import Dashboard

from .conftest import Visit, until

pytestmark = pytest.mark.browser
SLOW_MS = 180_000


def changed(seen: Looking, path: str, change: Callable[[Any], Any]) -> None:
    """Let what the server answers be changed on its way."""
    def answer(route: Any) -> None:
        found = route.fetch()
        route.fulfill(response=found, body=json.dumps(change(found.json())))

    seen.page.route(f"**/api/{path}", answer)


def without_events(seen: Looking) -> None:
    seen.page.route("**/api/events", lambda route: route.abort())


def test_what_stands_still_is_not_called_live(served: Dashboard, visit: Visit) -> None:
    seen = visit(served, "plan/bid")
    pulse = seen.page.locator(".pulse")
    seen.page.locator('.pulse[data-state="live"]').wait_for()
    assert pulse.inner_text() == "Live"
    changed(seen, "about", lambda about: about | {"source": about["source"] | {"speed": 0}})
    seen.page.reload()
    seen.page.locator('.pulse[data-state="still"]').wait_for()
    assert pulse.inner_text() == "Stands still"
    assert seen.page.locator(".banner").is_hidden()


def test_a_first_value_is_drawn_and_called_the_only_one(served: Dashboard, visit: Visit) -> None:
    seen = visit(served, "plan/bid")
    without_events(seen)
    changed(seen, "now", lambda now: now | {"time_s": 0.0, "epoch_s": None})
    changed(seen, "history?*", lambda _: {"time_s": [0.0], "power_w": [3090.0], "cap_w": [None],
                                          "target_w": None, "queued": [0]})
    seen.page.reload()  # the events that the first page listens to are the true ones
    seen.page.get_by_role("link", name="Now").click()
    summary = seen.page.locator(".chart .summary").first
    until(seen, "() => document.querySelector('.chart .summary')?.textContent")
    assert summary.inner_text() == "power: 3.09 kW, the only value so far."
    dotted = ("() => { const canvas = document.querySelector('.chart canvas');"
              "const { width, height } = canvas; const colours = new Set();"
              "const all = canvas.getContext('2d').getImageData(0, 0, width, height).data;"
              "for (let at = 0; at < all.length; at += 4) if (all[at + 3] === 255"
              "  && Math.abs(all[at] - all[at + 2]) > 60) colours.add(at);"
              "return colours.size > 20; }")
    until(seen, dotted)  # a point of colour; axes and texts are grey, and it is drawn a frame later


def test_a_tiny_sum_is_not_called_nothing(served: Dashboard, visit: Visit) -> None:
    seen = visit(served, "plan/bid")
    costs = {"amount": 0.00001, "currency": "EUR"}
    changed(seen, "jobs/*", lambda job: job | {"cost": costs})
    seen.page.goto(f"{served.address}#/jobs")
    seen.page.locator(".jobs tbody a").first.click()
    cost = seen.page.locator('[data-tile="Cost"] .value')
    cost.wait_for()
    assert cost.inner_text() == "below 0.0001 EUR"
    costs["amount"] = 0.0
    seen.page.reload()
    cost.wait_for()
    assert cost.inner_text() == "0.00 EUR"


def test_how_a_job_ran_is_said_by_its_frequency_alone(served: Dashboard, visit: Visit) -> None:
    seen = visit(served, "plan/bid")
    common = {"nodes": 2, "cores": None, "cap_w": None, "frequency_ghz": None, "basis": "predicted"}
    rows = [common | {"speed": None, "time_s": 9.0, "energy_j": 9.0, "chosen": True},
            common | {"speed": 0.6, "time_s": 12.0, "energy_j": 8.0, "chosen": False}]
    changed(seen, "jobs/*", lambda job: job | {"alternatives": rows})
    seen.page.goto(f"{served.address}#/jobs")
    seen.page.locator(".jobs tbody a").first.click()
    table = seen.page.get_by_role("region", name="Configurations with their")
    table.wait_for()
    assert "cap" not in table.inner_text()
    assert "60 %" in table.inner_text()


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (1280, 720), (400, 800)])
def test_the_wall_says_what_parts_may_carry_and_that_racks_are_not_all(
    served: Dashboard, visit: Visit, width: int, height: int
) -> None:
    seen = visit(served, query="?wall", width=width, height=height)
    parts = seen.page.locator(".parts")
    parts.get_by_role("heading", name="By rack: top 4 of 8").wait_for()
    assert parts.get_by_text("of 60 kW").first.is_visible()
    hidden = ("() => [...document.querySelectorAll('.parts td, .parts h3')].filter((one) => {"
              "const card = one.closest('.card').getBoundingClientRect();"
              "const { right, bottom } = one.getBoundingClientRect();"
              "return right > card.right + 1 || bottom > card.bottom + 1; })"
              ".map((one) => one.textContent)")
    assert seen.page.evaluate(hidden) == []
    assert seen.page.evaluate("() => [...document.querySelectorAll('.parts .bar')].every("
                              "(one) => one.getBoundingClientRect().width > 20)")
    assert seen.page.locator(".orders").is_hidden()  # there is nothing to press on a wall


def test_the_queue_is_not_asked_for_twice_at_first(served: Dashboard, visit: Visit) -> None:
    seen = visit(served, "plan/bid")
    given_up: list[str] = []
    asked: list[str] = []
    seen.page.on("requestfailed", lambda request: given_up.append(request.url))
    seen.page.on("request", lambda request: asked.append(request.url))
    # Slower than a beat: what is on its way is waited for.
    seen.page.route("**/api/queue?*", lambda route: (seen.page.wait_for_timeout(1500),
                                                     route.continue_()))
    seen.page.get_by_role("link", name="Now").click()
    seen.page.get_by_role("region", name="Jobs that wait").wait_for()
    assert [url for url in given_up if "/api/queue" in url] == []
    assert sum("/api/queue" in url for url in asked) <= 2


def test_after_a_mistake_the_answer_before_is_marked_as_old(
    served: Dashboard, visit: Visit
) -> None:
    seen = visit(served, "whatif")
    page = seen.page
    page.get_by_text("cap of 70 %").wait_for(timeout=SLOW_MS)
    notice = page.locator(".whatif .notice")
    assert notice.is_hidden()
    page.get_by_label("Order of the queue").select_option("wfp")
    page.get_by_label("exponent").fill("99")
    page.get_by_role("alert").wait_for(timeout=SLOW_MS)
    assert "openapi" not in page.get_by_role("alert").inner_text()
    old = "() => document.querySelector('.answer').dataset.stale === 'true'"
    until(seen, old)
    soon(notice.inner_text, lambda said: said.startswith(
        "Below is the answer to the question before: "))
    page.get_by_label("How the cap is kept").select_option("budget")
    page.get_by_text("budget needs its energy, in J.").wait_for()
    until(seen, old)
    page.get_by_label("How the cap is kept").select_option("dvfs")
    page.get_by_label("exponent").fill("2")
    until(seen, "() => document.querySelector('[data-stale]') === null")
    notice.wait_for(state="hidden")
