"""The dashboard while its server stands still, dies and comes back, and while operators act."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.dashboard import Dashboard

from .conftest import Visit

pytestmark = pytest.mark.browser
SLOW_MS = 180_000


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Dashboard]:
    """A server that the test may stop."""
    made = Dashboard(tmp_path)
    made.start()
    try:
        made.wait()
        yield made
    finally:
        made.kill()


def test_a_silent_server_is_called_stale_and_a_new_one_is_found_again(
    own: Dashboard, visit: Visit
) -> None:
    seen = visit(own)
    pulse, banner = seen.page.locator(".pulse"), seen.page.locator(".banner")
    seen.page.locator('.pulse[data-state="live"]').wait_for()
    own.hold()
    seen.page.locator('.pulse[data-state="stale"]').wait_for()
    assert re.search(r"No values since \d\d:\d\d:\d\d", banner.inner_text())
    own.let_go()
    seen.page.locator('.pulse[data-state="live"]').wait_for()
    assert banner.is_hidden()
    own.kill()
    seen.page.locator('.pulse[data-state="lost"]').wait_for()
    assert "asked again" in banner.inner_text()
    power = seen.page.locator('[data-tile="Power"] .value').inner_text()
    assert "kW" in power  # the last values stay in sight
    own.start()
    seen.page.locator('.pulse[data-state="live"]').wait_for(timeout=SLOW_MS)
    assert pulse.inner_text().endswith("Live")
    assert banner.is_hidden()


def test_a_cap_is_changed_with_its_consequences_confirmed_and_seen_by_another(
    served: Dashboard, visit: Visit
) -> None:
    operator, viewer = visit(served), visit(served)
    viewer.page.locator('[data-tile="Cap"]').wait_for()
    before = viewer.page.locator('[data-tile="Cap"] .value').inner_text()
    operator.page.get_by_role("button", name="Change the machine").click()
    dialog = operator.page.get_by_role("dialog")
    dialog.get_by_label("New cap (kW)").fill("61.5")
    dialog.get_by_role("button", name="Show what follows").click()
    dialog.locator(".consequences li").first.wait_for(timeout=SLOW_MS)
    assert viewer.page.locator('[data-tile="Cap"] .value').inner_text() == before
    dialog.get_by_role("button", name="Confirm").click()  # not without the tick
    assert dialog.locator(".consequences").is_visible()
    dialog.get_by_label("I have read this").check()
    dialog.get_by_role("button", name="Confirm").click()
    dialog.locator(".done").wait_for(timeout=SLOW_MS)
    assert "61.5 kW" in dialog.locator(".done").inner_text()
    viewer.page.locator('[data-tile="Cap"] .value', has_text="61.5 kW").wait_for()
    viewer.page.locator(".decisions", has_text="a cap of 61.5 kW").wait_for()
    dialog.get_by_role("button", name="Close").click()
    operator.page.get_by_role("dialog").wait_for(state="detached")
    assert operator.wrong == viewer.wrong == []


def test_a_cap_that_cannot_be_is_refused_in_the_dialog(served: Dashboard, visit: Visit) -> None:
    seen = visit(served)
    seen.page.get_by_role("button", name="Change the machine").click()
    dialog = seen.page.get_by_role("dialog")
    dialog.get_by_label("New cap (kW)").fill("0")
    dialog.get_by_role("button", name="Show what follows").click()
    dialog.get_by_role("alert").wait_for()
    assert "above 0" in dialog.get_by_role("alert").inner_text()
    seen.page.keyboard.press("Escape")
    seen.page.get_by_role("dialog").wait_for(state="detached")
