"""The readable page of the API, made from the server's own OpenAPI document."""

from __future__ import annotations

import pytest

from tests.support.dashboard import Dashboard

from .conftest import Visit, until

pytestmark = pytest.mark.browser
DOCUMENT = "fetch('api/openapi.json').then(answer => answer.json())"


def test_every_address_and_form_of_the_document_is_on_the_page(
    served: Dashboard, visit: Visit
) -> None:
    seen = visit(served)
    seen.page.locator("footer").get_by_role("link", name="API").click()
    seen.page.get_by_role("heading", name="API", exact=True).wait_for()
    seen.page.locator(".operation").first.wait_for()
    document = seen.page.evaluate(DOCUMENT)
    shown = seen.page.locator(".operation summary code").all_inner_texts()
    assert sorted(shown) == sorted(f"{method.upper()} {path}" for path, methods in
                                   document["paths"].items() for method in methods)
    forms = seen.page.locator("[data-form]").evaluate_all("all => all.map(one => one.dataset.form)")
    assert set(forms) == set(document["components"]["schemas"])
    assert seen.wrong == []


def test_an_address_says_what_it_takes_and_leads_to_the_form_of_its_answer(
    served: Dashboard, visit: Visit
) -> None:
    seen = visit(served, "api")
    page = seen.page
    page.get_by_label("Find an address").fill("/api/jobs")
    until(seen, "() => [...document.querySelectorAll('.operation')].filter(one => !one.hidden "
                "&& one.offsetParent).length === 2")
    page.locator("summary", has_text="GET /api/jobs/{job}").click()
    takes = page.get_by_role("region", name="Parameters of GET /api/jobs/{job}")
    assert "needed" in takes.inner_text()
    answers = page.get_by_role("region", name="Answers of GET /api/jobs/{job}")
    answers.get_by_role("link", name="JobDetail").click()
    form = page.locator('[data-form="JobDetail"]')
    until(seen, "() => document.querySelector('[data-form=JobDetail]').open")
    assert page.url.endswith("#/api/JobDetail")
    assert "energy_parts" in form.inner_text()
    assert "Share of the job's node seconds that a meter saw" in form.inner_text()
    form.get_by_role("link", name="EnergyPart").click()
    until(seen, "() => document.querySelector('[data-form=EnergyPart]').open")
    how = page.locator('[data-form="EnergyPart"] tr', has_text="how")
    assert '"measured" or "told" or "filled" or "modelled"' in how.inner_text()
    assert seen.wrong == []


def test_a_link_to_a_form_opens_it(served: Dashboard, visit: Visit) -> None:
    seen = visit(served, "api/Now")
    seen.page.locator('[data-form="Now"]').get_by_text("stale_s").wait_for()
    until(seen, "() => document.activeElement === document.querySelector("
                "'[data-form=Now] summary')")
