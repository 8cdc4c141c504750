"""States of pages that a healthy server does not show: errors, nothing there, other roles."""

from __future__ import annotations

import json
from typing import Any

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
