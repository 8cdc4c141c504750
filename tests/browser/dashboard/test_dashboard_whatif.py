"""A what-if from the first look to the link that is shared, and plans."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from tests.support.browsers import soon
from tests.support.dashboard import ROOT, Dashboard

from .conftest import Visit, until

pytestmark = pytest.mark.browser
SLOW_MS = 180_000


def test_a_cap_is_dragged_and_the_question_is_shared_and_taken_home(
    served: Dashboard, visit: Visit
) -> None:
    seen = visit(served, "whatif")
    page = seen.page
    page.get_by_text("cap of 70 %").wait_for(timeout=SLOW_MS)
    soon(page.locator(".chart .summary").first.inner_text, lambda said: "what if" in said)
    slider = page.get_by_role("slider")
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    page.get_by_text("cap of 60 %").wait_for(timeout=SLOW_MS)
    rows = page.get_by_role("region", name="Metrics against the baseline")
    soon(rows.inner_text, lambda said: re.search(r"mean wait.*worse", said, re.DOTALL))
    assert page.get_by_role("region", name="Jobs that wait longer").locator("tr").count() > 1
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Scenario (TOML)").click()
    scenario = tomllib.loads(waiting.value.path().read_text(encoding="utf-8"))
    assert scenario["power"]["cap"] == "60%"
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Notebook").click()
    assert json.loads(waiting.value.path().read_text(encoding="utf-8"))["cells"]
    soon(lambda: page.url, lambda url: "#/whatif?s=1." in url)
    other = visit(served, page.url.partition("#/")[2])
    other.page.get_by_text("cap of 60 %").wait_for(timeout=SLOW_MS)
    assert other.page.get_by_role("slider").input_value() == "60"
    assert rows.inner_text() == other.page.get_by_role(
        "region", name="Metrics against the baseline").inner_text()
    assert seen.wrong == other.wrong == []


def test_parameters_of_a_policy_are_asked_for_and_stay_in_the_link(
    served: Dashboard, visit: Visit
) -> None:
    seen = visit(served, "whatif")
    page = seen.page
    page.get_by_text("cap of 70 %").wait_for(timeout=SLOW_MS)
    page.get_by_label("How the cap is kept").select_option("wait")
    waits = page.get_by_label("wait (s)")
    assert waits.get_attribute("placeholder") == "30000"
    waits.fill("2h")
    page.get_by_label("slots").fill("3")
    page.get_by_label("Order of the queue").select_option("wfp")
    page.get_by_label("exponent").fill("2")
    page.get_by_text("wait wait_s 2h slots 3").wait_for(timeout=SLOW_MS)
    page.get_by_text("wfp exponent 2").wait_for(timeout=SLOW_MS)
    until(seen, "() => document.querySelector('[data-stale]') === null")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Scenario (TOML)").click()
    policy = tomllib.loads(waiting.value.path().read_text(encoding="utf-8"))["policy"]
    assert policy["power"] == {"name": "wait", "wait_s": "2h", "slots": 3}
    other = visit(served, page.url.partition("#/")[2])
    other.page.get_by_label("slots").wait_for(timeout=SLOW_MS)
    assert other.page.get_by_label("slots").input_value() == "3"
    assert other.page.get_by_label("wait (s)").input_value() in ("2h", "7200")
    assert other.page.get_by_label("exponent").input_value() == "2"
    page.get_by_label("exponent").fill("99")
    page.get_by_role("alert").wait_for(timeout=SLOW_MS)
    assert "exponent" in page.get_by_role("alert").inner_text()
    page.get_by_label("How the cap is kept").select_option("budget")
    page.get_by_text("budget needs its energy, in J.").wait_for()
    assert seen.wrong == other.wrong == [] or all("422" in said for said in seen.wrong)


def test_a_question_that_is_overtaken_is_given_up(served: Dashboard, visit: Visit) -> None:
    seen = visit(served, "whatif")
    seen.page.get_by_text("cap of 70 %").wait_for(timeout=SLOW_MS)
    given_up: list[str] = []
    seen.page.on("requestfailed", lambda asked: given_up.append(asked.post_data))
    # A question that takes long: it is never answered.
    seen.page.route("**/api/whatif", lambda route: '"cap":"50%"' in route.request.post_data
                    or route.continue_())
    slider = seen.page.get_by_role("slider")
    with seen.page.expect_request("**/api/whatif"):
        slider.fill("50")
    slider.fill("90")
    seen.page.get_by_text("cap of 90 %").wait_for(timeout=SLOW_MS)
    soon(lambda: (seen.page.title(), len(given_up))[1], lambda count: count == 1)
    assert '"cap":"50%"' in given_up[0]


def test_while_the_cap_is_dragged_answers_follow_and_what_is_old_looks_old(
    served: Dashboard, visit: Visit
) -> None:
    seen = visit(served, "whatif")
    page = seen.page
    page.get_by_text("cap of 70 %").wait_for(timeout=SLOW_MS)
    until(seen, "() => document.querySelector('[data-stale]') === null")
    asked: list[str] = []
    page.on("request", lambda one: one.url.endswith("/api/whatif") and asked.append(
        str(one.post_data)))
    slider = page.get_by_role("slider")
    summary = page.locator(".chart .summary").first
    before = summary.inner_text()
    slider.fill("69")
    assert page.locator('[data-stale="true"]').count() == 1  # at once, before any answer
    assert summary.inner_text() != before  # the cap line has moved
    for percent in range(68, 47, -1):
        slider.fill(str(percent))
        page.wait_for_timeout(100)
    page.get_by_text("cap of 48 %").wait_for(timeout=SLOW_MS)
    until(seen, "() => document.querySelector('[data-stale]') === null")
    assert len(asked) >= 3, asked
    assert '"cap":"48%"' in asked[-1]
    assert seen.wrong == []


def test_a_log_of_ones_own_is_uploaded_and_asked(served: Dashboard, visit: Visit) -> None:
    seen = visit(served, "whatif")
    seen.page.get_by_text("cap of 70 %").wait_for(timeout=SLOW_MS)
    seen.page.get_by_text("Use a log of your own").click()
    seen.page.get_by_label("A job log").set_input_files(ROOT / "examples" / "tiny.swf")
    seen.page.get_by_text("12 jobs were read.").wait_for(timeout=SLOW_MS)
    until(seen, "() => [...document.querySelectorAll('select')][0].selectedOptions[0]"
                ".textContent.includes('tiny.swf')")
    seen.page.locator('[data-tile="Later than before"] .more', has_text="of 12 jobs").wait_for(
        timeout=SLOW_MS)


def test_a_plan_shows_the_fastest_configuration_and_a_mistake_in_words(
    served: Dashboard, visit: Visit
) -> None:
    seen = visit(served, "plan/configure")
    fastest = seen.page.locator('[data-tile="Fastest"] .value')
    fastest.wait_for(timeout=SLOW_MS)
    assert fastest.inner_text() == "5.5 s"
    soon(seen.page.locator(".chart .summary").inner_text,
         lambda said: "configurations fit into 4 kW" in said)
    seen.page.get_by_label("Bound of power (kW)").fill("0.001")
    seen.page.get_by_role("button", name="Compute").click()
    seen.page.get_by_role("alert").wait_for(timeout=SLOW_MS)
    seen.page.get_by_role("link", name="Buy nodes").click()
    seen.page.locator('[data-tile="Older nodes"] .value', has_text="30").wait_for(timeout=SLOW_MS)
    soon(seen.page.locator(".uplot").count, lambda count: count == 3)
    assert "1.7 older ones" in seen.page.locator(".assumed").text_content()
    seen.page.get_by_role("link", name="Place on a network").click()
    seen.page.locator(".placed").wait_for(timeout=SLOW_MS)
    assert "share links fairly" in seen.page.locator(".assumed").text_content()


def test_what_the_per_cent_are_of_is_chosen_beside_the_slider(served: Dashboard, visit: Visit
                                                              ) -> None:
    seen = visit(served, "whatif")
    page = seen.page
    page.get_by_text("cap of 70 %").wait_for(timeout=SLOW_MS)
    with page.expect_request("**/api/whatif") as asked:
        page.get_by_label("Per cent of").select_option("peak")
    assert '"cap":"70%peak"' in str(asked.value.post_data)
    page.get_by_text("cap of 70 % of peak").wait_for(timeout=SLOW_MS)
    assert seen.wrong == []
