"""The dashboard without a mouse, and as axe-core judges it."""

from __future__ import annotations

import pytest

from tests.support.browsers import soon
from tests.support.dashboard import Dashboard

from .conftest import Visit, loaded, until

pytestmark = pytest.mark.browser
PAGES = ("now", "jobs", "job/1", "accounts", "whatif", "plan", "api/Now")
RUN = """async () => {
  const found = await axe.run(document);
  if (found.passes.length < 10) return ["axe looked at nothing"];
  return found.violations.filter(one => ["serious", "critical"].includes(one.impact))
    .map(one => `${one.id}: ${one.nodes.map(node => node.target.join(" ")).join(", ")}`);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_any_page(
    served: Dashboard, visit: Visit, axe: str, scheme: str
) -> None:
    seen = visit(served, color_scheme=scheme)
    seen.page.evaluate(axe)
    found = {}
    for page in PAGES:
        seen.page.evaluate("page => { location.hash = `#/${page}` }", page)
        loaded(seen, page.partition("/")[0])
        said = seen.page.evaluate(RUN)
        if said:
            found[page] = said
    assert found == {}


def test_all_of_a_way_through_the_pages_goes_by_keys(served: Dashboard, visit: Visit) -> None:
    seen = visit(served)
    keys = seen.page.keyboard
    seen.page.locator('[data-tile="Power"]').wait_for()

    def tab_to(selector: str, most: int = 60) -> None:
        for _ in range(most):
            keys.press("Tab")
            if seen.page.evaluate("s => document.activeElement.matches(s)", selector):
                return
        raise AssertionError(f"the Tab key does not reach {selector}")

    tab_to('a[data-page="jobs"]')
    outline = seen.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    keys.press("Enter")
    seen.page.locator("tbody tr").first.wait_for()
    tab_to("input[type=search]")
    keys.type("1")
    tab_to("select")
    keys.press("c")  # to "completed"
    until(seen, "() => location.hash.includes('state=completed')"
                "&& !document.querySelector('.jobs [aria-busy]')"
                "&& [...document.querySelectorAll('tbody tr')].every("
                "row => row.textContent.includes('completed'))")
    tab_to("tbody a")
    keys.press("Enter")
    seen.page.locator('[data-tile="Energy"]').wait_for()
    seen.page.locator(".chart .uplot").wait_for()
    tab_to(".chart .canvas")
    keys.press("ArrowRight")
    soon(seen.page.locator(".chart .readout").inner_text, lambda said: "power" in said)


def test_arrow_keys_walk_over_the_nodes_and_enter_opens_a_job(
    served: Dashboard, visit: Visit
) -> None:
    seen = visit(served)
    seen.page.locator(".map canvas").wait_for()
    seen.page.locator(".map canvas").focus()
    readout = seen.page.locator(".map + .readout")
    first = soon(readout.inner_text, lambda said: " W" in said)
    seen.page.keyboard.press("ArrowRight")
    soon(readout.inner_text, lambda said: said.split(":")[0] != first.split(":")[0])
    heading = seen.page.get_by_role("heading", name="Job ")
    for _ in range(400):
        if "job" in readout.inner_text():
            seen.page.keyboard.press("Enter")
            break
        seen.page.keyboard.press("ArrowRight")
    heading.wait_for()
