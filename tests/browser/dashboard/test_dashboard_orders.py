"""Orders from the page, logging in and out, and a machine that cannot be seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.browsers import soon
from tests.support.dashboard import Dashboard
from tests.unit.web.told_site import SITE
from wattline.web.security.tokens import add_token

from .conftest import Visit, until

pytestmark = pytest.mark.browser
SLOW_MS = 180_000


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Dashboard, str]]:
    """A demo that asks for a token, and that of an operator; the folder has an owner's too."""
    folder = tmp_path_factory.mktemp("guarded")
    token = add_token(folder / "tokens", "oda", "operator")
    (folder / "ann").write_text(add_token(folder / "tokens", "ann", "owner"))
    made = Dashboard(folder, options=("--demo", "--tokens", "tokens", "--speed", "0"))
    made.start()
    try:
        made.wait()
        yield made, token
    finally:
        made.kill()


def test_who_is_not_logged_in_is_asked_and_told_of_no_trouble(
    guarded: tuple[Dashboard, str], visit: Visit
) -> None:
    server, token = guarded
    seen = visit(server)
    seen.page.locator("section.login").wait_for()
    seen.page.wait_for_timeout(1500)
    assert seen.page.locator(".banner").is_hidden()
    assert "Reconnecting" not in seen.page.locator("header.top").inner_text()
    seen.page.locator("section.login input").fill(token)
    seen.page.get_by_role("button", name="Log in").click()
    seen.page.locator('[data-tile="Power"]').wait_for()
    seen.page.get_by_role("button", name="Log out").click()
    seen.page.locator("section.login").wait_for()


def test_watts_are_reserved_and_given_back_and_the_cap_is_removed(
    guarded: tuple[Dashboard, str], visit: Visit
) -> None:
    server, token = guarded
    seen = visit(server)
    page = seen.page
    page.locator("section.login input").fill(token)
    page.get_by_role("button", name="Log in").click()
    page.locator('[data-tile="Power"]').wait_for()

    def order(action: str, **fields: str) -> None:
        page.get_by_role("button", name="Change the machine").click()
        page.locator("dialog select").first.select_option(action)
        for name, value in fields.items():
            page.locator(f'dialog input[name="{name}"]').fill(value)
        page.get_by_role("button", name="Show what follows").click()
        page.locator("dialog input[type=checkbox]").check(timeout=SLOW_MS)  # it is simulated
        page.get_by_role("button", name="Confirm").click()
        page.locator("dialog .done").wait_for(timeout=SLOW_MS)
        page.get_by_role("button", name="Close").click()

    order("reserve", watts="5", duration_s="1")
    until(seen, "() => document.querySelector('.reserved').innerText.includes('reserved-1')")
    order("unreserve")
    until(seen, "() => document.querySelector('.reserved').hidden")
    order("no_cap")
    until(seen, "() => document.querySelector('[data-tile=Cap] .value').innerText === 'none'")
    page.locator(".orders summary").click()
    page.locator(".orders tbody tr").first.wait_for()
    said = soon(page.locator(".orders").inner_text, lambda text: "no cap" in text)
    assert "oda" in said
    assert "reservation reserved-1 withdrawn" in said


def test_an_owner_is_told_that_only_own_jobs_are_shown(
    guarded: tuple[Dashboard, str], visit: Visit
) -> None:
    server, _ = guarded
    page = visit(server).page
    page.locator("section.login input").fill((server.folder / "ann").read_text())
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("heading", name="Your jobs in the queue").wait_for()
    page.get_by_role("link", name="Accounts").click()
    page.get_by_text("You see the energy of your own jobs alone.").wait_for()
    page.get_by_text("The budget is that of the whole machine").wait_for()
    page.get_by_role("button", name="by account").click()
    page.get_by_role("region", name="Energy and cost by account").locator("tbody a").first.click()
    page.get_by_text("You see your own jobs alone.").wait_for()
    page.locator(".jobs tbody tr").first.wait_for()
    users = page.locator(".jobs tbody td:nth-child(3)").all_inner_texts()
    assert set(users) == {"ann"}
    assert page.get_by_label("User").count() == 0


def test_a_machine_that_cannot_be_seen_is_said_with_the_reason(
    tmp_path: Path, visit: Visit
) -> None:
    (tmp_path / "site.toml").write_text(SITE)
    server = Dashboard(tmp_path, options=("--live", "--config", "site.toml"))
    server.start()
    try:
        server.wait()
        seen = visit(server)
        until(seen, "() => document.querySelector('.banner')?.innerText.includes("
                    "'no controller runs')")
        assert str(tmp_path) not in seen.page.inner_text("body")
        assert "No values" in seen.page.locator(".pulse").inner_text()
    finally:
        server.kill()


@pytest.mark.parametrize("width", [400, 768, 1280])
def test_no_figure_of_a_tile_is_cut(served: Dashboard, visit: Visit, width: int) -> None:
    cut = """() => [...document.querySelectorAll('.tile .value')].filter(one =>
      one.scrollWidth > one.clientWidth + 1 || getComputedStyle(one).textOverflow === 'ellipsis')
      .map(one => one.innerText)"""
    for place in ("now", "job/1"):
        seen = visit(served, place, width=width)
        seen.page.locator(".tile").first.wait_for()
        assert seen.page.evaluate(cut) == []
