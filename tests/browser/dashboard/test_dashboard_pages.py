"""Each page of the dashboard, over a demo that is really served."""

from __future__ import annotations

import re

import pytest

from tests.support.browsers import soon
from tests.support.dashboard import Dashboard

from .conftest import Visit, loaded, until

pytestmark = pytest.mark.browser


def asked(seen, path: str):  # type: ignore[no-untyped-def]
    """Return what the API says of it, from within the page."""
    return seen.page.evaluate("path => fetch(path).then(answer => answer.json())", path)


def test_now_shows_power_against_the_cap_and_every_node(
    served: Dashboard, visit: Visit
) -> None:
    seen = visit(served)
    seen.page.locator('[data-tile="Power"]').wait_for()
    assert re.fullmatch(r"[\d.]+ kW", seen.page.locator('[data-tile="Cap"] .value').inner_text())
    assert "of the cap" in seen.page.locator('[data-tile="Power"] .more').inner_text()
    seen.page.locator(".map canvas").wait_for()
    nodes = asked(seen, "api/nodes")["total"]
    assert f"{nodes} nodes." in seen.page.get_by_label("Nodes", exact=True).inner_text()
    soon(seen.page.locator(".chart .summary").first.inner_text, lambda said: "power:" in said)
    assert seen.page.locator(".decisions li").count() > 3
    assert seen.wrong == []


def test_the_figures_of_now_move_without_a_click(served: Dashboard, visit: Visit) -> None:
    seen = visit(served)
    seen.page.locator('[data-tile="Power"]').wait_for()
    first = soon(seen.page.locator(".when").inner_text, bool)
    until(seen, "first => document.querySelector('.when').textContent !== first", first)
    soon(seen.page.locator(".pulse").inner_text, lambda said: said.endswith("Live"))


def test_a_chart_has_a_table_behind_a_button(served: Dashboard, visit: Visit) -> None:
    seen = visit(served)
    button = seen.page.locator(".chart").first.get_by_role("button", name="Table")
    seen.page.locator(".uplot").first.wait_for()
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    heads = seen.page.locator(".chart table th[scope=col]").all_inner_texts()
    assert heads == ["time", "power", "cap"]
    assert seen.page.locator(".chart table tbody tr").count() > 10


def test_jobs_are_searched_sorted_and_turned_over(served: Dashboard, visit: Visit) -> None:
    seen = visit(served, "jobs")
    seen.page.locator("tbody tr").first.wait_for()
    assert seen.page.locator("tbody tr").count() == 50
    assert "1 to 50 of" in seen.page.locator(".pager").inner_text()
    seen.page.get_by_role("button", name="Next").click()
    seen.page.get_by_text("51 to 100 of").wait_for()
    assert "offset=50" in seen.page.url
    seen.page.get_by_role("button", name="energy").click()
    seen.page.locator("th[aria-sort=descending] [data-sort=energy_j]").wait_for()
    best = asked(seen, "api/jobs?sort=energy_j&descending=true&limit=1")["jobs"][0]
    seen.page.locator("tbody tr").first.get_by_text(best["id"], exact=True).wait_for()
    seen.page.get_by_label("Search").fill(best["user"])
    until(seen, "user => [...document.querySelectorAll('tbody tr')].every("
                "row => row.textContent.includes(user))", best["user"])
    seen.page.get_by_label("Search").fill("nobody is called this")
    seen.page.get_by_text("No job is like that.").wait_for()
    seen.page.get_by_role("button", name="Show all jobs").click()
    seen.page.get_by_text("1 to 50 of").wait_for()
    assert seen.wrong == []


def test_one_job_shows_profile_joules_cost_and_alternatives(
    served: Dashboard, visit: Visit
) -> None:
    seen = visit(served, "jobs?state=completed&sort=energy_j&descending=true")
    seen.page.locator("tbody a").first.click()
    seen.page.locator('[data-tile="Energy"] .value').wait_for()
    assert re.search(r"Wh$", seen.page.locator('[data-tile="Energy"] .value').inner_text())
    assert "EUR" in seen.page.locator('[data-tile="Cost"] .value').inner_text()
    assert "CO₂" in seen.page.locator('[data-tile="Carbon"] .value').inner_text()
    assert "not measured" in seen.page.locator('[data-tile="Energy"] .more').inner_text()
    seen.page.locator(".chart .uplot").wait_for()
    others = seen.page.get_by_role("region", name="Configurations with their predicted")
    assert "predicted energy" in others.locator("thead").inner_text()
    assert others.locator("tbody tr").count() > 2
    modelled = seen.page.locator(".known [data-how=modelled]")
    assert modelled.text_content().startswith("100 % by the simulation's model")
    unsure = " ".join(seen.page.locator(".unknown").all_inner_texts())
    assert "without noise" in unsure
    assert "How far these may be off is not known" in unsure
    assert seen.wrong == []


