"""States of pages that a healthy server does not show: errors, nothing there, other roles."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.browser.conftest import Looking
from tests.support.browsers import soon
from tests.support.dashboard import Dashboard

from .conftest import Visit, loaded

pytestmark = pytest.mark.browser


def answering(seen: Looking, path: str, status: int, body: Any) -> None:
    """Let the server seem to answer this."""
    seen.page.route(f"**/api/{path}", lambda route: route.fulfill(
        status=status, content_type="application/json", body=json.dumps(body)))


def test_an_error_is_said_in_words_and_can_be_tried_again(
    served: Dashboard, visit: Visit
) -> None:
    seen = visit(served, "plan/procure")
    answering(seen, "accounts?*", 503, {"error": "the ledger is away", "right": "ask again soon"})
    seen.page.get_by_role("link", name="Accounts").click()
    alert = seen.page.get_by_role("alert")
    alert.wait_for()
    assert "the ledger is away" in alert.inner_text()
    assert "ask again soon" in alert.inner_text()
    seen.page.unroute("**/api/accounts?*")
    alert.get_by_role("button", name="Try again").click()
    seen.page.get_by_role("region", name="Energy and cost by user").wait_for()
    assert seen.page.get_by_role("alert").count() == 0


def test_nothing_to_show_is_said(served: Dashboard, visit: Visit) -> None:
    seen = visit(served, "plan/bid")
    answering(seen, "jobs?*", 200, {"total": 0, "offset": 0, "jobs": []})
    answering(seen, "budget", 200, {"periods": [], "assumptions": []})
    seen.page.get_by_role("link", name="Jobs").click()
    seen.page.get_by_text("There are no jobs yet.").wait_for()
    seen.page.get_by_role("link", name="Accounts").click()
    seen.page.get_by_text("No budget is set.").wait_for()


def test_who_may_only_look_is_offered_no_change(served: Dashboard, visit: Visit) -> None:
    seen = visit(served, "plan/bid")
    answering(seen, "me", 200, {"role": "viewer", "user": "ann", "csrf": "x"})
    seen.page.goto(served.address)
    seen.page.locator('[data-tile="Power"]').wait_for()
    assert seen.page.get_by_role("button", name="Change the machine").count() == 0


def test_who_is_not_known_is_asked_for_a_token(served: Dashboard, visit: Visit) -> None:
    seen = visit(served, "plan/bid")
    answering(seen, "me", 401, {"error": "say who you are", "right": None})
    answering(seen, "login", 401, {"error": "this token is not known here", "right": None})
    seen.page.goto(served.address)
    seen.page.get_by_label("Token").fill("guessed")
    seen.page.get_by_role("button", name="Log in").click()
    seen.page.get_by_role("alert").wait_for()
    assert "not known here" in seen.page.get_by_role("alert").inner_text()


def test_racks_stand_for_nodes_where_there_are_thousands(
    served: Dashboard, visit: Visit
) -> None:
    seen = visit(served, "plan/bid")
    seen.page.route("**/api/nodes?offset=0*", lambda route: route.fulfill(
        status=200, content_type="application/json", body=json.dumps(
            {"total": 10_000, "first": 0, "names": ["n1"], "state": ["idle"], "power_w": [1.0],
             "job": [None]})))
    answering(seen, "racks", 200, {
        "name": ["r1", "r2"], "nodes": [100, 9_900], "power_w": [1e4, None],
        "state_counts": [{"busy": 100}, {"idle": 9_000, "down": 900}]})
    seen.page.get_by_role("link", name="Now").click()
    seen.page.get_by_role("heading", name="Racks").wait_for()
    seen.page.locator(".map canvas").focus()
    seen.page.keyboard.press("ArrowRight")
    soon(seen.page.locator(".map + .readout").inner_text,
         lambda said: said == "r2: 9,900 nodes, –, 9000 idle, 900 down")


@pytest.mark.parametrize("address", ["nowhere", "jobs/702", "%", "constructor", "plan/unknown"])
def test_an_address_without_a_page_is_said_with_a_way_on(
    served: Dashboard, visit: Visit, address: str
) -> None:
    seen = visit(served, address)
    loaded(seen, "nowhere")
    assert f"There is no page #/{address}" in seen.page.locator("main").inner_text()
    seen.page.get_by_role("link", name="Go to Now").click()
    loaded(seen, "now")
    assert seen.wrong == []


BY_HAND = """
window.EventSource = class extends EventTarget {
  constructor() { super(); window.beats = this; }
  close() {}
  tell(now) { this.dispatchEvent(new MessageEvent("now", { data: JSON.stringify(now) })); }
};
"""
"""Beats come when the test says so."""


def by_hand(served: Dashboard, visit: Visit, page: str) -> tuple[Looking, dict[str, Any]]:
    """A page whose beats the test gives, and the figures of one."""
    seen = visit(served, "plan/bid")
    seen.page.add_init_script(BY_HAND)
    seen.page.goto("about:blank")
    seen.page.goto(f"{served.address}#/{page}")
    return seen, httpx.get(f"{served.address}api/now").json()


def beat(seen: Looking, now: dict[str, Any], **changes: Any) -> None:
    seen.page.evaluate("now => window.beats.tell(now)", now | changes)


def test_power_is_not_drawn_on_while_the_source_is_silent(
    served: Dashboard, visit: Visit
) -> None:
    seen, now = by_hand(served, visit, "now")
    last_s = now["time_s"]
    answering(seen, "history?*", 200, {
        "time_s": [last_s - 2, last_s - 1], "power_w": [50e3, 51e3], "cap_w": [70e3, 70e3],
        "target_w": None, "queued": [0, 0]})
    seen.page.reload()
    seen.page.locator(".chart .summary").first.wait_for()
    seen.page.get_by_role("button", name="1 h").first.click()
    for second in range(12):  # the last word was at second 4, which is known from second 10 on
        beat(seen, now, time_s=last_s + second, power_w=52e3,
             stale_s=second - 4.0 if second >= 10 else 0.0)
    seen.page.get_by_role("button", name="Table").first.click()
    rows = seen.page.get_by_role("region", name="Power, as a table").locator("tbody tr")
    power = [row.locator("td").first.inner_text() for row in rows.all()]
    assert power == ["50 kW", "51 kW"] + ["52 kW"] * 5 + ["–"] * 7
    assert seen.wrong == []


@pytest.mark.parametrize("page", ["jobs", "job"])
def test_figures_that_stand_still_say_as_of_when(
    served: Dashboard, visit: Visit, page: str
) -> None:
    found = httpx.get(f"{served.address}api/jobs?state=running&limit=1").json()
    running = found["jobs"][0]["id"]
    seen, now = by_hand(served, visit, f"job/{running}" if page == "job" else "jobs?state=running")
    loaded(seen, page)
    said = seen.page.locator(".asof")
    beat(seen, now, time_s=now["time_s"] + 90_000)
    soon(said.inner_text, lambda text: text.startswith("As of "))
    with seen.page.expect_request("**/api/jobs*" if page == "jobs" else "**/api/jobs/*"):
        said.get_by_role("button", name="Refresh").click()
    assert seen.wrong == []