def test_a_measured_job_shows_shares_other_sources_and_ranges(
    served: Dashboard, visit: Visit
) -> None:
    seen = visit(served, "jobs?state=completed&sort=energy_j&descending=true")
    best = asked(seen, "api/jobs?state=completed&limit=1")["jobs"][0]["id"]
    told = asked(seen, f"api/jobs/{best}")
    told |= {"energy_j": 3.6e6, "coverage": 0.9, "quality": ["measured at the nodes, gaps filled"],
             "energy_parts": [{"how": "measured", "share": 0.9, "text": "read from meters"},
                              {"how": "filled", "share": 0.1, "text": "where they were silent"}],
             "other_figures": [{"source": "Slurm, of the job", "energy_j": 3.78e6}],
             "missing": {}}
    told["alternatives"][1] |= {"time_range_s": [60, 90], "energy_range_j": [3600, 7200],
                                "range_means": "one standard deviation"}
    seen.page.route(f"**/api/jobs/{best}", lambda route: route.fulfill(json=told))
    seen.page.goto(f"{served.address}#/job/{best}")
    tile = seen.page.locator('[data-tile="Energy"] .more')
    tile.wait_for()
    assert tile.inner_text() == "90 % measured, 10 % filled in"
    assert seen.page.locator(".known .shares li").all_text_contents() == [
        "90 % read from meters", "10 % where they were silent"]
    assert seen.page.locator(".known .others").inner_text() == (
        "Slurm, of the job: 1.05 kWh, +5 % of what counts")
    others = seen.page.get_by_role("region", name="Configurations with their predicted")
    assert others.get_by_text("60 s to 90 s").is_visible()
    assert others.get_by_text("1 Wh to 2 Wh").is_visible()
    assert others.get_by_text("one standard deviation").is_visible()
    assert seen.page.locator(".known .unknown").count() == 0


def test_a_job_that_is_not_there_is_said_and_the_way_back_stays(
    served: Dashboard, visit: Visit
) -> None:
    seen = visit(served, "job/999999999")
    seen.page.get_by_role("alert").wait_for()
    assert "999999999" in seen.page.get_by_role("alert").inner_text()
    seen.page.get_by_role("link", name="All jobs").click()
    seen.page.locator("tbody tr").first.wait_for()


def test_accounts_show_who_used_what_the_budget_and_the_bill(
    served: Dashboard, visit: Visit
) -> None:
    seen = visit(served, "accounts")
    seen.page.get_by_text("The lines add up to the total.").wait_for()
    table = seen.page.get_by_role("region", name="Energy and cost by user")
    table.locator("tbody tr").first.wait_for()
    users = table.locator("tbody th").all_inner_texts()
    assert set(users) == {row["name"] for row in asked(seen, "api/accounts?by=user")["rows"]}
    seen.page.get_by_role("button", name="by account").click()
    seen.page.get_by_role("region", name="Energy and cost by account").wait_for()
    seen.page.get_by_role("region", name="Bill by account").wait_for()
    soon(seen.page.locator(".chart .summary").first.inner_text,
         lambda said: re.search(r"of [\d.]+ \w+Wh? used|used \(", said))
    with seen.page.expect_download() as waiting:
        seen.page.get_by_role("button", name="Download as CSV").click()
    lines = waiting.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("account,energy_j,amount_")
    assert lines[-1].startswith("total,")
    assert seen.wrong == []


@pytest.mark.parametrize("page", ["now", "jobs", "accounts", "whatif", "plan", "api/Now"])
def test_no_page_scrolls_sideways_on_a_phone(
    served: Dashboard, visit: Visit, page: str
) -> None:
    seen = visit(served, page, width=360, height=740)
    loaded(seen, page.partition("/")[0])
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert seen.page.get_by_role("link", name="Plan").is_visible()


def test_a_wall_screen_has_large_figures_and_nothing_to_press(
    served: Dashboard, visit: Visit
) -> None:
    def size(query: str) -> float:
        seen = visit(served, query=query, width=2560, height=1440)
        seen.page.locator('[data-tile="Power"]').wait_for()
        assert seen.page.get_by_role("link", name="Jobs").is_visible() == (not query)
        return float(seen.page.locator('[data-tile="Power"] .value').evaluate(
            "figure => parseFloat(getComputedStyle(figure).fontSize)"))

    assert size("?wall") > 1.6 * size("") > 50


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_and_the_switch(
    served: Dashboard, visit: Visit, scheme: str
) -> None:
    seen = visit(served, color_scheme=scheme)

    def is_dark() -> bool:
        colour = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3])) < 150

    assert is_dark() == (scheme == "dark")
    other = "Light" if scheme == "dark" else "Dark"
    seen.page.get_by_role("button", name=f"{other} colours").click()
    assert is_dark() == (scheme == "light")
    seen.page.reload()
    assert is_dark() == (scheme == "light")
